//! `--junit FILE`: writes the results of checks as `JUnit` XML, which CI systems read.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::Output;

const SUITE: &str = "loadgen";

/// Result of one check, as CI systems show it.
pub struct Case {
    /// Strategy or client that was checked.
    pub group: String,
    pub name: String,
    pub outcome: Outcome,
}

pub enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

pub fn write(cases: &[Case], output: &Output) -> anyhow::Result<()> {
    let count = |is_counted: fn(&Outcome) -> bool| {
        cases.iter().filter(|case| is_counted(&case.outcome)).count().to_string()
    };
    let failures = count(|outcome| matches!(outcome, Outcome::Failed(_)));
    let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
    let tests = cases.len().to_string();
    let whole = [("tests", tests.as_str()), ("failures", failures.as_str()), ("errors", "0")];
    write_suite(whole, Some(&skipped), output, |writer| {
        cases.iter().try_for_each(|case| write_case(case, writer))
    })
}

fn write_case(case: &Case, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    let name = [("classname", case.group.as_str()), ("name", case.name.as_str())];
    let element = writer.create_element("testcase").with_attributes(name);
    let (child, message) = match &case.outcome {
        Outcome::Passed => return element.write_empty().map(drop),
        Outcome::Failed(message) => ("failure", message),
        Outcome::Skipped(message) => ("skipped", message),
    };
    let content = |writer: &mut Writer<Vec<u8>>| {
        // Some viewers show the attribute, and others show the text.
        let attribute = [("message", message.as_str())];
        let child = writer.create_element(child).with_attributes(attribute);
        child.write_text_content(BytesText::new(message)).map(drop)
    };
    element.write_inner_content(content).map(drop)
}

pub(super) fn write_incomplete(output: &Output) -> anyhow::Result<()> {
    let counts = [("tests", "1"), ("failures", "0"), ("errors", "1")];
    write_suite(counts, None, output, |writer| {
        let name = [("classname", SUITE), ("name", "runs are complete")];
        let case = writer.create_element("testcase").with_attributes(name);
        let content = |writer: &mut Writer<Vec<u8>>| {
            let message = [("message", "the runs were incomplete, so nothing was checked")];
            writer.create_element("error").with_attributes(message).write_empty().map(drop)
        };
        case.write_inner_content(content).map(drop)
    })
}

fn write_suite(
    counts: [(&str, &str); 3],
    skipped: Option<&str>,
    output: &Output,
    write_cases: impl FnOnce(&mut Writer<Vec<u8>>) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let suite = [("name", SUITE)].into_iter().chain(counts);
    let suite = suite.chain(skipped.map(|skipped| ("skipped", skipped)));
    writer.create_element("testsuites").with_attributes(counts).write_inner_content(|writer| {
        writer.create_element("testsuite").with_attributes(suite).write_inner_content(write_cases).map(drop)
    })?;
    let mut text = writer.into_inner();
    text.push(b'\n');
    output.write(&text)
}

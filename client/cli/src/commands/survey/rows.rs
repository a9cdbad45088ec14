//! Output of a survey as JSON and as CSV.

use experiments::survey::Surveyed;
use serde::Serialize;

use super::text::Judged;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    survey: &'a experiments::survey::Survey,
    reference: &'a str,
    groups: Vec<Group<'a>>,
}

#[derive(Serialize)]
struct Group<'a> {
    name: &'static str,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    strategy: &'a str,
    #[serde(flatten)]
    row: experiments::survey::Row,
}

pub(super) fn json(judged: &Judged) -> anyhow::Result<Vec<u8>> {
    let group = |group: &'static experiments::survey::Group| {
        let rows = judged.rows(group);
        let rows = rows.into_iter().map(|(strategy, row)| Row { strategy, row }).collect();
        Group { name: group.name, rows }
    };
    let groups = experiments::survey::GROUPS.iter().map(group).collect();
    let document = Document { survey: &judged.survey, reference: judged.reference_name(), groups };
    let mut text = serde_json::to_vec(&document)?;
    text.push(b'\n');
    Ok(text)
}

pub(super) fn csv(judged: &Judged) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "setting", "limit", "clients", "strategy", "repeat", "time_s", "end_s", "attempts", "ops", "undone",
        "fairness", "flags",
    ])?;
    for surveyed in &judged.survey.settings {
        for (strategy, runs) in judged.survey.strategies.iter().zip(&surveyed.runs) {
            for (repeat, run) in runs.iter().enumerate() {
                writer.write_record([
                    surveyed.setting.number.to_string(),
                    surveyed.setting.limit.to_string(),
                    surveyed.setting.clients.to_string(),
                    strategy.clone(),
                    repeat.to_string(),
                    run.time_s().to_string(),
                    run.end_s.to_string(),
                    run.attempts.to_string(),
                    run.ops.to_string(),
                    run.undone.to_string(),
                    run.fairness.map(|index| index.to_string()).unwrap_or_default(),
                    flags(surveyed),
                ])?;
            }
        }
    }
    Ok(writer.into_inner()?)
}

fn flags(surveyed: &Surveyed) -> String {
    surveyed.setting.words().collect::<Vec<_>>().join(" ")
}

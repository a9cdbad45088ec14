//! `loadgen strategies --advice`: lists the strategies that follow the `Retry-After` header, and their rules.
//!
//! The rules are measured by executing each strategy. The strategy receives scripted responses with advice (a requested wait) and then a
//! success. Its waits are compared with its waits without advice. Further rules are taken from the compiled strategy's own description.

use std::fmt::Write as _;

use recordings::{Script, waits};
use shell::text::{Column, LongNames, Table, dash, wrapped};
use shell::usage;
use tailback::{StrategySpec, presets};

/// Numbers of simulated clients. 200 clients show the shortest and the longest random waits, and 10 show whether advice makes a difference.
const MANY: usize = 200;
const FEW: usize = 10;

/// Statuses of the scripted responses that request a wait. Responses with 403 or 429 have the body of GitHub's rate limits. Without this
/// body, GitHub's clients ignore the requested wait.
const STATUSES: [u16; 13] = [400, 403, 404, 408, 409, 413, 429, 500, 501, 502, 503, 504, 529];

/// Response statuses that can be used to measure the cells of the table. Each strategy is measured with the first of them after which it
/// follows advice (a requested wait).
const SHOWN: [u16; 4] = [503, 429, 500, 403];

const GITHUB: &str = "body:You%20have%20exceeded%20a%20secondary%20rate%20limit";

/// Requested waits in the scripted responses. Each has the title of its column, the header value in seconds, and the header value in
/// milliseconds.
const ADVISED: [(&str, &str, &str); 6] = [
    ("7 s", "7", "7000"),
    ("1 h", "3600", "3600000"),
    ("0", "0", "0"),
    ("past", "@date-60", "@date-60"),
    ("-1", "-1", "-1"),
    ("soon", "soon", "soon"),
];

const RETRY_AFTER: &str = "retry-after";

pub(super) fn table(text: Option<&str>) -> anyhow::Result<String> {
    let strategies: Vec<(String, String)> = match text {
        Some(text) => vec![(text.to_owned(), text.to_owned())],
        None => {
            presets().iter().map(|preset| (preset.name.clone(), format!("preset:{}", preset.name))).collect()
        }
    };
    let mut table = Table::new(22, [9; 6].map(Column::Right), LongNames::OwnLine);
    table.titles("  Retry-After:", ADVISED.map(|(title, ..)| title));
    let mut deaf = Vec::new();
    let all = strategies.len();
    for (name, text) in strategies {
        let spec: StrategySpec = text.parse().map_err(usage)?;
        match Reader::from_spec(&spec)? {
            None => deaf.push(name),
            Some(reader) => {
                table.row("  ", &name, &reader.cells);
                table.line(&wrapped(&reader.rule, "      ", "      "));
            }
        }
    }
    if let (Some(name), Some(_)) = (deaf.first(), text) {
        return Ok(format!("{name} reads no advice, or does not retry\n"));
    }
    let mut listed = table.into_text();
    if !deaf.is_empty() {
        let names = format!("{} of {all}: {}", deaf.len(), deaf.join(", "));
        let _ =
            writeln!(listed, "\n{}", wrapped(&names, "No advice is read, or nothing is retried, by ", "  "));
    }
    let notes = "Cells: delay before the first retry after a response with this advice; –: the same delay as without advice; past: \
                 a date in the past. Below them: how the advice is combined with the strategy's own delay, the statuses after \
                 which it is read, and the headers in their order with the accepted forms.";
    Ok(format!("{listed}\n{}\n", wrapped(notes, "", "")))
}

struct Reader {
    cells: [String; 6],
    rule: String,
}

impl Reader {
    fn from_spec(spec: &StrategySpec) -> anyhow::Result<Option<Self>> {
        for rules in Rules::from_spec(spec).filter(|rules| rules.value("retry-after") != "ignore") {
            let headers: Vec<&str> = rules.headers().collect();
            let first = headers.iter().find(|header| **header == RETRY_AFTER).or(headers.first());
            let Some(header) = first else { continue };
            let mut read_on = Vec::new();
            for status in STATUSES {
                if is_read(spec, status, header)? {
                    read_on.push(status);
                }
            }
            let Some(shown) = SHOWN.into_iter().find(|status| read_on.contains(status)) else { continue };
            let rule = format!("{} after {}: {}", rules.combined(), statuses(&read_on), rules.read());
            return Ok(Some(Self { cells: after(spec, shown, header)?, rule }));
        }
        Ok(None)
    }
}

fn is_read(spec: &StrategySpec, status: u16, header: &str) -> anyhow::Result<bool> {
    let own = waits_after(spec, status, "", FEW)?;
    for advised in &ADVISED[..3] {
        if waits_after(spec, status, &header_step(header, advised), FEW)? != own {
            return Ok(true);
        }
    }
    Ok(false)
}

fn after(spec: &StrategySpec, status: u16, header: &str) -> anyhow::Result<[String; 6]> {
    let own = waits_after(spec, status, "", MANY)?;
    let retries = own.iter().any(Option::is_some);
    let mut cells = [const { String::new() }; 6];
    for (cell, advised) in cells.iter_mut().zip(&ADVISED) {
        let waits = waits_after(spec, status, &header_step(header, advised), MANY)?;
        *cell = if waits == own && retries { dash() } else { listed(&waits) };
    }
    Ok(cells)
}

fn header_step(header: &str, (_, seconds, millis): &(&str, &str, &str)) -> String {
    let in_millis = header.contains("-ms") || header.starts_with("x-amz");
    format!(" {header}:{}", if in_millis { millis } else { seconds })
}

fn waits_after(
    spec: &StrategySpec,
    status: u16,
    header_step: &str,
    clients: usize,
) -> anyhow::Result<Vec<Option<f64>>> {
    let body = if matches!(status, 403 | 429) { GITHUB } else { "" };
    let script: Script = format!("{status}{header_step} {body}|200").parse().map_err(anyhow::Error::msg)?;
    Ok(waits(spec, &script, clients)?)
}

fn statuses(read_on: &[u16]) -> String {
    let any_of_the_server = STATUSES.iter().filter(|status| **status >= 500).all(|it| read_on.contains(it));
    let mut words: Vec<String> =
        read_on.iter().filter(|status| **status < 500 || !any_of_the_server).map(u16::to_string).collect();
    if any_of_the_server {
        words.push("5xx".to_owned());
    }
    words.join(" ")
}

fn listed(waits: &[Option<f64>]) -> String {
    let known: Vec<f64> = waits.iter().flatten().copied().collect();
    let (Some(least), Some(most)) =
        (known.iter().copied().reduce(f64::min), known.iter().copied().reduce(f64::max))
    else {
        return "gives up".to_owned();
    };
    let (scale, unit) = match most {
        ..0.5 => (0.001, "ms"),
        ..120.0 => (1.0, "s"),
        ..3600.0 => (60.0, "min"),
        ..172_800.0 => (3600.0, "h"),
        _ => (86_400.0, "d"),
    };
    let number = |seconds: f64| {
        let rounded = format!("{:.1}", seconds / scale);
        rounded.strip_suffix(".0").unwrap_or(&rounded).to_owned()
    };
    match (number(least), number(most)) {
        _ if most == 0.0 => "at once".to_owned(),
        (least, most) if least == most => format!("{most} {unit}"),
        (least, most) => format!("{least}–{most} {unit}"),
    }
}

/// Effective values of the parameters that apply to a whole layer of a strategy and not only to one of its parts.
struct Rules(Vec<(&'static str, String)>);

impl Rules {
    fn from_spec(spec: &StrategySpec) -> impl Iterator<Item = Self> {
        let common = spec.describe().into_iter().filter(|(part, _)| part.is_empty());
        common.map(|(_, keys)| Self(keys.into_iter().map(|it| (it.key, it.value)).collect()))
    }

    fn value(&self, key: &str) -> &str {
        self.0.iter().find(|(there, _)| *there == key).map_or("", |(_, value)| value)
    }

    fn headers(&self) -> impl Iterator<Item = &str> {
        self.value("advice").split('|').filter_map(|header| header.split('.').next())
    }

    fn read(&self) -> String {
        self.value("advice").replace('|', ", ")
    }

    fn combined(&self) -> String {
        let mut words = match self.value("retry-after") {
            "exact" => "instead of its own wait",
            "add" => "before its own wait",
            _ => "at least",
        }
        .to_owned();
        let usual = StrategySpec::common_parameters();
        for (key, before, behind) in
            [("advice-limit", ", up to ", ""), ("advice-clamp", ", at most ", " more than its own wait")]
        {
            let value = self.value(key);
            let is_usual = usual.iter().any(|it| it.key == key && it.value == value);
            if !is_usual && value != "none" {
                words.extend([before, value, behind]);
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_what_a_strategy_does_with_advice() {
        let row = |text: &str| {
            let table = table(Some(text)).unwrap();
            let lines: Vec<&str> = table.lines().skip(1).take_while(|line| !line.is_empty()).collect();
            let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
            words.join(" ")
        };
        assert_eq!(
            row("preset:openai"),
            "preset:openai 7 s gives up – – – – instead of its own wait, up to 2m after 408 409 429 5xx: \
             retry-after-ms.decimal.or-next, retry-after.decimal.date"
        );
        assert_eq!(
            row("preset:grpc"),
            "preset:grpc 7 s 1 h gives up gives up gives up gives up instead of its own wait after 429 502 503 504: \
             grpc-retry-pushback-ms"
        );
        // The inner layer reads the advice.
        let slack = row("preset:slack-rate-limited");
        assert!(slack.contains("7–8 s 1 h 0–1 s gives up at once gives up instead of its own wait after 429: retry-after.whole"), "{slack}");
        assert!(row("constant:delay=10s").contains(" – 1 h – – – – at least after 429 5xx"));
    }

    #[test]
    fn strategies_without_advice_and_unknown_ones_are_reported() {
        assert_eq!(
            table(Some("preset:stripe-go")).unwrap(),
            "preset:stripe-go reads no advice, or does not retry\n"
        );
        let error = table(Some("preset:opnai")).err().unwrap().to_string();
        assert!(error.contains("did you mean `openai`?"), "{error}");
    }

    #[test]
    fn the_table_of_all_presets_fits_eighty_columns() {
        let table = table(None).unwrap();
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
        assert!(presets().iter().all(|preset| table.contains(&preset.name)), "{table}");
    }
}

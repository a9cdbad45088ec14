//! Flags of `loadgen judge`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use command_line::count;
use experiments::checks::Condition;
use mockserver_core::server_preset_names;
use shell::args::Header;
use shell::args::shell::{strategies, suggesting};
use tailback::StrategySpec;
use vocabulary::{did_you_mean, duration_text};

use crate::call::{CallPattern, GivenBody};
use crate::observation::OperationType;
use crate::report::{Allowed, Judge};
use crate::rules::RULES;

/// Flags that `loadgen judge -h` lists.
pub const COMMON_FLAGS: [&str; 10] =
    ["command", "strategy", "env", "body", "op", "only", "strict", "junit", "json", "quiet"];

pub const EXAMPLES: &str = r"Examples:
  loadgen judge -- python3 my_client.py {url}
      Runs the client in 29 situations, such as 429 with Retry-After: 3, and
      judges its retries. The client does one operation and exits.
  loadgen judge --env 'OPENAI_BASE_URL={url}/v1' --preset openai -- node ask.js
      A client that gets its server from the environment and parses answers.
  loadgen judge --only throttled,long --strict --junit judge.xml -- ./client {url}
      Two situations; warnings fail, too; results for a CI system.
  loadgen judge --serve --json judged.json
      The servers of all situations for a test suite, until Ctrl-C.
  loadgen judge --strategy preset:openai
      A strategy or preset of this project, in virtual time.

Each situation has a server of its own on a free port of 127.0.0.1, and runs the command once (controls five times or ten times). The first method and target that the command requests is judged; all other calls get 200 at once and are listed. In the command and in --env, {url} becomes http://127.0.0.1:PORT; TAILBACK_URL, TAILBACK_SITUATION and TAILBACK_SEED (the number of the run) are set, too. The exit code of the command does not matter: giving up is legitimate. docs/judge.md explains situations and rules.

Exit codes: 0 no failure; 1 no request reached any server; 2 bad usage, or the command cannot be started; 69 a server of a situation cannot be started; 74 output cannot be written; 99 a failure (with --strict also a warning), or --fail-if holds; 129, 130 and 143 interrupted.";

/// The client to judge, and the situations.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Args, Clone, Debug)]
pub struct JudgeArgs {
    /// Command of the client, after `--`. It does one operation and exits.
    #[arg(last = true, value_name = "COMMAND", required_unless_present_any = ["strategy", "list", "serve"])]
    pub(crate) command: Vec<String>,

    /// Judge a strategy or preset of this project instead, in virtual time.
    #[arg(short, long, value_name = "S", conflicts_with = "command", hide_possible_values = true,
          value_parser = suggesting(StrategySpec::from_str, strategies))]
    pub(crate) strategy: Option<StrategySpec>,

    /// Serve all situations for a service or test suite, until Ctrl-C or SIGTERM. The first line on stdout is a JSON object with the URL of
    /// each situation; `POST URL/_judge/end` ends the situation's ops and returns their verdict. A situation may receive many ops.
    #[arg(long, conflicts_with_all = ["command", "strategy", "recording"], help_heading = CLIENT)]
    pub(crate) serve: bool,

    /// Header that stays the same over the attempts of an op and differs between ops; repeatable. By default, ops are distinguished by
    /// `amz-sdk-invocation-id`, `idempotency-key` or `x-tailback-op`, otherwise by method, target and body.
    #[arg(long, value_name = "NAME", requires = "serve", value_parser = header_name, help_heading = CLIENT)]
    pub(crate) identity: Vec<String>,

    /// Further name of this machine, accepted as `Host` of `POST URL/_judge/end`; repeatable. Addresses and `localhost` are always accepted.
    #[arg(long, value_name = "NAME", requires = "serve", value_parser = host_name, help_heading = CLIENT)]
    pub(crate) allow_host: Vec<String>,

    /// Environment variable of the command, as NAME=VALUE; repeatable. `{url}` becomes the URL of the server.
    #[arg(short, long, value_name = "NAME=VALUE", conflicts_with = "strategy", help_heading = CLIENT)]
    pub(crate) env: Vec<Variable>,

    /// Judge the first call that matches, such as 'GET /v1/*', whatever its query. `*` matches any text.
    #[arg(long, value_name = "CALL", conflicts_with = "strategy", help_heading = CLIENT)]
    pub(crate) call: Option<CallPattern>,

    /// Body of the answer 200 [default: `{}`]; with '429=FILE' or '5xx=FILE', of rejections; with 'METHOD /PATH=FILE', of another call;
    /// repeatable.
    #[arg(short = 'd', long, value_name = "[STATUS=|CALL=]FILE", conflicts_with = "strategy", help_heading = CLIENT)]
    pub(crate) body: Vec<GivenBody>,

    /// Preset of `mockserver`, such as `openai`, whose bodies the answers have, so that its SDKs recognise them. Statuses and advice stay
    /// those of the situations.
    #[arg(long, value_name = "NAME", conflicts_with = "strategy", help_heading = CLIENT,
          value_parser = server_preset)]
    pub(crate) preset: Option<String>,

    /// Header of the answer 200, `Name: value`; repeatable [default: `Content-Type: application/json`].
    #[arg(short = 'H', long = "header", value_name = "HEADER", conflicts_with = "strategy", help_heading = CLIENT)]
    pub(crate) headers: Vec<Header>,

    /// Kind of the operation. By default, POST and PATCH are writes, and all else is read.
    #[arg(long, value_name = "KIND", value_enum, help_heading = CLIENT)]
    pub(crate) op: Option<OperationType>,

    /// Further name of an idempotency key, as a header or a field of a JSON body; repeatable.
    #[arg(long, value_name = "NAME", conflicts_with = "strategy", value_parser = key_name, help_heading = CLIENT)]
    pub(crate) key: Vec<String>,

    /// Run only these situations, and the controls that they need.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = SITUATIONS)]
    pub(crate) only: Vec<String>,

    /// List situations and rules, and exit.
    #[arg(long, help_heading = SITUATIONS)]
    pub(crate) list: bool,

    /// Advice of the servers, in whole seconds. Use a longer one if the client's own delays are as long.
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = whole_seconds, help_heading = SITUATIONS)]
    pub(crate) retry_after: u64,

    /// Situations from a TOML file instead of the built-in suite.
    #[arg(long, value_name = "FILE", help_heading = SITUATIONS)]
    pub(crate) suite: Option<PathBuf>,

    /// End a run after this time without a request, counted from the last answer or the advised time.
    #[arg(long, value_name = "TIME", default_value = "6s", value_parser = idle_timeout, help_heading = SITUATIONS)]
    pub(crate) idle_timeout: Duration,

    /// End a run if the client has not sent a request after this time.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = idle_timeout, conflicts_with_all = ["strategy", "serve"],
          help_heading = SITUATIONS)]
    pub(crate) start_timeout: Duration,

    /// Wait for the whole advice of the situation `long` in a further run, and make the tables of statuses and of further advice, which
    /// have no verdict.
    #[arg(long, conflicts_with = "serve", help_heading = SITUATIONS)]
    pub(crate) patient: bool,

    /// Runs of the command at the same time.
    #[arg(short, long, value_name = "N", default_value = "8", value_parser = count::<u16>(1, 64), conflicts_with_all = ["strategy", "serve"], help_heading = SITUATIONS)]
    pub(crate) jobs: u16,

    /// Seed of the random draws of the strategy.
    #[arg(long, value_name = "N", default_value = "1", requires = "strategy", help_heading = SITUATIONS)]
    pub(crate) seed: u64,

    /// Number of attempts that the client should make in the situation `forever`.
    #[arg(long, value_name = "N", value_parser = count::<u64>(1, 49), help_heading = "Checks")]
    pub(crate) expect_attempts: Option<u64>,

    /// Exit with 99 also after a warning, or if most situations are skipped.
    #[arg(long, help_heading = "Checks")]
    pub(crate) strict: bool,

    /// Accept a finding, as RULE or RULE@SITUATION; repeatable. It is still printed.
    #[arg(long, value_name = "RULE", help_heading = "Checks")]
    pub(crate) allow: Vec<Allowed>,

    /// Exit with 99 if this holds, such as `early_retries > 0`; repeatable.
    #[arg(long, value_name = "CONDITION", help_heading = "Checks")]
    pub(crate) fail_if: Vec<Condition>,

    /// Write the situations to a `JUnit` XML file, one test case each, for CI systems.
    #[arg(long, value_name = "FILE", help_heading = "Checks")]
    pub(crate) junit: Option<PathBuf>,

    /// Write verdicts and all attempts as JSON to a file, or to stdout with `-`.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,

    /// Write the observations as a recording, which `loadgen strategies --check` reads, and name the preset that behaves most alike.
    #[arg(long, value_name = "FILE", conflicts_with = "strategy", help_heading = "Output")]
    pub(crate) recording: Option<PathBuf>,

    /// Print neither progress nor verdicts, only errors.
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

impl JudgeArgs {
    pub(super) fn judge(&self) -> Judge<'_> {
        let Self { op, allow, idle_timeout, expect_attempts, .. } = self;
        Judge { operation: *op, allowed: allow, idle: *idle_timeout, expected_attempts: *expect_attempts }
    }
}

const CLIENT: &str = "Client";
const SITUATIONS: &str = "Situations";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl FromStr for Variable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() && !text.contains('\0') => {
                Ok(Self { name: name.to_owned(), value: value.to_owned() })
            }
            _ => Err("write it as NAME=VALUE, such as `OPENAI_BASE_URL={url}/v1`".to_owned()),
        }
    }
}

impl FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (rule, situation) = match text.split_once('@') {
            Some((rule, situation)) => (rule.trim(), Some(situation.trim().to_owned())),
            None => (text.trim(), None),
        };
        let names = RULES.map(|rule| rule.name);
        if !names.contains(&rule) {
            let near = did_you_mean(rule, names);
            return Err(format!("there is no rule `{rule}`{near}; the rules are {}", names.join(", ")));
        }
        Ok(Self { rule: rule.to_owned(), situation })
    }
}

fn header_name(text: &str) -> Result<String, String> {
    let name = text.parse::<http::HeaderName>().map_err(|_| "it is not a valid header name")?;
    Ok(name.to_string())
}

fn host_name(text: &str) -> Result<String, String> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = !text.is_empty() && text.bytes().all(is_letter);
    is_name
        .then(|| text.to_owned())
        .ok_or_else(|| "it must be a name without a port, such as `judge.test`".to_owned())
}

fn server_preset(name: &str) -> Result<String, String> {
    let near = did_you_mean(name, server_preset_names());
    let unknown = || format!("there is no such preset{near}; `mockserver presets` lists them");
    server_preset_names().any(|known| known == name).then(|| name.to_owned()).ok_or_else(unknown)
}

fn key_name(text: &str) -> Result<String, String> {
    let is_name =
        !text.is_empty() && !text.chars().any(|letter| letter.is_whitespace() || letter.is_control());
    is_name
        .then(|| text.to_owned())
        .ok_or_else(|| "it must be a header or field, such as `request_id`".to_owned())
}

fn whole_seconds(text: &str) -> Result<u64, String> {
    let time = duration_text::parse(text).map_err(|error| error.to_string())?;
    let is_whole = time.subsec_nanos() == 0 && (1..=60).contains(&time.as_secs());
    is_whole
        .then_some(time.as_secs())
        .ok_or_else(|| "it must be from 1 to 60 whole seconds, such as 3s".to_owned())
}

fn idle_timeout(text: &str) -> Result<Duration, String> {
    let time = duration_text::parse(text).map_err(|error| error.to_string())?;
    let range = Duration::from_secs(1)..=Duration::from_mins(10);
    range.contains(&time).then_some(time).ok_or_else(|| "it must be from 1s to 10min, such as 6s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_values_are_refused_with_a_remedy() {
        let rule = |text: &str| text.parse::<Allowed>().unwrap_err();
        assert!(rule("early").starts_with("there is no rule `early`"), "{}", rule("early"));
        assert!("no-jitter@503".parse::<Allowed>().is_ok());
        assert!("=x".parse::<Variable>().unwrap_err().contains("NAME=VALUE"));
        assert!(host_name("a.test:80").is_err() && host_name("").is_err() && host_name("a.test").is_ok());
        assert_eq!(whole_seconds("3s"), Ok(3));
        assert!(whole_seconds("1500ms").is_err() && whole_seconds("2min").is_err());
        assert!(idle_timeout("500ms").is_err() && idle_timeout("6s").is_ok());
    }
}

//! The answer as lines with labels, and the command that repeats the nominal runs.

use mockserver::core::server_presets;
use recordings::waits;
use results::numbers::{counted, seconds, short, thousands};
use vocabulary::Distribution;

use crate::answer::{Answered, Recommender};
use crate::candidate::{Candidate, without_rate};
use crate::flags::NETWORK;
use crate::lines::{Line, fit, in_points, listed, listed_values, points, share, workers_text};
use crate::observed::Observed;
use crate::recommendation::{
    Decision, FreshFigures, FreshRuns, FreshServerRuns, LookUpRecord, Recommendation, RecommendationGoal,
    SettingOf,
};
use crate::searched::NoHelp;
use crate::snippets;

const NAMED_FIGURES: usize = 4;

pub(super) struct Answer {
    pub(super) lines: Vec<Line>,
    pub(super) settings: Option<String>,
}

pub(super) fn answer(answered: &Answered, recommender: &Recommender<'_>) -> Answer {
    let document = &answered.document;
    let text = Text { answered, document, recommender };
    let is_change = document.decision == Decision::Change;
    let mut lines = vec![if is_change { ("Set", text.set()) } else { ("Keep", text.keep()) }];
    lines.extend(text.holds_for());
    lines.extend(text.undone());
    lines.extend(text.price());
    lines.extend(text.worse());
    lines.extend(text.excluded());
    if !is_change {
        lines.extend(text.tried());
    }
    lines.extend(text.no_help());
    lines.extend(text.unreadable());
    lines.extend(text.look_up());
    lines.extend(text.by_code());
    lines.push(("Rests on", text.rests_on()));
    lines.extend(text.left_out());
    fit(&mut lines);
    lines.push(("Again", document.again.clone()));
    let settings = document.library_settings.clone();
    Answer { lines, settings }
}

struct Text<'a> {
    answered: &'a Answered,
    document: &'a Recommendation,
    recommender: &'a Recommender<'a>,
}

impl Text<'_> {
    fn fresh(&self) -> &FreshRuns {
        &self.document.fresh
    }

    fn is_finish(&self) -> bool {
        self.document.goal == RecommendationGoal::Finish
    }

    fn today(&self) -> &Candidate {
        &self.answered.candidates[self.document.today]
    }

    fn set(&self) -> String {
        let set = self.document.settings.iter().map(|setting| match setting.of {
            SettingOf::Rate if self.recommender.bench.instances > 1 => {
                format!("{} from each client, in your own code", setting.text)
            }
            SettingOf::Rate => format!("{}, in your own code", setting.text),
            SettingOf::Workers => {
                format!("{} instead of {}", setting.text, self.today().in_flight.unwrap_or_default())
            }
            SettingOf::Library | SettingOf::Strategy => setting.text.clone(),
        });
        let mut set: Vec<String> = set.collect();
        let last = self.document.settings.iter().rposition(|setting| setting.of == SettingOf::Library);
        if let (Some(last), Some(_)) = (last, &self.document.library_settings) {
            set[last] += " (settings below)";
        }
        format!("{}; keep everything else", set.join(" and "))
    }

    fn keep(&self) -> String {
        let workers = self.today().in_flight.map(|workers| format!(" with {}", workers_text(workers)));
        format!("{}{}", self.today().text, workers.unwrap_or_default())
    }

    fn holds_for(&self) -> Option<Line> {
        let holds_for = self.document.holds_for.as_ref()?;
        let rate =
            holds_for.rate_for_any_number_per_s.map(|rate| format!("; at most {rate}/s for any number"));
        let words = format!(
            "for {} ops, of which the server lets some through at once; ten times as many leave {} more {}{}",
            thousands(holds_for.ops),
            in_points(100.0 * holds_for.more_undone_of_longer),
            self.document.undone_word(),
            rate.unwrap_or_default()
        );
        Some(("Holds", words))
    }

    fn undone(&self) -> Vec<Line> {
        let fresh = self.fresh();
        let label = if self.document.undone_word() == "late" { "Late" } else { "Undone" };
        // The number of ops that arrive in a duration is drawn at random.
        let ops = match self.recommender.args.workload.0.duration {
            None => counted(self.recommender.bench.ops, "op"),
            Some(_) => "ops".to_owned(),
        };
        let what = if self.recommender.bench.ranges.is_empty() { "seeds" } else { "fresh servers" };
        let count = fresh.servers.len();
        let of = |figures: &FreshFigures| {
            let FreshFigures { undone, least_undone: least, most_undone: most, servers, .. } = figures;
            let most_text = Some(points(100.0 * most)).filter(|text| text != "0" || *most == 0.0);
            let (least, most) = (points(100.0 * least), most_text.unwrap_or_else(|| "<0.1".to_owned()));
            (share(*undone), format!("{least}–{most} on all {servers}"))
        };
        let ((today, of_today), (other, of_other)) = (of(&fresh.today), of(&fresh.of_other));
        if self.document.decision == Decision::Keep {
            return vec![(label, format!("{today} of {ops} on {count} {what} ({of_today})"))];
        }
        vec![
            (
                label,
                format!(
                    "today {today} of {ops} on {count} {what} ({of_today}), with this {other} ({of_other})"
                ),
            ),
            ("", self.difference()),
        ]
    }

    fn difference(&self) -> String {
        let fresh = self.fresh();
        if fresh.better + fresh.worse.len() == 0 && fresh.points.abs() < 0.05 {
            return format!("the same share on all {}", fresh.servers.len());
        }
        let is_more = fresh.points < 0.0;
        let (low, high) = if is_more {
            (-fresh.points_high, -fresh.points_low)
        } else {
            (fresh.points_low, fresh.points_high)
        };
        format!(
            "{} {} (95 %: {}{}{}): {} better, {} the same, {} worse",
            in_points(fresh.points.abs()),
            if is_more { "more" } else { "less" },
            points(low),
            if low < 0.0 { " to " } else { "–" },
            points(high),
            fresh.better,
            fresh.same,
            fresh.worse.len()
        )
    }

    fn price(&self) -> Vec<Line> {
        let fresh = self.fresh();
        let is_change = self.document.decision == Decision::Change;
        let (of, before) =
            if is_change { (&fresh.of_other, Some(&fresh.today)) } else { (&fresh.today, None) };
        let cost = if self.is_finish() {
            let time = |figures: &FreshFigures| {
                let at_least = if figures.is_cut { "≥ " } else { "" };
                figures.makespan_s.map_or_else(|| "never".to_owned(), |s| format!("{at_least}{}", seconds(s)))
            };
            let today = before.map(|today| format!(" (today {})", time(today)));
            let what = if of.undone < 0.005 { "to finish" } else { "until the last op ended" };
            format!("{} {what}{}", time(of), today.unwrap_or_default())
        } else {
            let attempts = |attempts: Option<f64>| attempts.map_or_else(|| "∞".to_owned(), short);
            let today = before.map(|today| format!(" (today {})", attempts(today.attempts_per_success)));
            format!("{} attempts per success{}", attempts(of.attempts_per_success), today.unwrap_or_default())
        };
        let per_100 = |figures: &FreshFigures| {
            if figures.rejected_per_100_ops < 0.05 {
                "no".to_owned()
            } else {
                short(figures.rejected_per_100_ops)
            }
        };
        let rejections = match before.map(per_100) {
            Some(today) if today != "no" => format!("{} rejections (today {today} per 100 ops)", per_100(of)),
            _ if per_100(of) == "no" => "no rejections".to_owned(),
            _ => format!("{} rejections per 100 ops", per_100(of)),
        };
        vec![("Price", format!("{cost}; {rejections}"))]
    }

    fn worse(&self) -> Vec<Line> {
        let fresh = self.fresh();
        if self.document.decision == Decision::Keep {
            return Vec::new();
        }
        let servers = fresh.worse.iter().map(|number| &fresh.servers[*number]);
        let more = |server: &FreshServerRuns| 100.0 * (server.other_undone - server.today_undone);
        let Some(worst) = servers.max_by(|one, other| more(one).total_cmp(&more(other))) else {
            return Vec::new();
        };
        let undone = self.document.undone_word();
        let words = format!(
            "{} of {} servers, at most {} more {undone}: {}",
            fresh.worse.len(),
            fresh.servers.len(),
            in_points(more(worst)),
            listed(&worst.changes)
        );
        vec![("Worse", words)]
    }

    fn tried(&self) -> Vec<Line> {
        let fresh = self.fresh();
        let count = self.document.candidates.iter().filter(|candidate| !candidate.by_code).count() - 1;
        let undone = self.document.undone_word();
        if fresh.other == self.document.today {
            let words = match count {
                0 => "no other setting could be tried".to_owned(),
                1 => "1 other setting, which did not do as well on all servers".to_owned(),
                count => format!("{count} other settings; none did as well on all servers"),
            };
            return vec![("Tried", words)];
        }
        let name = self.name(fresh.other);
        let direction = if fresh.points < 0.0 { "more" } else { "less" };
        let what = if self.recommender.bench.ranges.is_empty() { "seeds" } else { "fresh servers" };
        let cost = fresh.cost_ratio.map(|ratio| self.cost(ratio)).unwrap_or_default();
        let left = match fresh.points.abs() {
            equal if equal < 0.05 => format!("leaves as much {undone}"),
            other => format!("leaves {} {direction} {undone}", in_points(other)),
        };
        let words = format!(
            "{} other {}; the best, {name}, {left} on {} {what}{cost}",
            thousands(count as u64),
            if count == 1 { "setting" } else { "settings" },
            fresh.servers.len(),
        );
        vec![("Tried", words)]
    }

    fn cost(&self, ratio: f64) -> String {
        let percent = 100.0 * (ratio - 1.0).abs();
        let direction = match (self.is_finish(), ratio < 1.0) {
            _ if percent < 0.5 => return " at the same cost".to_owned(),
            (true, true) => "sooner",
            (true, false) => "later",
            (false, true) => "fewer attempts per success",
            (false, false) => "more attempts per success",
        };
        if self.is_finish() {
            format!(" and finishes {} % {direction}", points(percent))
        } else {
            format!(", with {} % {direction}", points(percent))
        }
    }

    fn no_help(&self) -> Vec<Line> {
        if self.document.decision == Decision::Keep {
            return self.knobless();
        }
        let undone = self.document.undone_word();
        let of = |no_help: &NoHelp| {
            let name = self.name(no_help.candidate);
            if no_help.most_undone >= 0.01 {
                return Some(format!("{name}: up to {} {undone}", share(no_help.most_undone)));
            }
            let cost = if self.is_finish() { "the time" } else { "the attempts" };
            let times = no_help.worst_cost;
            (times >= 1.05).then(|| format!("{name}: up to {} × {cost}", short(times)))
        };
        let each: Vec<String> = self.answered.no_help.iter().filter_map(of).collect();
        let mut lines = Vec::new();
        if !each.is_empty() {
            lines.push(("No help", each.join("; ")));
        }
        lines.extend(self.knobless());
        lines
    }

    /// Explains why no setting of the library was tried, or why none makes a difference.
    fn knobless(&self) -> Vec<Line> {
        let is_preset = self.today().text.starts_with("preset:");
        if !is_preset || !self.recommender.changes.library {
            return Vec::new();
        }
        let tried: Vec<usize> = (0..self.answered.candidates.len())
            .filter(|number| self.answered.candidates[*number].is_of_library())
            .filter(|number| !self.answered.candidates[*number].is_by_code)
            .collect();
        let library = without_rate(&self.today().text);
        if tried.is_empty() {
            return vec![("Library", format!("no other setting of {library} is known, so none was tried"))];
        }
        let today = &self.document.candidates[self.document.today];
        let is_same = |number: &usize| {
            let tried = &self.document.candidates[*number];
            let known = tried.undone.iter().zip(&tried.cost).zip(today.undone.iter().zip(&today.cost));
            let mut known = known.filter(|((undone, _), _)| undone.is_some()).peekable();
            known.peek().is_some() && known.all(|(tried, today)| tried == today)
        };
        if !self.answered.any_rejected {
            return Vec::new();
        }
        if tried.iter().all(is_same) {
            let words =
                format!("{library} does not retry these rejections, so none of its settings changes a run");
            return vec![("Library", words)];
        }
        Vec::new()
    }

    /// Names an answer of the preset after which the client gives up only because it cannot read the advice.
    fn unreadable(&self) -> Option<Line> {
        let name = self.recommender.bench.nominal_flags().value("preset")?.split(':').next()?.to_owned();
        let preset = server_presets().iter().find(|preset| preset.name == name)?;
        let today = self.today();
        let is_retried = |script: &str| {
            let waits = waits(&today.spec, &script.parse().ok()?, 1).ok()?;
            Some(waits.first()?.is_some())
        };
        preset.reject.iter().find_map(|(of, response)| {
            let status = response.status?;
            let value = response.headers.get("retry-after")?;
            let gives_up = is_retried(&format!("{status}|200"))? && !is_retried(&format!("{status} retry-after:{value}|200"))?;
            let of = format!("reject.{of}");
            let is_unverified = preset.facts.iter().any(|fact| fact.of == of && !fact.verified);
            let source = if is_unverified { " (not verified)" } else { "" };
            let library = without_rate(&today.text);
            gives_up.then(|| ("Library", format!("{library} cannot read `Retry-After: {value}` of {name}{source}, and gives up after it")))
        })
    }

    fn excluded(&self) -> Vec<Line> {
        let Some(most) = self.recommender.args.max_rejected else { return Vec::new() };
        if self.document.candidates[self.document.today].eligible {
            return Vec::new();
        }
        let words =
            format!("today's setting has more than {} rejections on some server", share(most.of_one()));
        vec![("Excluded", words)]
    }

    fn look_up(&self) -> Vec<Line> {
        let line = |(index, look_up): (usize, &LookUpRecord)| {
            let percent = points(100.0 * (1.0 - look_up.cost_ratio));
            let gain = match (look_up.points >= 1.0, self.is_finish()) {
                (true, _) => format!("{} less {}", in_points(look_up.points), self.document.undone_word()),
                (false, true) => format!("{percent} % sooner"),
                (false, false) => format!("{percent} % fewer attempts"),
            };
            let name = self.name(look_up.candidate).replace("at most ", "").replace(" requests/s", "/s");
            let verb = if look_up.candidate == 0 { "keep" } else { "set" };
            let ops = look_up.holds_for.map(|holds_for| format!(" for {} ops", thousands(holds_for.ops)));
            let ops = ops.unwrap_or_default();
            let words = format!("{}: if {}, {verb} {name}{ops}, {gain}", look_up.key, look_up.condition);
            (if index == 0 { "Look up" } else { "" }, words)
        };
        self.document.look_ups.iter().enumerate().map(line).collect()
    }

    fn by_code(&self) -> Vec<Line> {
        let Some((number, Observed { undone, makespan_s, .. })) = &self.answered.by_code else {
            return Vec::new();
        };
        let observed = &self.answered.by_code.as_ref().expect("checked").1;
        let fresh = self.fresh();
        let of_answer = match self.document.decision {
            Decision::Change => fresh.of_other.undone,
            Decision::Keep => fresh.today.undone,
        };
        if *undone > of_answer + 0.01 {
            return Vec::new();
        }
        let text = &self.answered.candidates[*number].text;
        let limiter = text.rsplit('+').next().unwrap_or(text);
        let what = match limiter {
            "aimd" => "an adaptive concurrency limit",
            "aws-adaptive" => "a rate controller",
            _ => "an adaptive limiter",
        };
        let left = self.document.undone_word();
        let time = if self.is_finish() && makespan_s.is_finite() {
            format!(" in {}", seconds(*makespan_s))
        } else {
            String::new()
        };
        let words = format!(
            "{what} ({limiter}): {} {left}{time}, {} rejections per 100 ops",
            share(*undone),
            short(observed.rejected_per_100_ops())
        );
        vec![("By code", words)]
    }

    fn rests_on(&self) -> String {
        let tried = self.document.servers.len();
        let fresh = self.document.fresh.servers.len();
        let flags = self.recommender.bench.nominal_flags();
        let server = flags.value("preset").map(|preset| {
            let name = preset.split(':').next().unwrap_or(preset);
            format!("{name}, ")
        });
        // A distribution that was typed stays as it is on every server, except for its mean.
        let is_constant = |text: &str| matches!(text.parse(), Ok(Distribution::Constant(_)));
        let mut assumptions = self.document.assumptions.iter();
        let is_range = assumptions.any(|range| range.key == NETWORK && is_constant(&range.nominal));
        let network = flags.value(NETWORK).map(|network| {
            if is_range { "network ±30 % of its mean, ".to_owned() } else { format!("network {network}, ") }
        });
        let server = server.unwrap_or_default() + &network.unwrap_or_default();
        if self.document.assumptions.is_empty() {
            return format!("virtual time: {server}the nominal server alone, {fresh} fresh seeds");
        }
        let mut ranges: Vec<String> = self
            .document
            .assumptions
            .iter()
            .map(|range| format!("{} {}", range.key, listed_values(&range.plausible)))
            .collect();
        let others = ranges.len().saturating_sub(NAMED_FIGURES);
        if others > 0 {
            ranges.truncate(NAMED_FIGURES);
            ranges.push(format!("and {}", counted(others as u64, "other figure")));
        }
        let assumed = if self.recommender.are_assumed { "assumed " } else { "" };
        format!("virtual time, {tried} + {fresh} servers: {server}{assumed}{}", ranges.join(", "))
    }

    fn left_out(&self) -> Vec<Line> {
        let left_out = self.document.left_out;
        let mut parts = Vec::new();
        if left_out.servers > 0 {
            parts.push(counted(left_out.servers as u64, "server"));
        }
        if left_out.candidates > 0 {
            parts.push(counted(left_out.candidates as u64, "setting"));
        }
        if parts.is_empty() {
            return Vec::new();
        }
        let words = format!(
            "{}, because the search is limited to 6 million attempts; a shorter run allows more",
            parts.join(" and ")
        );
        vec![("Left out", words)]
    }

    fn name(&self, number: usize) -> String {
        let changes = snippets::changes(&self.answered.candidates[number]);
        if changes.is_empty() {
            return "today's setting".to_owned();
        }
        changes.into_iter().map(|change| change.text).collect::<Vec<_>>().join(" and ")
    }
}

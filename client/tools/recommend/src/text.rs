//! The answer as lines with labels, and the command that repeats the nominal runs.

use mockserver::core::server_presets;
use recordings::waits;
use results::numbers::{counted, seconds, short, thousands};
use tailback::StrategySpec;
use vocabulary::Distribution;

use crate::answer::{Answered, Recommender};
use crate::candidate::without_rate;
use crate::flags::NETWORK;
use crate::lines::{Line, fit, in_points, listed, listed_values, points, share};
use crate::observed::finite;
use crate::recommendation::{
    Decision, FreshFigures, FreshServerRuns, LookUpRecord, Recommendation, RecommendationGoal, SettingOf,
    TriedSetting,
};
use crate::searched::NoHelp;

const NAMED_FIGURES: usize = 4;

/// Returns the lines of the answer.
pub(super) fn answer(answered: &Answered, recommender: &Recommender<'_>) -> Vec<Line> {
    let document = &answered.document;
    let today = &document.candidates[document.today];
    let text = Text { answered, document, today, recommender };
    let mut lines = vec![if text.is_change() { ("Set", text.set()) } else { ("Keep", text.keep()) }];
    lines.extend(text.holds_for());
    lines.extend(text.undone());
    lines.push(("Price", text.price()));
    if text.is_change() {
        lines.extend(text.worse());
    }
    lines.extend(text.excluded());
    lines.extend(if text.is_change() { text.no_help() } else { Some(("Tried", text.tried())) });
    lines.extend(text.knobless());
    lines.extend(text.unreadable());
    lines.extend(text.look_up());
    lines.extend(text.by_code());
    lines.extend(text.obeying());
    lines.push(("Rests on", text.rests_on()));
    let left_out = document.left_out.text().map(|what| {
        format!("{what}, because the search is limited to 6 million attempts; a shorter run allows more")
    });
    lines.extend(left_out.map(|words| ("Left out", words)));
    fit(&mut lines);
    lines.push(("Again", document.again.clone()));
    lines.extend(in_rust(&document.candidates[document.chosen].strategy));
    lines
}

/// Returns the line with which a Rust program uses the chosen strategy. `None` if a throttle does not accept it.
fn in_rust(strategy: &str) -> Option<Line> {
    let spec: StrategySpec = strategy.parse().ok()?;
    let throttle = spec.is_bounded().then(|| format!("tailback_http::Throttle::new({strategy:?}.parse()?)?"));
    Some(("In Rust", throttle?))
}

struct Text<'a> {
    answered: &'a Answered,
    document: &'a Recommendation,
    today: &'a TriedSetting,
    recommender: &'a Recommender<'a>,
}

impl Text<'_> {
    fn is_change(&self) -> bool {
        self.document.decision == Decision::Change
    }

    fn is_finish(&self) -> bool {
        self.document.goal == RecommendationGoal::Finish
    }

    fn set(&self) -> String {
        let set = self.document.settings.iter().map(|setting| match setting.of {
            SettingOf::Rate if self.recommender.bench.instances > 1 => {
                format!("{} from each client, in your own code", setting.text)
            }
            SettingOf::Rate => format!("{}, in your own code", setting.text),
            SettingOf::Workers => {
                format!("{} instead of {}", setting.text, self.today.in_flight.unwrap_or_default())
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
        let workers =
            self.today.in_flight.map(|workers| format!(" with {}", counted(workers.into(), "worker")));
        self.today.strategy.clone() + &workers.unwrap_or_default()
    }

    fn holds_for(&self) -> Option<Line> {
        let holds_for = self.document.holds_for?;
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
        let fresh = &self.document.fresh;
        let label = if self.document.undone_word() == "late" { "Late" } else { "Undone" };
        // The number of ops that arrive in a duration is drawn at random.
        let ops = match self.recommender.args.workload.0.duration {
            None => counted(self.recommender.bench.ops, "op"),
            Some(_) => "ops".to_owned(),
        };
        let on = format!("{ops} on {}", self.fresh_servers());
        let of = |figures: &FreshFigures| {
            let (least, most) = (points(100.0 * figures.least_undone), points(100.0 * figures.most_undone));
            let most = if most == "0" && figures.most_undone != 0.0 { "<0.1" } else { &most };
            (share(figures.undone), format!("{least}–{most} on all {}", figures.servers))
        };
        let ((today, of_today), (other, of_other)) = (of(&fresh.today), of(&fresh.of_other));
        if !self.is_change() {
            return vec![(label, format!("{today} of {on} ({of_today})"))];
        }
        let words = format!("today {today} of {on} ({of_today}), with this {other} ({of_other})");
        vec![(label, words), ("", self.difference())]
    }

    /// Returns the number of fresh servers, or of seeds if all servers are equal.
    fn fresh_servers(&self) -> String {
        let what = if self.document.assumptions.is_empty() { "seeds" } else { "fresh servers" };
        format!("{} {what}", self.document.fresh.servers.len())
    }

    fn difference(&self) -> String {
        let fresh = &self.document.fresh;
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

    fn price(&self) -> String {
        let fresh = &self.document.fresh;
        let (of, before) =
            if self.is_change() { (&fresh.of_other, Some(&fresh.today)) } else { (&fresh.today, None) };
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
            let rejected = figures.rejected_per_100_ops;
            if rejected < 0.05 { "no".to_owned() } else { short(rejected) }
        };
        let rejected = per_100(of);
        let rejections = match before.map(per_100) {
            Some(today) if today != "no" => format!(" (today {today} per 100 ops)"),
            _ if rejected == "no" => String::new(),
            _ => " per 100 ops".to_owned(),
        };
        format!("{cost}; {rejected} rejections{rejections}")
    }

    fn worse(&self) -> Option<Line> {
        let fresh = &self.document.fresh;
        let servers = fresh.worse.iter().map(|number| &fresh.servers[*number]);
        let more = |server: &FreshServerRuns| 100.0 * (server.other_undone - server.today_undone);
        let worst = servers.max_by(|one, other| more(one).total_cmp(&more(other)))?;
        let undone = self.document.undone_word();
        let words = format!(
            "{} of {} servers, at most {} more {undone}: {}",
            fresh.worse.len(),
            fresh.servers.len(),
            in_points(more(worst)),
            listed(&worst.changes, "the nominal server")
        );
        Some(("Worse", words))
    }

    fn tried(&self) -> String {
        let fresh = &self.document.fresh;
        let count = self.document.candidates.iter().filter(|candidate| !candidate.by_code).count() - 1;
        let undone = self.document.undone_word();
        if fresh.other == self.document.today {
            return match count {
                0 => "no other setting could be tried".to_owned(),
                1 => "1 other setting, which did not do as well on all servers".to_owned(),
                count => format!("{count} other settings; none did as well on all servers"),
            };
        }
        let direction = if fresh.points < 0.0 { "more" } else { "less" };
        let left = match fresh.points.abs() {
            equal if equal < 0.05 => format!("leaves as much {undone}"),
            other => format!("leaves {} {direction} {undone}", in_points(other)),
        };
        format!(
            "{}; the best, {}, {left} on {}{}",
            counted(count as u64, "other setting"),
            self.name(fresh.other),
            self.fresh_servers(),
            fresh.cost_ratio.map(|ratio| self.cost(ratio)).unwrap_or_default()
        )
    }

    fn cost(&self, ratio: f64) -> String {
        let percent = 100.0 * (ratio - 1.0).abs();
        let by = points(percent);
        match (self.is_finish(), ratio < 1.0) {
            _ if percent < 0.5 => " at the same cost".to_owned(),
            (true, true) => format!(" and finishes {by} % sooner"),
            (true, false) => format!(" and finishes {by} % later"),
            (false, true) => format!(", with {by} % fewer attempts per success"),
            (false, false) => format!(", with {by} % more attempts per success"),
        }
    }

    fn no_help(&self) -> Option<Line> {
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
        (!each.is_empty()).then(|| ("No help", each.join("; ")))
    }

    /// Explains why no setting of the library was tried, or why none makes a difference.
    fn knobless(&self) -> Option<Line> {
        if !self.today.strategy.starts_with("preset:") || !self.recommender.changes.library {
            return None;
        }
        let tried = &self.answered.of_library;
        let library = without_rate(&self.today.strategy);
        if tried.is_empty() {
            return Some(("Library", format!("no other setting of {library} is known, so none was tried")));
        }
        let today = self.today;
        let is_same = |number: &usize| {
            let tried = &self.document.candidates[*number];
            let known = tried.undone.iter().zip(&tried.cost).zip(today.undone.iter().zip(&today.cost));
            let mut known = known.filter(|((undone, _), _)| undone.is_some()).peekable();
            known.peek().is_some() && known.all(|(tried, today)| tried == today)
        };
        let words =
            format!("{library} does not retry these rejections, so none of its settings changes a run");
        (self.answered.any_rejected && tried.iter().all(is_same)).then_some(("Library", words))
    }

    /// Names an answer of the preset after which the client gives up only because it cannot read the advice.
    fn unreadable(&self) -> Option<Line> {
        let name = self.recommender.bench.nominal_flags().value("preset")?.split(':').next()?.to_owned();
        let preset = server_presets().iter().find(|preset| preset.name == name)?;
        let is_retried = |script: &str| {
            let waits = waits(&self.recommender.args.strategy, &script.parse().ok()?, 1).ok()?;
            Some(waits.first()?.is_some())
        };
        preset.reject.iter().find_map(|(of, response)| {
            let status = response.status?;
            let value = response.headers.get("retry-after")?;
            let gives_up = is_retried(&format!("{status}|200"))? && !is_retried(&format!("{status} retry-after:{value}|200"))?;
            let of = format!("reject.{of}");
            let is_unverified = preset.facts.iter().any(|fact| fact.of == of && !fact.verified);
            let source = if is_unverified { " (not verified)" } else { "" };
            let library = without_rate(&self.today.strategy);
            gives_up.then(|| ("Library", format!("{library} cannot read `Retry-After: {value}` of {name}{source}, and gives up after it")))
        })
    }

    fn excluded(&self) -> Option<Line> {
        let most = share(self.recommender.args.max_rejected?.of_one());
        let words = format!("today's setting has more than {most} rejections on some server");
        (!self.today.eligible).then_some(("Excluded", words))
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

    fn by_code(&self) -> Option<Line> {
        let (number, observed) = self.answered.by_code.as_ref()?;
        let fresh = &self.document.fresh;
        let of_answer = if self.is_change() { fresh.of_other.undone } else { fresh.today.undone };
        if observed.undone > of_answer + 0.01 {
            return None;
        }
        let text = &self.document.candidates[*number].strategy;
        let what = match text.rsplit('+').next().unwrap_or(text) {
            "aimd" => "an adaptive concurrency limit",
            "aws-adaptive" => "a rate controller",
            "full-jitter" => "full jitter",
            "tailback" => "a limiter that obeys advice and quotas",
            _ => "an adaptive limiter",
        };
        let parts: Vec<&str> = text.split('+').collect();
        let gate = parts.iter().rposition(|part| *part == "hold");
        let what = gate.map_or_else(|| what.to_owned(), |_| format!("one gate for all ops and {what}"));
        let limiter = parts[gate.unwrap_or(parts.len() - 1)..].join("+");
        let makespan_s = finite(observed.makespan_s).filter(|_| self.is_finish());
        let words = format!(
            "{what} ({limiter}): {} {}{}, {} rejections per 100 ops",
            share(observed.undone),
            self.document.undone_word(),
            makespan_s.map(|s| format!(" in {}", seconds(s))).unwrap_or_default(),
            short(observed.rejected_per_100_ops())
        );
        Some(("By code", words))
    }

    fn obeying(&self) -> Option<Line> {
        let obeying = self.document.obeying.as_ref()?;
        let words = format!(
            "with `{}` all ops wait as the server advises, and take {} times as long as with `{}`, which sends {} although the server \
             asked it to wait",
            obeying.strategy,
            short(obeying.makespan_ratio),
            obeying.without,
            counted(obeying.early_requests, "request")
        );
        Some(("Obeying", words))
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

    fn name(&self, number: usize) -> String {
        self.document.candidates[number].name()
    }
}

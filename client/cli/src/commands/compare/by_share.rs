//! What a comparison tells where strategies did not get the same share of their ops done: that share and what it costs.

use std::fmt::Write as _;

use experiments::judge::pair::Pair;
use results::{MAKESPAN_OVER_BOUND, Score, Standing, Work};
use statistics::{Interval, Summary};

use super::table::{HEAD, beyond, dash, mark, mean, of_ties};
use crate::text::figures::{percent, short};
use crate::text::table::{Column, LongNames, Table};
use crate::text::wrapping::wrapped;

/// The ranked table.
pub(super) fn ranking(standings: &[Standing], by: Score) -> String {
    let effort = Score::attempts_per_success();
    let third =
        Some(by.beside_makespan_and_attempts()).filter(|third| *third != effort).unwrap_or(Score::p99());
    let mut table = Table::new(HEAD, [8, 10, 11, 10, 9, 8].map(Column::Right), LongNames::Broken);
    table.line("");
    let titles = [done(standings), "per succ.", "makespan s", "attempts", &third.heading(), "bound"];
    table.titles("    strategy (means)", titles);
    for standing in standings {
        let mark = mark(standing);
        // Who leaves ops undone is soon done: only of the same work are these compared.
        let comparable = standing.is_comparable() || standing.work == Work::All;
        let of_the_same_work = |path: &str| standing.figure(path).filter(|_| comparable);
        let beside = standing.figure(third.path()).filter(|_| comparable || third.is_latency());
        let figures = [
            standing.share_text(),
            mean(standing.figure_of_all(effort)),
            mean(of_the_same_work(Score::makespan().path())),
            mean(standing.figure(Score::attempts().path())),
            mean(beside),
            of_the_same_work(MAKESPAN_OVER_BOUND).map_or_else(dash, |over| beyond(over.mean)),
        ];
        table.row(&mark, &standing.strategy, &figures);
        // Who only gave up did so by its own rules; of all else the reason is to be known.
        let cut_off = standing.figure("ops.unfinished").is_some_and(|unfinished| unfinished.max > 0.0);
        if let Some(why) = standing.incomplete.as_ref().filter(|_| cut_off || standing.rank.is_none()) {
            table.line(&wrapped(why, "      incomplete: ", "      "));
        }
    }
    let mut text = table.into_text();
    for words in [of_whom(third), not_ranked_by(standings, by)].into_iter().flatten() {
        let _ = write!(text, "\n{}\n", wrapped(&words, "note: ", "      "));
    }
    text
}

/// That latencies of unequal work stand beside one another.
fn of_whom(third: Score) -> Option<String> {
    let words = "latencies are those of the ops that each did; who did fewer may have left out the slow ones";
    third.is_latency().then(|| words.to_owned())
}

/// That what was asked for did not decide, if somebody asked: the share of ops done comes before it.
fn not_ranked_by(standings: &[Standing], by: Score) -> Option<String> {
    if [Score::makespan(), Score::attempts_per_success()].contains(&by) {
        return None;
    }
    let decided = standings.iter().filter(|standing| standing.is_comparable()).count() > 1;
    let key = by.key();
    Some(if decided {
        format!(
            "`--by {key}` ranks only those that did the same work; shares of ops done differ, and come first"
        )
    } else {
        format!(
            "`--by {key}` could not rank: shares of ops done differ, so they come first, then attempts per success"
        )
    })
}

/// The intervals of what ranks are by, and what successes cost the server.
pub(super) fn details(standings: &[Standing]) -> String {
    let early = advice_is_broken(standings);
    let columns = 3 + usize::from(early);
    let widths = [17, 16, 11, 12].into_iter().take(columns).map(Column::Right);
    let mut table = Table::new(HEAD, widths, LongNames::Broken);
    table.line("");
    let head = if done(standings) == "done" { "ops done" } else { "done in time" };
    let titles = [head, "per success", "server ms", "too early"];
    table.titles("    95 % of the mean", titles.into_iter().take(columns));
    for standing in standings.iter().filter(|standing| standing.rank.is_some()) {
        let cells = [
            interval(share(standing)).map_or_else(|| "too few".to_owned(), |range| percents(&range)),
            match standing.figure_of_all(Score::attempts_per_success()) {
                None => dash(),
                effort => interval(effort).map_or_else(|| "too few".to_owned(), |range| ends(&range)),
            },
            mean(standing.figure("server_work_per_success_ms")),
            mean(standing.figure("advice.broken")),
        ];
        table.row("    ", &standing.strategy, &cells[..columns]);
    }
    table.into_text()
}

/// What each did and at which cost, and how sure it is that each is ahead of the next.
pub(super) fn sentences(standings: &[Standing], pairs: &[Pair]) -> String {
    let ranked = || standings.iter().filter(|standing| standing.rank.is_some());
    let mut text = String::new();
    for standing in ranked() {
        let _ = writeln!(text, "{}", wrapped(&did(standing), "", "  "));
    }
    for (first, second) in ranked().zip(ranked().skip(1)) {
        let next = |pair: &&Pair| pair.first == first.strategy && pair.second == second.strategy;
        for pair in pairs.iter().filter(next) {
            let _ = writeln!(text, "{}", wrapped(&pair.words(), "", "  "));
        }
    }
    text
}

/// What must be known to read the ranks.
pub(super) fn notes(standings: &[Standing], by: Score) -> String {
    let mut text = format!(
        "Ranked by the share of ops done, then by attempts per success: makespans of unequal work are not compared. Those that did \
         every op{} are ranked by {} among one another. Shares that differ by no more than 0.1 % of the ops count as the same. ◆ \
         Pareto front: no other gets more done and needs fewer attempts per success (the oracle aside: it knows the future). \
         Server ms: time of its slots per success, rejections included. ",
        if standings.iter().any(|standing| standing.limit.is_some()) { " in time" } else { "" },
        by.name()
    );
    if standings.iter().any(Standing::share_is_lower_bound) {
        text.push_str("≥ a run was stopped: it might have done more. ");
    }
    if standings.iter().any(Standing::share_is_of_arrived) {
        text.push_str(
            "Shares are of the ops that arrived: how many a closed loop with `--duration` offers depends on its client. ",
        );
    }
    text.push_str(of_ties(standings, "attempts per success").as_str());
    if advice_is_broken(standings) {
        text.push_str("Too early: retries before the instant that the server had advised. ");
    }
    text
}

/// `aimd did 11.8 % of the ops at 25 attempts per success`.
fn did(standing: &Standing) -> String {
    let within = standing.limit.as_ref().map_or_else(String::new, |limit| format!(" within {limit}"));
    let name = &standing.strategy;
    let Some(effort) = standing.figure_of_all(Score::attempts_per_success()) else {
        return format!(
            "{name} did {} of the ops{within}, and none at all in some runs",
            standing.share_text()
        );
    };
    let part = if standing.share >= 1.0 { "all".to_owned() } else { standing.share_text() };
    let times = short(effort.mean);
    let attempts = if times == "1" { "attempt" } else { "attempts" };
    let words = format!("{name} did {part} of the ops{within} at {times} {attempts} per success");
    let of_share = interval(share(standing)).map(|range| percents(&range));
    let of_effort = interval(Some(effort)).map(|range| ends(&range));
    // What has one value only needs no interval.
    let ranges: Vec<String> =
        [of_share, of_effort].into_iter().flatten().filter(|range| range.contains('–')).collect();
    if ranges.is_empty() { words } else { format!("{words} (95 %: {})", ranges.join(", ")) }
}

/// What heads the column of the share.
fn done(standings: &[Standing]) -> &'static str {
    if standings.iter().any(|standing| standing.limit.is_some()) { "in time" } else { "done" }
}

fn share(standing: &Standing) -> Option<&Summary> {
    standing.figure(Score::done_share().path())
}

fn interval(figure: Option<&Summary>) -> Option<Interval> {
    figure.and_then(|figure| figure.interval)
}

/// Of attempts per success, of which there is one at least.
fn ends(range: &Interval) -> String {
    let (low, high) = (short(range.low.max(1.0)), short(range.high));
    if low == high { low } else { format!("{low}–{high}") }
}

fn percents(range: &Interval) -> String {
    // Student's t knows nothing of the ends of a share.
    let (low, high) = (percent(range.low.max(0.0)), percent(range.high.min(1.0)));
    if low == high { low } else { format!("{}–{high}", low.trim_end_matches(" %")) }
}

fn advice_is_broken(standings: &[Standing]) -> bool {
    let broken =
        |standing: &Standing| standing.figure("advice.broken").is_some_and(|broken| broken.max > 0.0);
    standings.iter().any(broken)
}

#[cfg(test)]
mod tests {
    use experiments::judge::pairs::pairs_by_share;

    use super::super::table::tests::standings_of;
    use super::*;

    #[test]
    fn latencies_are_those_of_ops_that_were_done_and_a_score_that_cannot_rank_is_told() {
        let standings = standings_of(&["none", "full-jitter:max-attempts=3"]);
        let text = ranking(&standings, Score::p99());
        assert!(text.contains("note: latencies are those of the ops that each did"), "{text}");
        assert!(text.contains("note: `--by p99` could not rank"), "{text}");
        let text = ranking(&standings, Score::makespan());
        assert!(!text.contains("--by"), "{text}");
    }

    #[test]
    fn who_gives_up_is_ranked_by_what_it_did_and_what_that_cost() {
        let standings = standings_of(&["none", "aimd", "exponential:max-attempts=3", "full-jitter"]);
        let pairs = pairs_by_share(&standings, 1);
        let text =
            details(&standings) + &sentences(&standings, &pairs) + &ranking(&standings, Score::makespan());
        insta::assert_snapshot!("by_share", text);
    }
}

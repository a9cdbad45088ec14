//! From the runs to the answer: search, decision, fresh check and document.

use std::collections::BTreeMap;

use experiments::checks::Share;
use experiments::recommend::{
    Candidate, Candidates, Fresh, FreshServer, Goal, MAX_LOOK_UPS, MAX_SEARCH_ATTEMPTS, Observed,
    PlausibleServer, Range, Search, choose, groups, look_ups, ordered, rates,
};
use results::{
    Assumption, Decision, FreshFigures, FreshRuns, FreshServerRuns, LeftOut, LookUpRecord, NominalRun,
    NominalRuns, Recommendation, RecommendationGoal, RunResult, SchemaVersion, TriedServer,
};

use super::again::again;
use super::args::RecommendArgs;
use super::bench::Bench;
use super::searched::{NoHelp, Searched, finite};
use super::snippets;
use crate::exit::{Exit, Fatal};

/// Number of the library's settings, besides today's, that are tried with fewer workers and with a rate.
const BASES: usize = 2;

pub(super) struct Recommender<'a> {
    pub(super) bench: Bench<'a>,
    pub(super) args: &'a RecommendArgs,
    pub(super) today: &'a str,
    pub(super) are_assumed: bool,
    pub(super) changes: Candidates,
}

/// Recommendation as a document, with further results of the search that the printed text needs.
pub(super) struct Answered {
    pub(super) document: Recommendation,
    pub(super) candidates: Vec<Candidate>,
    /// Best candidate that needs code which the library does not have, with its means over the servers of the search.
    pub(super) by_code: Option<(usize, Observed)>,
    pub(super) any_rejected: bool,
    /// Best candidates that change only the library or only the workers, and were not chosen.
    pub(super) no_help: Vec<NoHelp>,
}

const TODAY: usize = 0;

impl Recommender<'_> {
    /// Makes all runs and decides. `None` after an interrupt.
    ///
    /// # Errors
    /// Fails if no candidate gets an op done on the nominal server, or if none keeps `--max-rejected`.
    pub(super) fn recommend(&self) -> anyhow::Result<Option<Answered>> {
        let Some(searched) = self.search()? else { return Ok(None) };
        let Searched { search, candidates, eligible, .. } = &searched;
        let (table, servers) = (search.table(), search.servers());
        let changes: Vec<usize> = candidates.iter().map(|candidate| candidate.changes.len()).collect();
        self.refuse_hopeless(&searched)?;
        let Some(winner) = choose(table, eligible, &changes, &servers) else {
            return Err(Fatal::error(
                Exit::Unmet,
                "no setting ran on all servers; name fewer figures with `--unsure`",
            ));
        };
        // If today's setting is the best, it is compared with the best other one, to show how far apart they are.
        let others: Vec<usize> = eligible.iter().copied().filter(|candidate| *candidate != TODAY).collect();
        let other = if winner == TODAY { choose(table, &others, &changes, &servers) } else { Some(winner) };
        let compared: Vec<&Candidate> =
            std::iter::once(TODAY).chain(other).map(|number| &candidates[number]).collect();
        let Some((fresh_servers, seeds, rows)) = self.bench.fresh(&compared)? else { return Ok(None) };
        let Some(nominal) = self.bench.nominal(&compared)? else { return Ok(None) };
        let (of_today, of_other) = (&rows[0], rows.last().unwrap_or(&rows[0]));
        let pairs = of_today.iter().zip(of_other);
        let pairs = pairs.map(|(today, chosen)| FreshServer { today: *today, chosen: *chosen }).collect();
        let fresh = Fresh::new(pairs, self.bench.seed).expect("there are fresh servers");
        let today_is_allowed = eligible.contains(&TODAY);
        let is_change = winner != TODAY && (fresh.is_worth_a_change() || !today_is_allowed);
        let chosen = if is_change { winner } else { TODAY };
        let Some(look_ups) = self.look_ups(&searched, &changes, chosen)? else { return Ok(None) };
        let document = Recommendation {
            schema_version: SchemaVersion::default(),
            decision: if is_change { Decision::Change } else { Decision::Keep },
            goal: match self.bench.goal {
                Goal::Finish => RecommendationGoal::Finish,
                Goal::InTime => RecommendationGoal::InTime,
            },
            settings: snippets::changes(&candidates[chosen]),
            today: TODAY,
            chosen,
            assumptions: self.bench.ranges.iter().map(|range| self.assumption(range)).collect(),
            servers: self.bench.servers[..servers.len()]
                .iter()
                .map(|server| self.tried_server(server))
                .collect(),
            candidates: searched.tried(),
            nominal: self.nominal(&nominal, other),
            fresh: self.fresh(&fresh, (&fresh_servers, seeds), other.unwrap_or(TODAY)),
            look_ups,
            search_attempts: whole(searched.attempts),
            left_out: LeftOut {
                servers: search.shortened().servers,
                candidates: search.shortened().candidates,
            },
            library_settings: snippets::written(&candidates[chosen]),
            again: again(&self.bench.flags, &candidates[TODAY], other.map(|other| &candidates[other])),
        };
        let by_code = searched.by_code(&changes);
        let no_help = searched.no_help(&changes, chosen);
        let any_rejected = table.runs(TODAY, &servers).iter().any(|run| run.rejected > 0.0);
        Ok(Some(Answered { document, candidates: searched.candidates, by_code, any_rejected, no_help }))
    }

    /// Returns the look-ups that further runs confirm. `None` after an interrupt.
    fn look_ups(
        &self,
        searched: &Searched,
        changes: &[usize],
        chosen: usize,
    ) -> anyhow::Result<Option<Vec<LookUpRecord>>> {
        let Searched { search, candidates, eligible, .. } = searched;
        // Without all ends and corners, a part of a range may have no server of its own.
        let tried = &self.bench.servers[..search.servers().len()];
        if self.bench.servers[tried.len()..].iter().any(|server| !server.drawn) {
            return Ok(Some(Vec::new()));
        }
        let of_servers = (&*self.bench.ranges, tried);
        let mut records = Vec::new();
        for look_up in look_ups(search.table(), (eligible, changes), chosen, of_servers) {
            let pair = [&candidates[chosen], &candidates[look_up.candidate]];
            let mut runs = Vec::new();
            for server in &look_up.servers {
                let Some(observed) = self.bench.on(server, &pair)? else { return Ok(None) };
                runs.push((observed[0], observed[1]));
            }
            records.extend(look_up.confirmed(&runs).map(|found| LookUpRecord {
                key: found.key,
                condition: found.condition,
                candidate: found.candidate,
                points: found.points,
                cost_ratio: found.cost_ratio,
            }));
            if records.len() == MAX_LOOK_UPS {
                break;
            }
        }
        Ok(Some(records))
    }

    /// Runs both stages of the search. `None` after an interrupt.
    fn search(&self) -> anyhow::Result<Option<Searched>> {
        let first_drawn = self.bench.servers.iter().filter(|server| !server.drawn).count();
        let servers = (self.bench.servers.len(), first_drawn);
        let groups = groups(&self.bench.ranges, &self.bench.servers);
        let max_rejected = self.args.max_rejected.map(Share::of_one);
        let mut search =
            Search::new(servers, groups, self.bench.ops, MAX_SEARCH_ATTEMPTS).with_max_rejected(max_rejected);
        let today = Candidate::today(self.today, self.args.strategy.clone(), self.args.workload.0.in_flight);
        let mut candidates = self.changes.of_library(&today);
        let mut attempts = 0.0;
        if !self.stage(&mut search, &candidates, 0, &mut attempts)? {
            return Ok(None);
        }
        let changes: Vec<usize> = candidates.iter().map(|candidate| candidate.changes.len()).collect();
        let ranked = ordered(search.table(), search.eligible(), &changes, &search.servers());
        let best = ranked.into_iter().filter(|candidate| *candidate != TODAY).take(BASES);
        let bases: Vec<&Candidate> =
            std::iter::once(TODAY).chain(best).map(|number| &candidates[number]).collect();
        let rates = rates(&self.bench.capacities_per_s, self.bench.instances);
        let of_client = self.changes.of_client(&bases, &rates, &candidates);
        let first = candidates.len();
        candidates.extend(of_client);
        if candidates.len() > first && !self.stage(&mut search, &candidates, first, &mut attempts)? {
            return Ok(None);
        }
        let eligible = search.eligible().to_vec();
        Ok(Some(Searched { search, candidates, eligible, attempts }))
    }

    /// Runs the candidates from `first` on. Returns false after an interrupt.
    fn stage(
        &self,
        search: &mut Search,
        candidates: &[Candidate],
        first: usize,
        attempts: &mut f64,
    ) -> anyhow::Result<bool> {
        let are_eligible: Vec<bool> =
            candidates[first..].iter().map(|candidate| !candidate.is_by_code).collect();
        search.begin_stage(&are_eligible);
        while let Some((server, running)) = search.next_server() {
            let refs: Vec<&Candidate> = running.iter().map(|number| &candidates[*number]).collect();
            let Some(observed) = self.bench.search(server, &refs)? else { return Ok(false) };
            *attempts += observed.iter().map(|run| run.attempts).sum::<f64>();
            search.record(server, &running, &observed);
        }
        Ok(true)
    }

    fn refuse_hopeless(&self, searched: &Searched) -> anyhow::Result<()> {
        let Searched { search, candidates, eligible, .. } = searched;
        let does_some =
            |candidate: &usize| search.table().get(*candidate, 0).is_some_and(|run| run.succeeded > 0.0);
        let all: Vec<usize> =
            (0..candidates.len()).filter(|number| !candidates[*number].is_by_code).collect();
        if !all.iter().any(does_some) {
            let words = "no setting gets an op done on the nominal server; check the server's flags, such as --fault, --loss and --timeout";
            return Err(Fatal::error(Exit::Unmet, words));
        }
        if !eligible.iter().any(|candidate| search.table().has_all(*candidate, &search.servers())) {
            let share = self.args.max_rejected.map_or(0.0, |share| 100.0 * share.of_one());
            let words = format!(
                "no setting keeps rejections within {share} % on every server (--max-rejected); allow more, or let more change (--change)"
            );
            return Err(Fatal::error(Exit::Unmet, words));
        }
        Ok(())
    }

    fn assumption(&self, range: &Range) -> Assumption {
        Assumption {
            key: range.key.clone(),
            nominal: range.nominal.clone(),
            plausible: range.text(),
            assumed: self.are_assumed,
        }
    }

    fn changes_of(&self, server: &PlausibleServer) -> BTreeMap<String, String> {
        server.changes(&self.bench.ranges).map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn tried_server(&self, server: &PlausibleServer) -> TriedServer {
        TriedServer { changes: self.changes_of(server), drawn: server.drawn }
    }

    fn nominal(&self, runs: &[RunResult], other: Option<usize>) -> NominalRuns {
        let run = |candidate: usize, run: &RunResult| NominalRun {
            candidate,
            ops_succeeded: run.ops.succeeded,
            done_share: run.done_share,
            makespan_s: run.makespan_s,
            attempts: run.attempts.total,
            attempts_per_success: run.attempts_per_success,
        };
        let other = other.zip(runs.get(1)).map(|(candidate, result)| run(candidate, result));
        NominalRuns { seed: self.bench.seed, today: run(TODAY, &runs[0]), other }
    }

    fn fresh(&self, fresh: &Fresh, (servers, seeds): (&[PlausibleServer], u32), other: usize) -> FreshRuns {
        let server = |(server, runs): (&PlausibleServer, &FreshServer)| FreshServerRuns {
            changes: self.changes_of(server),
            today_undone: runs.today.undone,
            other_undone: runs.chosen.undone,
            today_cost: finite(runs.today.cost),
            other_cost: finite(runs.chosen.cost),
        };
        let of = |runs: Vec<Observed>| {
            let mean = Observed::mean(&runs).expect("there are fresh servers");
            let undone = || runs.iter().map(|run| run.undone);
            FreshFigures {
                undone: mean.undone,
                least_undone: undone().fold(1.0, f64::min),
                most_undone: undone().fold(0.0, f64::max),
                makespan_s: finite(mean.makespan_s),
                attempts_per_success: mean.attempts_per_success(),
                rejected_per_100_ops: mean.rejected_per_100_ops(),
            }
        };
        FreshRuns {
            other,
            seeds,
            servers: servers.iter().zip(&fresh.servers).map(server).collect(),
            today: of(fresh.servers.iter().map(|server| server.today).collect()),
            of_other: of(fresh.servers.iter().map(|server| server.chosen).collect()),
            points: fresh.points,
            points_low: fresh.interval.low,
            points_high: fresh.interval.high,
            cost_ratio: fresh.cost_ratio,
            better: fresh.better,
            same: fresh.same,
            worse: fresh.worse.clone(),
        }
    }
}

fn whole(attempts: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of counts")]
    let attempts = attempts as u64;
    attempts
}

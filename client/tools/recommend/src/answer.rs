//! From the runs to the answer: search, decision, fresh check and document.

use experiments::checks::Share;
use results::numbers::counted;
use results::{RunResult, SchemaVersion};
use shell::exit::{Exit, Fatal};
use vocabulary::duration_text;

use crate::args::RecommendArgs;
use crate::bench::Bench;
use crate::budget::{MAX_SEARCH_ATTEMPTS, share_of_ops};
use crate::candidate::{Candidate, Candidates, Change, MAX_CANDIDATES, RateLimit, rates, with_rate};
use crate::decision::{choose, ordered};
use crate::flags::{Flags, quoted};
use crate::fresh::Sample;
use crate::look_up::{MAX_LOOK_UPS, groups, look_ups};
use crate::observed::{Observed, RunTable, whole};
use crate::range::Range;
use crate::recommendation::{
    Assumption, Decision, FreshRuns, HoldsFor, LookUpRecord, NominalRun, NominalRuns, Obeying,
    Recommendation, TriedServer,
};
use crate::search::Search;
use crate::searched::{NoHelp, Searched};
use crate::servers::{PlausibleServer, extremes};

/// Number of the library's settings, besides today's, that are tried with fewer workers and with a rate.
const BASES: usize = 2;
/// Number of times that the best setting is changed further.
const ROUNDS: usize = 3;
/// Number of settings that run with all ops if the search made shorter runs.
const FINALISTS: usize = 3;
/// Factor by which a run is longer that shows whether a setting also holds for more ops.
const LONGER: f64 = 10.0;
/// Number of servers on which a longer run shows it.
const LONGER_SERVERS: usize = 3;
/// A setting whose ops are done at more than this times the server's capacity may hold only for a short run.
const AT_CAPACITY: f64 = 0.97;
/// Share of the ops above which a longer run leaves more undone.
const MORE_UNDONE: f64 = 0.01;

pub(super) struct Recommender<'a> {
    pub bench: Bench<'a>,
    pub args: &'a RecommendArgs,
    pub today: &'a str,
    pub are_assumed: bool,
    pub changes: Candidates,
}

/// Recommendation as a document, with further results of the search that the printed text needs.
pub(super) struct Answered {
    pub document: Recommendation,
    /// Candidates that change only the library and need no code.
    pub of_library: Vec<usize>,
    /// Best candidate that needs code which the library does not have, with its means over the servers of the search.
    pub by_code: Option<(usize, Observed)>,
    pub any_rejected: bool,
    /// Best candidates that change only the library or only the workers, and were not chosen.
    pub no_help: Vec<NoHelp>,
}

const TODAY: usize = 0;

impl Recommender<'_> {
    /// Makes all runs and decides.
    ///
    /// # Errors
    /// Fails if no candidate gets an op done on the nominal server, if none keeps `--max-rejected`, or after an interrupt.
    pub(super) fn recommend(&self) -> anyhow::Result<Answered> {
        let searched = self.search()?;
        let Searched { table, servers, candidates, eligible, .. } = &searched;
        self.refuse_hopeless(&searched)?;
        let Some(winner) = choose(table, eligible, servers) else {
            return Err(Fatal::error(
                Exit::Unmet,
                "no setting ran on all servers; name fewer figures with `--unsure`",
            ));
        };
        // If today's setting is the best, it is compared with the best other one, to show how far apart they are.
        let others: Vec<usize> = eligible.iter().copied().filter(|candidate| *candidate != TODAY).collect();
        let other = if winner == TODAY { choose(table, &others, servers) } else { Some(winner) };
        let (today, of_other) = (&candidates[TODAY], other.map(|other| &candidates[other]));
        let compared: Vec<&Candidate> = std::iter::once(today).chain(of_other).collect();
        let bench = &self.bench;
        let (rows, nominal) = (bench.fresh(&compared)?, bench.nominal(&compared)?);
        if rows.iter().flatten().all(|run| run.undone >= 1.0) {
            return Err(Fatal::error(Exit::Unmet, self.no_setting_can(candidates.len() - 1)));
        }
        let goal = bench.goal;
        let changes_of = |server: &PlausibleServer| server.changes(&bench.ranges);
        let shown = other.unwrap_or(TODAY);
        let samples = [(TODAY, rows.first()), (shown, rows.last())].map(|(candidate, fresh)| Sample {
            fresh: fresh.cloned().unwrap_or_default(),
            search: table.runs(candidate, servers),
        });
        let fresh_changes = bench.fresh_servers().iter().map(changes_of).collect();
        let fresh = FreshRuns::new((shown, bench.fresh_seeds()), fresh_changes, &samples, goal, bench.seed)
            .expect("there are fresh servers");
        let is_change = winner != TODAY && (fresh.is_worth_a_change(goal) || !eligible.contains(&TODAY));
        let chosen = if is_change { winner } else { TODAY };
        let look_ups = self.look_ups(&searched, chosen)?;
        let holds_for = self.holds_for(&searched, chosen, servers)?;
        bench.refuse_if_interrupted()?;
        let assumption = |range: &Range| Assumption {
            key: range.key.clone(),
            nominal: range.nominal.clone(),
            plausible: range.text(),
            assumed: self.are_assumed,
        };
        let tried_server =
            |server: &PlausibleServer| TriedServer { changes: changes_of(server), drawn: server.drawn };
        let run = |candidate: usize, run: &RunResult| NominalRun {
            candidate,
            ops_succeeded: run.ops.succeeded,
            done_share: run.done_share,
            makespan_s: run.makespan_s,
            attempts: run.attempts.total,
            attempts_per_success: run.attempts_per_success,
        };
        let document = Recommendation {
            schema_version: SchemaVersion::default(),
            decision: if is_change { Decision::Change } else { Decision::Keep },
            goal,
            within_s: self.args.workload.0.within.map(|within| within.as_secs_f64()),
            holds_for,
            settings: candidates[chosen].changes.iter().map(Change::setting).collect(),
            today: TODAY,
            chosen,
            assumptions: bench.ranges.iter().map(assumption).collect(),
            servers: bench.servers[..servers.len()].iter().map(tried_server).collect(),
            candidates: searched.tried(),
            nominal: NominalRuns {
                seed: bench.seed,
                today: run(TODAY, &nominal[0]),
                other: other.zip(nominal.get(1)).map(|(candidate, result)| run(candidate, result)),
            },
            fresh,
            look_ups,
            obeying: self.obeying(candidates)?,
            search_attempts: whole(searched.attempts),
            left_out: searched.left_out,
            library_settings: candidates[chosen].library_settings(),
            again: again(&bench.nominal_flags(), today, of_other),
        };
        let is_of_library = |number: &usize| {
            let candidate = &candidates[*number];
            candidate.is_of_library() && !candidate.is_by_code
        };
        Ok(Answered {
            document,
            of_library: (0..candidates.len()).filter(is_of_library).collect(),
            by_code: searched.by_code(),
            any_rejected: table.runs(TODAY, servers).iter().any(|run| run.rejected > 0.0),
            no_help: searched.no_help(chosen),
        })
    }

    /// Returns the least price of obeying the server's advice with all ops, if the server limits concurrent requests. There a slot is free
    /// as soon as any request ends, long before the advised instant.
    fn obeying(&self, candidates: &[Candidate]) -> anyhow::Result<Option<Obeying>> {
        if !self.bench.limits_slots || !self.bench.sends_advice {
            return Ok(None);
        }
        let pairs = candidates.iter().filter_map(|candidate| Some((candidate, candidate.without_gate()?)));
        let (gated, without): (Vec<&Candidate>, Vec<Candidate>) = pairs.unzip();
        let runs = self.bench.nominal(&gated)?;
        let finished = runs.iter().enumerate().filter_map(|(index, run)| Some((index, run.makespan_s?)));
        let Some((cheapest, least_s)) = finished.min_by(|one, other| one.1.total_cmp(&other.1)) else {
            return Ok(None);
        };
        let (gated, without) = (gated[cheapest], &without[cheapest]);
        let [goes_on] = &self.bench.nominal(&[without])?[..] else { return Ok(None) };
        let makespans = goes_on.makespan_s.filter(|without| *without > 0.0).map(|without| (least_s, without));
        let early_requests = goes_on.advice.early_shared;
        Ok(makespans.filter(|_| early_requests > 0).map(|(with, other)| Obeying {
            strategy: gated.text.clone(),
            without: without.text.clone(),
            makespan_ratio: with / other,
            early_requests,
        }))
    }

    /// Returns the look-ups that further runs confirm.
    fn look_ups(&self, searched: &Searched, chosen: usize) -> anyhow::Result<Vec<LookUpRecord>> {
        let Searched { table, servers, candidates, eligible, .. } = searched;
        // Without all ends and corners, a part of a range may have no server of its own.
        let tried = &self.bench.servers[..servers.len()];
        if self.bench.servers[tried.len()..].iter().any(|server| !server.drawn) {
            return Ok(Vec::new());
        }
        let fresh = self.bench.fresh_servers();
        let of_servers = (&*self.bench.ranges, tried, &*fresh);
        let mut records = Vec::new();
        for look_up in look_ups(table, eligible, chosen, of_servers) {
            let pair = [&candidates[chosen], &candidates[look_up.candidate]];
            let mut runs = Vec::new();
            for (server, seed) in look_up.servers.iter().zip(1..) {
                let on = (server, self.bench.seed.wrapping_sub(seed));
                let observed = self.bench.on(on, &pair, 1.0)?;
                runs.push((observed[0], observed[1]));
                if runs.last().is_some_and(LookUpRecord::is_refuted_by) {
                    break;
                }
            }
            let Some(mut found) = look_up.confirmed(self.bench.goal, &runs) else { continue };
            found.holds_for = self.holds_for(searched, found.candidate, &found.tried)?;
            records.push(found);
            if records.len() == MAX_LOOK_UPS {
                break;
            }
        }
        Ok(records)
    }

    fn no_setting_can(&self, others: usize) -> String {
        let within = self.args.workload.0.within.map(duration_text::format);
        let (in_time, check) = match &within {
            Some(within) => (format!(" within {within}"), "--within and "),
            None => (String::new(), ""),
        };
        format!(
            "No setting can: not one op is done{in_time} on any fresh server, with today's setting or {}; check {check}the server's flags",
            counted(others as u64, "other")
        )
    }

    /// Returns for how many ops alone a setting holds on these servers. `None` if it also holds for many more.
    ///
    /// Only a burst lets a server do more than its capacity, and at the capacity a single rejection can be one of many. The setting therefore
    /// runs ten times as long on the servers whose capacity it uses most.
    fn holds_for(
        &self,
        searched: &Searched,
        setting: usize,
        servers: &[usize],
    ) -> anyhow::Result<Option<HoldsFor>> {
        let used = |server: &usize| {
            let run = searched.table.get(setting, *server)?;
            let capacity = self.bench.limits_per_s[*server].iter().copied().reduce(f64::min)?;
            Some((run.succeeded / run.makespan_s / capacity, run.undone, *server))
        };
        let mut used: Vec<_> =
            servers.iter().filter_map(used).filter(|(used, ..)| *used > AT_CAPACITY).collect();
        used.sort_by(|one, other| other.0.total_cmp(&one.0));
        used.truncate(LONGER_SERVERS);
        let longer = |candidate: &Candidate| -> anyhow::Result<f64> {
            let mut most = 0.0_f64;
            for (_, undone, server) in &used {
                let on = (&self.bench.servers[*server], self.bench.seed);
                most = most.max(self.bench.on(on, &[candidate], LONGER)?[0].undone - undone);
            }
            Ok(most)
        };
        let setting = &searched.candidates[setting];
        let more_undone_of_longer = longer(setting)?;
        if more_undone_of_longer <= MORE_UNDONE {
            return Ok(None);
        }
        let rates = self.rates();
        let safe = rates.iter().position(|rate| !rate.is_below_capacity).map_or(0, |lowest| lowest + 1);
        let mut rate_for_any_number_per_s = None;
        for rate in rates[..safe].iter().rev().filter(|rate| setting.rate() != Some(**rate)) {
            let text = with_rate(&setting.text, *rate);
            if longer(&Candidate { spec: text.parse()?, text, ..setting.clone() })? <= MORE_UNDONE {
                rate_for_any_number_per_s = Some(rate.per_s);
                break;
            }
        }
        Ok(Some(HoldsFor { ops: self.bench.ops, more_undone_of_longer, rate_for_any_number_per_s }))
    }

    fn rates(&self) -> Vec<RateLimit> {
        rates(&self.bench.limits_per_s, self.bench.instances)
    }

    fn new_search(&self, share: f64) -> Search {
        let Bench { servers, ranges, goal, ops, .. } = &self.bench;
        let first_drawn = servers.iter().filter(|server| !server.drawn).count();
        let ops = whole(*ops as f64 * share);
        let counts = (servers.len(), extremes(servers), first_drawn);
        let mut search = Search::new(*goal, counts, groups(ranges, servers), (ops, MAX_SEARCH_ATTEMPTS));
        search.max_rejected = self.args.max_rejected.map(Share::of_one);
        search
    }

    /// Runs all stages of the search.
    fn search(&self) -> anyhow::Result<Searched> {
        let share = share_of_ops(self.bench.ops, self.bench.servers.len());
        let mut search = self.new_search(share);
        let today = Candidate::today(self.today, self.args.strategy.clone(), self.args.workload.0.in_flight);
        let mut candidates = self.changes.of_library(&today, self.bench.sends_advice);
        self.stage(&mut search, &candidates, share)?;
        let bases = today_and_best(&search.table, &search.eligible, &search.servers(), BASES);
        let bases: Vec<&Candidate> = bases.into_iter().map(|number| &candidates[number]).collect();
        let rates = self.rates();
        let mut of_client = self.changes.of_client(&bases, &rates, &candidates, MAX_CANDIDATES);
        // The best setting is changed further, so that it stays the best if it is fed back as today's.
        for _ in 0..=ROUNDS {
            if of_client.is_empty() {
                break;
            }
            let first = candidates.len();
            candidates.append(&mut of_client);
            self.stage(&mut search, &candidates[first..], share)?;
            let (table, servers) = (&search.table, search.servers());
            let best = choose(table, &search.eligible, &servers).filter(|best| *best != TODAY);
            let Some(best) = best else { break };
            of_client = self.changes.of_client(&[&candidates[best]], &rates, &candidates, usize::MAX);
            // Fewer workers need no code. If the best setting without a rate does as much, it gets the same chance.
            let undone =
                |number: usize| Observed::mean(&table.runs(number, &servers)).map(|mean| mean.undone);
            let does_as_much =
                |number: &usize| candidates[*number].rate().is_none() && undone(*number) <= undone(best);
            let without_rate: Vec<usize> = search.eligible.iter().copied().filter(does_as_much).collect();
            let bases = choose(table, &without_rate, &servers).into_iter().chain([best]);
            let bases: Vec<_> = bases.map(|number| &candidates[number]).collect();
            let tried = [&*candidates, &*of_client].concat();
            of_client.extend(self.changes.finer(&bases, &tried));
        }
        let mut searched = Searched {
            servers: search.servers(),
            table: search.table,
            left_out: search.left_out,
            eligible: search.eligible,
            candidates,
            attempts: search.budget.used,
        };
        if share < 1.0 {
            self.run_with_all_ops(&mut searched)?;
        }
        Ok(searched)
    }

    /// Runs the best candidates of a search that made short runs with all ops, because a short run lives on the server's burst.
    fn run_with_all_ops(&self, searched: &mut Searched) -> anyhow::Result<()> {
        let Searched { table, servers, candidates, eligible, .. } = &*searched;
        let finalists = today_and_best(table, eligible, servers, FINALISTS);
        let mut search = self.new_search(1.0);
        self.stage(&mut search, finalists.iter().map(|number| &candidates[*number]), 1.0)?;
        searched.attempts += search.budget.used;
        searched.servers = search.servers();
        for (row, finalist) in finalists.iter().enumerate() {
            if !search.eligible.contains(&row) {
                searched.eligible.retain(|candidate| candidate != finalist);
            }
        }
        searched.left_out.servers = search.left_out.servers;
        searched.left_out.candidates += search.left_out.candidates;
        searched.table.replace(&finalists, search.table);
        Ok(())
    }

    /// Runs new candidates.
    fn stage<'a>(
        &self,
        search: &mut Search,
        new: impl IntoIterator<Item = &'a Candidate>,
        share: f64,
    ) -> anyhow::Result<()> {
        let new: Vec<&Candidate> = new.into_iter().collect();
        let first = search.table.candidates();
        search.begin_stage(&new);
        while let Some((server, running)) = search.next_server() {
            let refs: Vec<&Candidate> = running.iter().map(|number| new[*number - first]).collect();
            search.record(server, &running, &self.bench.search(server, &refs, share)?);
        }
        Ok(())
    }

    fn refuse_hopeless(&self, searched: &Searched) -> anyhow::Result<()> {
        let Searched { table, servers, candidates, eligible, .. } = searched;
        let does_some = |(number, candidate): (usize, &Candidate)| {
            !candidate.is_by_code && table.get(number, 0).is_some_and(|run| run.succeeded > 0.0)
        };
        if !candidates.iter().enumerate().any(does_some) {
            let words = "no setting gets an op done on the nominal server; check the server's flags, such as --fault, --loss and --timeout";
            return Err(Fatal::error(Exit::Unmet, words));
        }
        if !eligible.iter().any(|candidate| table.has_all(*candidate, servers)) {
            let share = self.args.max_rejected.map_or(0.0, |share| 100.0 * share.of_one());
            let words = format!(
                "no setting keeps rejections within {share} % on every server (--max-rejected); allow more, or let more change (--change)"
            );
            return Err(Fatal::error(Exit::Unmet, words));
        }
        Ok(())
    }
}

/// Returns today's setting and the best `count` others, the best one first.
fn today_and_best(table: &RunTable, eligible: &[usize], servers: &[usize], count: usize) -> Vec<usize> {
    let best = ordered(table, eligible, servers).into_iter().filter(|candidate| *candidate != TODAY);
    std::iter::once(TODAY).chain(best.take(count)).collect()
}

/// Returns the command that runs today's setting and the other one on the nominal server, with the seed of the search.
fn again(flags: &Flags, today: &Candidate, other: Option<&Candidate>) -> String {
    let same_text = other.is_none_or(|other| other.text == today.text);
    let strategies = match other {
        Some(other) if !same_text => quoted(&format!("{},{}", today.text, other.text)),
        _ => quoted(&today.text),
    };
    let words = |flags: &Flags| flags.words().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let workers = other.filter(|other| other.in_flight != today.in_flight).and_then(|other| other.in_flight);
    let command = match (workers, today.in_flight) {
        (Some(workers), Some(of_today)) => format!(
            "loadgen sweep --simulate --repeats 1 --strategies {strategies} --vary in-flight={workers},{of_today} {}",
            words(&flags.without("in-flight"))
        ),
        _ if same_text => format!("loadgen --simulate --strategy {strategies} {}", words(flags)),
        _ => format!("loadgen compare --simulate --repeats 1 --strategies {strategies} {}", words(flags)),
    };
    command.trim_end().to_owned()
}

//! The real-time driver: passes events to the client state machine and executes its outputs.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as RealInstant};

use loadgen_core::{Input, Latencies, LatencyFigures, Run};
use timers::Timer;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use vocabulary::{Instant, TimeScale};

use crate::clock::Clock;
use crate::control::{Command, Control};
use crate::rusage::thread_times;
use crate::transport::{Transport, WarmUp};
use crate::workers::Hub;

/// Maximum real time that the driver waits for connections before the run. A connection that takes longer does not count as ready.
const WARM_UP_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
pub struct DriveOptions {
    /// Real time for which attempts in flight may continue after a stop request.
    pub grace: Duration,
    pub warm_connections: usize,
}

impl Default for DriveOptions {
    fn default() -> Self {
        Self { grace: Duration::from_secs(2), warm_connections: 0 }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct DriveReport {
    /// Real time from the first event of the run to the last.
    pub wall: Duration,
    /// Processor time of all threads that carry attempts, in total.
    pub cpu: Option<Duration>,
    /// Time for which the busiest of the threads that carry attempts ran or waited for a processor.
    pub busiest: Option<Duration>,
    /// Times that attempts waited for a connection, because no connection was free and no further one was allowed.
    pub connection_waits: LatencyFigures,
    /// Number of connections that a run opened, including those opened before its clock started.
    pub connections: u64,
    /// Times that it took to establish each connection, in real time.
    pub connect_times: LatencyFigures,
    /// Number of times that a request was sent again within its attempt, because the server did not process it.
    pub resent: u64,
    /// Connections opened before the run. All fields are 0 if a stop request ended this phase early.
    pub warm_up: WarmUp,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    #[error("the runtime of the run could not be started")]
    Runtime(#[source] io::Error),
    #[error("the timer that paces the run could not be used")]
    Timer(#[source] io::Error),
    #[error(
        "the server answered on none of {connections} connections within {} s, although it had answered before; see whether \
         it is stopped, overloaded, or full (`mockserver --max-connections`)",
        WARM_UP_PATIENCE.as_secs()
    )]
    Silent { connections: usize },
    #[error("a worker of the run stopped with an error of this program; its message is above")]
    Broken,
}

/// Drives `run` to its end over the given transports, and returns it. The calling thread runs the driver, and the workers and connections
/// of the first transport. Each other transport has a thread of its own.
pub(crate) fn drive_on_this_thread<T: Transport>(
    mut run: Run,
    transports: Vec<T>,
    scale: TimeScale,
    control: &Control,
    options: DriveOptions,
) -> Result<(Run, DriveReport), DriveError> {
    let runtime = runtime().map_err(DriveError::Runtime)?;
    let helpers: Vec<Helper> =
        (1..transports.len()).map(Helper::start).collect::<Result<_, _>>().map_err(DriveError::Runtime)?;
    let handles = std::iter::once(runtime.handle()).chain(helpers.iter().map(|helper| &helper.handle));
    let lanes: Vec<_> = handles.cloned().zip(transports).collect();
    let report = runtime.block_on(async {
        let warm_up = before_run(&mut run, control, warm_up(&lanes, options.warm_connections)).await;
        let warm_up = warm_up.transpose()?.unwrap_or_default();
        // The clock starts only when the connections are ready, so that the first arrivals are not late.
        let (run, report) = drive(run, lanes, Clock::start(scale), control, options).await?;
        Ok((run, DriveReport { warm_up, ..report }))
    });
    // Does not wait for connections on which an answer is still outstanding.
    runtime.shutdown_background();
    let others: Vec<_> = helpers.into_iter().filter_map(Helper::end).collect();
    let (run, mut report) = report?;
    report.busiest = report.busiest.max(others.iter().map(|[_, demand]| *demand).max());
    report.cpu = report.cpu.map(|cpu| cpu + others.iter().map(|[cpu, _]| cpu).sum::<Duration>());
    Ok((run, report))
}

/// Waits for the future `what` before the run begins. A request to stop or abort ends the wait: the run then ends at its origin without
/// sending anything, and the result is `None`. Snapshots that are taken meanwhile show a run that has not begun.
async fn before_run<T>(run: &mut Run, control: &Control, what: impl Future<Output = T>) -> Option<T> {
    let mut what = pin!(what);
    loop {
        tokio::select! {
            biased;
            done = &mut what => return Some(done),
            () = control.asked() => {}
        }
        let (looks, ends): (Vec<_>, Vec<_>) =
            control.take().into_iter().partition(|command| *command == Command::Snapshot);
        if !looks.is_empty() {
            control.publish(0, false, |snapshot| run.snapshot(Instant::ORIGIN, snapshot));
        }
        if !ends.is_empty() {
            run.handle_input(Instant::ORIGIN, Input::Stop);
            return None;
        }
    }
}

/// Opens connections before the clock starts. Each lane (thread that carries attempts) opens the same number of connections. If a
/// mockserver accepts fewer than requested, each lane is limited to its accepted connections.
///
/// # Errors
/// Fails if the time is over and the server has answered on none of the connections.
async fn warm_up<T: Transport>(lanes: &[(Handle, T)], connections: usize) -> Result<WarmUp, DriveError> {
    if connections == 0 {
        return Ok(WarmUp::default());
    }
    let began = RealInstant::now();
    let each = connections.div_ceil(lanes.len());
    // All tasks in `warming` are aborted when this set of tasks is dropped.
    let mut warming = JoinSet::new();
    for (lane, (handle, transport)) in lanes.iter().enumerate() {
        let transport = transport.clone();
        let warm_up = async move { (lane, transport.warm_up(each, WARM_UP_PATIENCE).await) };
        warming.spawn_on(warm_up, handle);
    }
    let warmed = warming.join_all().await;
    let sum = |figure: fn(&WarmUp) -> usize| warmed.iter().map(|(_, warm_up)| figure(warm_up)).sum();
    let all = WarmUp { wanted: sum(|warm_up| warm_up.wanted), ready: sum(|warm_up| warm_up.ready) };
    if all.ready == 0 {
        // It is an error if no connection became ready although the whole time has passed. If all connections failed sooner, the run itself
        // reports the failure.
        let silent = all.wanted > 0 && began.elapsed() >= WARM_UP_PATIENCE;
        return if silent { Err(DriveError::Silent { connections: all.wanted }) } else { Ok(all) };
    }
    if all.ready < all.wanted {
        for (lane, warm_up) in warmed {
            lanes[lane].1.limit_connections(warm_up.ready);
        }
    }
    Ok(all)
}

/// Looks after the run: carries out commands, and lets the run continue at the instants of its events. Everything else is done by the
/// workers.
async fn drive<T: Transport>(
    run: Run,
    lanes: Vec<(Handle, T)>,
    clock: Clock,
    control: &Control,
    options: DriveOptions,
) -> Result<(Run, DriveReport), DriveError> {
    let times_before = thread_times();
    let mut timer = Timer::new().map_err(DriveError::Timer)?;
    let transports: Vec<T> = lanes.iter().map(|(_, transport)| transport.clone()).collect();
    let connections = || transports.iter().map(T::connections).sum();
    let hub = Hub::new(run, lanes, clock);
    let mut abort_at: Option<RealInstant> = None;
    let (run, waits) = loop {
        let next = {
            let mut state = hub.lock();
            let Some(mut run) = state.run.take() else { return Err(DriveError::Broken) };
            for command in control.take() {
                match command {
                    Command::Stop => {
                        abort_at.get_or_insert_with(|| RealInstant::now() + options.grace);
                        run.handle_input(clock.now(), Input::Stop);
                    }
                    Command::Abort => run.handle_input(clock.now(), Input::Abort),
                    Command::Snapshot => {
                        control.publish(connections(), false, |snapshot| run.snapshot(clock.now(), snapshot));
                    }
                }
            }
            if abort_at.is_some_and(|at| at <= RealInstant::now()) {
                run.handle_input(clock.now(), Input::Abort);
            }
            let next = state.go_on(&hub, &mut run);
            if state.is_over {
                break (*run, state.waits.figures());
            }
            state.run = Some(run);
            next
        };
        let wake_at =
            (next < Instant::FAR_FUTURE).then(|| clock.real(next)).into_iter().chain(abort_at).min();
        if wake_at.is_some_and(|at| at <= RealInstant::now()) {
            // The next event is already due. The driver first yields, so that workers can run.
            tokio::task::yield_now().await;
            continue;
        }
        tokio::select! {
            biased;
            () = hub.early.notified() => {}
            () = control.asked() => {}
            () = grown(&transports) => {}
            result = wait(&mut timer, wake_at) => result.map_err(DriveError::Timer)?,
        }
    };
    control.publish(connections(), true, |snapshot| run.snapshot(clock.now(), snapshot));
    let load = thread_times()
        .zip(times_before)
        .map(|(after, before)| [0, 1].map(|time| after[time].saturating_sub(before[time])));
    let mut connect_times = Latencies::default();
    for transport in &transports {
        connect_times.merge(&transport.connect_times());
    }
    let report = DriveReport {
        wall: clock.wall(),
        cpu: load.map(|[cpu, _]| cpu),
        busiest: load.map(|[_, demand]| demand),
        connection_waits: waits,
        connections: connections(),
        connect_times: connect_times.figures(),
        resent: transports.iter().map(T::resent).sum(),
        warm_up: WarmUp::default(),
    };
    Ok((run, report))
}

/// Waits until one of the transports has room for more attempts.
async fn grown<T: Transport>(transports: &[T]) {
    let mut grown: Vec<_> = transports.iter().map(|transport| Box::pin(transport.grown())).collect();
    poll_fn(|context| {
        let mut polled = grown.iter_mut().map(|transport| transport.as_mut().poll(context));
        polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
    })
    .await;
}

async fn wait(timer: &mut Timer, at: Option<RealInstant>) -> io::Result<()> {
    match at {
        Some(at) => timer.wait_until(at).await,
        None => std::future::pending().await,
    }
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// An additional thread that only carries attempts. It ends when `end` is called or when this handle is dropped.
struct Helper {
    handle: Handle,
    end: oneshot::Sender<()>,
    thread: JoinHandle<Option<[Duration; 2]>>,
}

impl Helper {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = runtime()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let carry = move || {
            // An error means that the sending end was dropped together with the thread's `Helper`. This ends the
            // thread, too.
            let _ = runtime.block_on(ended);
            let times = thread_times();
            // Does not wait for connections on which an answer is still outstanding.
            runtime.shutdown_background();
            times
        };
        let thread = std::thread::Builder::new().name(format!("load-{number}")).spawn(carry)?;
        Ok(Self { handle, end, thread })
    }

    /// Returns the thread's processor time, and the time for which it ran or waited for a processor.
    fn end(self) -> Option<[Duration; 2]> {
        // An error means that the thread has already ended by itself, as intended.
        let _ = self.end.send(());
        self.thread.join().ok().flatten()
    }
}

//! Test executor with one throttle. It polls calls in any order, also late or without need, and answers requests at will. Time passes
//! only when it says so.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tailback_http::{Builder, Classify, Error, Seen, Throttle};
use tokio::time::Instant;

/// Response of the test: its status, and `Retry-After` in seconds.
#[derive(Clone, Debug)]
pub(crate) struct Answer(pub http::Response<()>);

impl Answer {
    pub(crate) fn new(status: u16, retry_after: Option<u64>) -> Self {
        let builder = http::Response::builder().status(status);
        let builder = match retry_after {
            Some(seconds) => builder.header("retry-after", seconds),
            None => builder,
        };
        Self(builder.body(()).expect("the headers are valid"))
    }
}

impl Classify for Answer {
    fn classify(&self) -> Seen<'_> {
        self.0.classify()
    }
}

/// Error of the test: the connection was refused.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("refused")
    }
}

impl std::error::Error for Refused {}

impl Classify for Refused {
    fn classify(&self) -> Seen<'_> {
        Seen::NoResponse(tailback::Missing::Refused)
    }
}

pub(crate) type Outcome = Result<Answer, Error<Refused>>;

/// Step of the executor. Numbers choose one of the calls or requests to which the step can apply.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Begin,
    /// Polls a call, whether it was woken or not.
    Poll(u8),
    /// Polls a call that was woken.
    PollWoken(u8),
    Answer(u8, u16, Option<u64>),
    Drop(u8),
    Advance(Duration),
}

struct Task {
    future: Pin<Box<dyn Future<Output = Outcome>>>,
    woken: Arc<Flag>,
}

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// State that requests share with the executor.
#[derive(Default)]
pub(crate) struct Server {
    /// Requests that run, by number, with their answers and the wakers of their calls.
    running: RefCell<BTreeMap<u64, Running>>,
    next: Cell<u64>,
    /// Latest instant before which the server asked to send nothing, as far as a call received it.
    held_until: Cell<Option<Instant>>,
    pub starts: RefCell<Vec<Instant>>,
    pub early: Cell<u32>,
    pub most_running: Cell<usize>,
}

impl Server {
    /// Starts a request, which ends when its answer is there and its call is polled.
    fn request(self: &Rc<Self>) -> impl Future<Output = Result<Answer, Refused>> + use<> {
        let (server, number) = (self.clone(), self.next.get());
        self.next.set(number + 1);
        self.starts.borrow_mut().push(Instant::now());
        if self.held_until.get().is_some_and(|until| Instant::now() < until) {
            self.early.set(self.early.get() + 1);
        }
        self.running.borrow_mut().insert(number, (None, None));
        self.most_running.set(self.most_running.get().max(self.running.borrow().len()));
        let request = Request { server, number };
        async move { std::future::poll_fn(|context| request.poll(context)).await }
    }
}

type Running = (Option<Result<Answer, Refused>>, Option<Waker>);

struct Request {
    server: Rc<Server>,
    number: u64,
}

impl Request {
    fn poll(&self, context: &mut Context<'_>) -> Poll<Result<Answer, Refused>> {
        let mut running = self.server.running.borrow_mut();
        let (answer, waker) = running.get_mut(&self.number).expect("a request runs until it is dropped");
        let Some(answer) = answer.take() else {
            *waker = Some(context.waker().clone());
            return Poll::Pending;
        };
        if let Ok(Answer(response)) = &answer
            && let Some(seconds) = response.headers().get("retry-after")
        {
            let seconds = seconds.to_str().expect("it is a number").parse().expect("it is a number");
            let until = Instant::now() + Duration::from_secs(seconds);
            self.server.held_until.set(self.server.held_until.get().max(Some(until)));
        }
        Poll::Ready(answer)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.server.running.borrow_mut().remove(&self.number);
    }
}

pub(crate) struct World {
    pub throttle: Throttle,
    pub server: Rc<Server>,
    tasks: Vec<Task>,
    pub results: Vec<Outcome>,
}

impl World {
    pub(crate) fn new(spec: &str, settings: impl Fn(Builder) -> Builder) -> Self {
        let spec = spec.parse().unwrap_or_else(|error| panic!("{spec}: {error}"));
        let throttle =
            settings(Throttle::builder(spec).unlimited().seed(7).record()).build().expect("it is fit");
        Self { throttle, server: Rc::default(), tasks: Vec::new(), results: Vec::new() }
    }

    pub(crate) async fn take(&mut self, step: &Step) {
        match *step {
            Step::Begin => self.begin(),
            Step::Poll(pick) => {
                if let Some(task) = picked(self.tasks.len(), pick) {
                    self.poll(task);
                }
            }
            Step::PollWoken(pick) => {
                let woken: Vec<usize> = self.woken();
                if let Some(place) = picked(woken.len(), pick) {
                    self.poll(woken[place]);
                }
            }
            Step::Answer(pick, status, advice) => self.answer(pick, Ok(Answer::new(status, advice))),
            Step::Drop(pick) => {
                if let Some(task) = picked(self.tasks.len(), pick) {
                    drop(self.tasks.swap_remove(task));
                }
            }
            Step::Advance(time) => tokio::time::advance(time).await,
        }
        assert!(self.throttle.in_flight() >= self.server.running.borrow().len());
    }

    pub(crate) fn begin(&mut self) {
        let (throttle, server) = (self.throttle.clone(), self.server.clone());
        let future = Box::pin(async move { throttle.run_idempotent(|_| server.request()).await });
        let woken = Arc::new(Flag(AtomicBool::new(true)));
        self.tasks.push(Task { future, woken });
    }

    pub(crate) fn answer(&mut self, pick: u8, answer: Result<Answer, Refused>) {
        let mut running = self.server.running.borrow_mut();
        let open: Vec<u64> =
            running.iter().filter(|(_, (answer, _))| answer.is_none()).map(|(number, _)| *number).collect();
        let Some(place) = picked(open.len(), pick) else { return };
        let (waiting, waker) = running.get_mut(&open[place]).expect("it runs");
        *waiting = Some(answer);
        let waker = waker.take();
        drop(running);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn woken(&self) -> Vec<usize> {
        let is_woken = |task: &Task| task.woken.0.load(Ordering::SeqCst);
        (0..self.tasks.len()).filter(|task| is_woken(&self.tasks[*task])).collect()
    }

    fn poll(&mut self, task: usize) {
        let Task { future, woken } = &mut self.tasks[task];
        woken.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(woken.clone());
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            self.results.push(result);
            drop(self.tasks.swap_remove(task));
        }
    }

    pub(crate) fn open(&self) -> usize {
        self.tasks.len()
    }

    /// Polls only calls that were woken, and answers every request with success, until no call is open. Returns whether that happened
    /// within a day.
    pub(crate) async fn drain(&mut self) -> bool {
        for _ in 0..2000 {
            loop {
                while let Some(task) = self.woken().pop() {
                    self.poll(task);
                }
                if self.server.running.borrow().is_empty() {
                    break;
                }
                self.answer(0, Ok(Answer::new(200, None)));
                if self.woken().is_empty() {
                    // An answer waits for a call that was not woken, which would be a lost wake-up.
                    break;
                }
            }
            if self.tasks.is_empty() {
                return true;
            }
            tokio::time::advance(Duration::from_secs(40)).await;
        }
        false
    }
}

fn picked(count: usize, pick: u8) -> Option<usize> {
    (count > 0).then(|| usize::from(pick) % count)
}

/// Runs a test on a paused clock.
pub(crate) fn on_paused_clock<R>(test: impl Future<Output = R>) -> R {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().expect("a runtime").block_on(test)
}

//! Plain servers without any code of this project, correct and faulty ones, each in a thread of the test.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) line: String,
    /// Headers, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

pub(crate) struct ForeignServer {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<ReceivedRequests>>,
}

#[derive(Default)]
struct ReceivedRequests {
    work: Vec<Request>,
    /// Requests to admin endpoints, which check whether this is a mockserver.
    questions: Vec<Request>,
}

pub(crate) trait Connection: Read + Write {}
impl<T: Read + Write> Connection for T {}

/// Answers the n-th work request, counted from 0. An error ends the connection.
type Answer = dyn Fn(usize, &mut dyn Connection) -> io::Result<()> + Send + Sync;

impl ForeignServer {
    pub(crate) fn start(
        answer: impl Fn(usize, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(answer, |stream| Ok(Box::new(stream)))
    }

    /// Starts a server. `wrap` may add TLS.
    pub(crate) fn start_with(
        answer: impl Fn(usize, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static,
        wrap: impl Fn(TcpStream) -> io::Result<Box<dyn Connection>> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(ReceivedRequests::default()));
        let (answer, wrap): (Arc<Answer>, _) = (Arc::new(answer), Arc::new(wrap));
        let recorded = asked.clone();
        // The threads end with the test's process, or when their client disconnects.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, wrap, recorded) = (answer.clone(), wrap.clone(), recorded.clone());
                std::thread::spawn(move || {
                    if let Ok(connection) = wrap(stream) {
                        drop(serve(connection, &recorded, &*answer));
                    }
                });
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Returns the work requests so far, without those to admin endpoints.
    pub(crate) fn work(&self) -> Vec<Request> {
        self.asked.lock().unwrap().work.clone()
    }

    pub(crate) fn questions(&self) -> Vec<Request> {
        self.asked.lock().unwrap().questions.clone()
    }
}

fn serve(
    connection: Box<dyn Connection>,
    recorded: &Mutex<ReceivedRequests>,
    answer: &Answer,
) -> io::Result<()> {
    let mut connection = BufReader::new(connection);
    while let Some(request) = read(&mut connection)? {
        if request.line.contains(" /_mock/") {
            recorded.lock().unwrap().questions.push(request);
            reply(connection.get_mut(), "404 Not Found", "no such page")?;
            continue;
        }
        let number = {
            let work = &mut recorded.lock().unwrap().work;
            work.push(request);
            work.len() - 1
        };
        answer(number, connection.get_mut())?;
    }
    Ok(())
}

fn read(connection: &mut BufReader<Box<dyn Connection>>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if connection.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut request = Request { line: line.trim_end().to_owned(), headers: Vec::new(), body: String::new() };
    loop {
        line.clear();
        connection.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        request.headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    connection.read_exact(&mut body)?;
    request.body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(request))
}

pub(crate) fn reply(connection: &mut dyn Connection, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(connection, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}")?;
    connection.flush()
}

pub(crate) fn hang_up() -> io::Result<()> {
    Err(io::ErrorKind::ConnectionAborted.into())
}

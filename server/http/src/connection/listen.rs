//! Opens the listening socket. Errors suggest a remedy.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

const BACKLOG: i32 = 4096;

#[derive(Debug, thiserror::Error)]
#[error("cannot listen on `{address}` (--listen): {source}; {advice}")]
pub struct ListenError {
    address: SocketAddr,
    source: io::Error,
    advice: &'static str,
}

pub(crate) fn listen(address: SocketAddr) -> Result<TcpListener, ListenError> {
    open(address).map_err(|source| ListenError {
        address,
        advice: match source.kind() {
            io::ErrorKind::AddrInUse => {
                "another program listens on this port; stop it, or choose another port, such as `--listen \
                 127.0.0.1:0` for any free port"
            }
            io::ErrorKind::PermissionDenied => "ports below 1024 need privileges; choose a port from 1024",
            io::ErrorKind::AddrNotAvailable => {
                "this machine does not have this address; use `127.0.0.1` or an address of this machine"
            }
            _ => "choose another address",
        },
        source,
    })
}

fn open(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // With `SO_REUSEADDR`, a restarted server can listen at once, although connections of the previous server are still in TIME_WAIT.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

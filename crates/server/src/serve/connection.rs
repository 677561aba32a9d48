//! One accepted connection: its socket options, its place among the others, and HTTP on it.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use threadcast_wire::limits::Limits;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::http::router::ConnectionSeat;

/// Longest wait for the head of a request.
const REQUEST_HEAD_WAIT: Duration = Duration::from_secs(10);

/// The paths, for one connection.
#[derive(Clone, Debug)]
pub(super) struct Seated {
    pub(super) router: TowerToHyperService<Router>,
    pub(super) seat: ConnectionSeat,
}

impl Service<Request<Incoming>> for Seated {
    type Response = Response;
    type Error = Infallible;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.seat.clone());
        self.router.call(request)
    }
}

/// Serves one connection until it ends, becomes a session, or `stop` is cancelled.
pub(super) async fn serve(socket: TcpStream, service: Seated, stop: CancellationToken) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_HEAD_WAIT)
        .serve_connection(TokioIo::new(socket), service)
        .with_upgrades();
    tokio::pin!(connection);
    let served = tokio::select! {
        served = &mut connection => served,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "connection ended");
    }
}

/// Small frames go out at once, little waits in the kernel, and who takes no byte for too long is
/// let go, whatever it was that it read.
pub(super) fn set_up(socket: &TcpStream, limits: &Limits) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let socket = SockRef::from(socket);
    let unsent_bytes = u32::try_from(limits.unsent_bytes).unwrap_or(u32::MAX);
    socket.set_tcp_notsent_lowat(unsent_bytes)?;
    socket.set_tcp_user_timeout(Some(limits.stuck_after))
}

#[cfg(test)]
mod tests;

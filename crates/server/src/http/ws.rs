//! `GET /ws`: the handshake, and the way from an HTTP connection to a session (docs/protocol.md
//! §1.1).
//!
//! hyper gives the socket back after the upgrade; from there on HTTP has no part in it, and no
//! buffer of it stays.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use threadcast_hub::hub::Peer;
use threadcast_thread_log::principal::Principal;
use threadcast_wire::SUBPROTOCOL;
use threadcast_wire::error_code::ErrorCode;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tracing::Instrument;

use super::errors::HttpError;
use super::router::{App, ConnectionSeat};

/// The answer to an acceptable handshake.
#[derive(Debug, PartialEq, Eq)]
struct Accepted {
    key: String,
    /// Whether the client offered the subprotocol, which is only then selected.
    names_subprotocol: bool,
}

/// Why a handshake is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Refused {
    #[error("this path speaks WebSocket, version 13, only")]
    NoUpgrade,
    #[error("`sec-websocket-key` is missing or not 16 bytes in base64")]
    Key,
    #[error("none of the offered subprotocols is `threadcast.v1`")]
    Subprotocol,
}

pub(crate) async fn ws(State(app): State<App>, mut request: Request) -> Response {
    let accepted = match handshake(request.headers()) {
        Ok(accepted) => accepted,
        Err(refused) => return refused.into_response(),
    };
    let Ok(seat) = app.sessions.clone().try_acquire_owned() else {
        return HttpError::new(ErrorCode::Overloaded, "all sessions of this node are taken")
            .into_response();
    };
    // A session keeps its place among the connections as well.
    let connection = request.extensions_mut().remove::<ConnectionSeat>();
    let upgrade = hyper::upgrade::on(&mut request);
    let session = serve(app.clone(), upgrade);
    let stop = app.stop.clone();
    app.tasks.spawn(
        async move {
            // Sessions were drained before; a socket that is left then is dropped.
            stop.run_until_cancelled(session).await;
            drop((seat, connection));
        }
        .instrument(tracing::info_span!("session")),
    );
    accepted.into_response()
}

/// Waits for the upgrade and serves the socket until it ends.
async fn serve(app: App, upgrade: OnUpgrade) {
    let upgraded = match upgrade.await {
        Ok(upgraded) => upgraded,
        Err(error) => {
            tracing::debug!(%error, "upgrade failed");
            return;
        }
    };
    let parts = upgraded
        .downcast::<TokioIo<TcpStream>>()
        .expect("the accept loop hands hyper nothing but TCP streams");
    let peer = Peer {
        principal: Principal::anonymous(),
        early_bytes: parts.read_buf.into(),
    };
    app.hub.serve(parts.io.into_inner(), peer).await;
}

fn handshake(headers: &HeaderMap) -> Result<Accepted, Refused> {
    let is_upgrade = lists(headers, &CONNECTION, "upgrade")
        && lists(headers, &UPGRADE, "websocket")
        && headers
            .get(SEC_WEBSOCKET_VERSION)
            .is_some_and(|version| version == "13");
    if !is_upgrade {
        return Err(Refused::NoUpgrade);
    }
    let key = headers
        .get(SEC_WEBSOCKET_KEY)
        .map(HeaderValue::as_bytes)
        .filter(|key| is_key(key));
    let key = derive_accept_key(key.ok_or(Refused::Key)?);
    let offers = headers.contains_key(SEC_WEBSOCKET_PROTOCOL);
    if offers && !lists(headers, &SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL) {
        return Err(Refused::Subprotocol);
    }
    Ok(Accepted {
        key,
        names_subprotocol: offers,
    })
}

/// Whether a comma-separated header holds `token`; case is ignored.
fn lists(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .any(|item| item.trim().eq_ignore_ascii_case(token))
}

/// 16 bytes in base64 are 22 characters and two of padding.
fn is_key(key: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    key.strip_suffix(b"==")
        .is_some_and(|digits| digits.len() == 22 && digits.iter().all(is_digit))
}

impl IntoResponse for Accepted {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        let key = HeaderValue::try_from(self.key).expect("base64 is a header value");
        headers.insert(SEC_WEBSOCKET_ACCEPT, key);
        if self.names_subprotocol {
            headers.insert(
                SEC_WEBSOCKET_PROTOCOL,
                HeaderValue::from_static(SUBPROTOCOL),
            );
        }
        response
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let error = HttpError::new(ErrorCode::BadFrame, self.to_string());
        match self {
            Self::Key | Self::Subprotocol => error.into_response(),
            Self::NoUpgrade => {
                let mut response = error
                    .with_status(StatusCode::UPGRADE_REQUIRED)
                    .into_response();
                let headers = response.headers_mut();
                headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
                headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
                headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
                response
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: [(&str, &str); 4] = [
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "WebSocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];

    fn shake(changes: &[(&'static str, &str)]) -> Result<Accepted, Refused> {
        let mut headers = HeaderMap::new();
        for (name, value) in GOOD.iter().chain(changes) {
            headers.insert(*name, value.parse().unwrap());
        }
        handshake(&headers)
    }

    #[test]
    fn the_key_is_answered_as_the_standard_says() {
        let accepted = shake(&[]).unwrap();
        assert_eq!(
            accepted,
            Accepted {
                key: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".into(),
                names_subprotocol: false
            }
        );
    }

    #[test]
    fn the_subprotocol_is_selected_when_offered() {
        let offer = |offers| shake(&[("sec-websocket-protocol", offers)]);
        assert!(offer("threadcast.v1").unwrap().names_subprotocol);
        assert!(offer("chat, threadcast.v1").unwrap().names_subprotocol);
        assert_eq!(offer("chat, threadcast.v2"), Err(Refused::Subprotocol));
        assert_eq!(offer(""), Err(Refused::Subprotocol));
    }

    #[test]
    fn what_is_no_handshake_is_refused() {
        assert_eq!(
            shake(&[("connection", "keep-alive")]),
            Err(Refused::NoUpgrade)
        );
        assert_eq!(shake(&[("upgrade", "h2c")]), Err(Refused::NoUpgrade));
        assert_eq!(
            shake(&[("sec-websocket-version", "8")]),
            Err(Refused::NoUpgrade)
        );
        assert_eq!(shake(&[("sec-websocket-key", "short")]), Err(Refused::Key));
    }
}

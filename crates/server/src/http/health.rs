//! `/healthz`, and the page at `/` that tells a person where to go.

use axum::Json;
use axum::extract::State;
use http::header::CONTENT_TYPE;
use serde::Serialize;

use super::router::App;

const PAGE: &str = include_str!("index.txt");

/// That the program serves, and what it holds for whom.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Health {
    status: &'static str,
    sessions: usize,
    blocked_sessions: usize,
    threads: usize,
    held_bytes_max: usize,
}

/// Whether the program runs and answers.
pub(crate) async fn healthz(State(app): State<App>) -> Json<Health> {
    let sessions = app.hub.session_stats();
    Json(Health {
        status: "ok",
        sessions: sessions.len(),
        blocked_sessions: sessions.iter().filter(|session| session.is_blocked).count(),
        threads: app.hub.live_thread_count(),
        held_bytes_max: sessions
            .iter()
            .map(|session| session.held_bytes)
            .max()
            .unwrap_or(0),
    })
}

/// What is served here.
pub(crate) async fn index() -> ([(http::HeaderName, &'static str); 1], &'static str) {
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], PAGE)
}

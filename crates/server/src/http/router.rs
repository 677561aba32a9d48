//! All paths, and what their handlers share.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use threadcast_hub::hub::Hub;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::guard::{AllowedHosts, guard};
use super::{agui, delete, errors, export, fork, health, import, past, thread_events, threads, ws};
use crate::upstream::agents::Agents;

/// What a handler needs; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) hub: Hub,
    pub(crate) agents: Arc<Agents>,
    /// One permit a session.
    pub(crate) sessions: Arc<Semaphore>,
    /// One permit an import: each may hold a long line.
    pub(crate) imports: Arc<Semaphore>,
    /// Sessions, and what outlives a request.
    pub(crate) tasks: TaskTracker,
    /// Ends event streams.
    pub(crate) stop: CancellationToken,
    pub(crate) body_bytes_max: usize,
}

/// A place among the connections; an extension of each request.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionSeat {
    _permit: Arc<OwnedSemaphorePermit>,
}

impl ConnectionSeat {
    pub(crate) fn new(permit: OwnedSemaphorePermit) -> Self {
        Self {
            _permit: Arc::new(permit),
        }
    }
}

pub(crate) fn router(app: App, allowed: AllowedHosts) -> Router {
    Router::new()
        .route("/", get(health::index))
        .route("/healthz", get(health::healthz))
        .route("/ws", get(ws::ws))
        .route("/agents", get(agui::agents))
        .route("/agents/{agent}/run", post(agui::run))
        .route(
            "/threads/{thread}",
            get(threads::view).delete(delete::delete),
        )
        .route("/threads/{thread}/events", get(thread_events::events))
        .route("/threads/{thread}/export", get(export::export))
        .route("/threads/{thread}/fork", post(fork::fork))
        .route("/threads/{thread}/import", post(import::import))
        .route("/threads/{thread}/messages", get(past::messages))
        .route("/threads/{thread}/state", get(past::state))
        .route("/threads/{thread}/resume", post(threads::resume))
        .route("/threads/{thread}/runs/{run}/cancel", post(threads::cancel))
        .fallback(errors::not_found)
        .method_not_allowed_fallback(errors::method_not_allowed)
        .layer(from_fn_with_state(allowed, guard))
        .with_state(app)
}

//! What a watcher of a thread holds: the thread stays in use while it does.

use std::sync::Arc;

use futures::stream::{Stream, unfold};
use threadcast_thread_log::engine::Watched;
use tokio::sync::broadcast::error::RecvError;

use crate::slots::Slot;

/// Attached when this returns.
pub(crate) fn attach(slot: Arc<Slot>) -> impl Stream<Item = Watched> + Send + use<> {
    let messages = slot.state.lock().watch();
    unfold((messages, slot), async |(mut messages, slot)| {
        let message = match messages.recv().await {
            Ok(message) => message,
            Err(RecvError::Lagged(_)) => Watched::Gap,
            Err(RecvError::Closed) => return None,
        };
        Some((message, (messages, slot)))
    })
}

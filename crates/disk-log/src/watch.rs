//! What a watcher of a thread holds: the thread stays in use while it does.

use std::sync::Arc;

use futures::stream::{Stream, unfold};
use threadcast_thread_log::engine::Watched;

use crate::slots::Slot;

/// Attached when this returns.
pub(crate) fn attach(slot: Arc<Slot>) -> impl Stream<Item = Watched> + Send + use<> {
    let messages = slot.state.lock().watchers.watch();
    unfold((messages, slot), async |(mut messages, slot)| {
        let message = messages.next().await?;
        Some((message, (messages, slot)))
    })
}

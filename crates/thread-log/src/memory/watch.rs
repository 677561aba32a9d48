//! What a watcher of a thread holds; the thread may go with its last watcher.

use std::sync::Arc;

use futures::stream::{Stream, unfold};
use threadcast_agui::ids::ThreadId;
use tokio::sync::broadcast::{self, error::RecvError};

use super::Store;
use crate::engine::Watched;

struct Watch {
    /// Present until the watch is dropped.
    messages: Option<broadcast::Receiver<Watched>>,
    thread: ThreadId,
    store: Arc<Store>,
}

/// Attached when this returns.
pub(super) fn attach(
    store: &Arc<Store>,
    thread: &ThreadId,
) -> impl Stream<Item = Watched> + Send + use<> {
    let messages = store.with_any(thread, |thread| thread.watch());
    let watch = Watch {
        messages: Some(messages),
        thread: thread.clone(),
        store: Arc::clone(store),
    };
    unfold(watch, async |mut watch| {
        let message = match watch.messages.as_mut()?.recv().await {
            Ok(message) => message,
            Err(RecvError::Lagged(_)) => Watched::Gap,
            Err(RecvError::Closed) => return None,
        };
        Some((message, watch))
    })
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.messages = None;
        self.store.sweep(&self.thread);
    }
}

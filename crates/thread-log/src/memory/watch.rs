//! What a watcher of a thread holds; the thread may go with its last watcher.

use std::sync::Arc;

use futures::stream::{Stream, unfold};
use threadcast_agui::ids::ThreadId;

use super::Store;
use crate::engine::Watched;
use crate::watchers::Watcher;

struct Watch {
    /// Present until the watch is dropped.
    messages: Option<Watcher>,
    thread: ThreadId,
    store: Arc<Store>,
}

/// Attached when this returns.
pub(super) fn attach(
    store: &Arc<Store>,
    thread: &ThreadId,
) -> impl Stream<Item = Watched> + Send + use<> {
    let messages = store.with_any(thread, |thread| thread.watchers.watch());
    let watch = Watch {
        messages: Some(messages),
        thread: thread.clone(),
        store: Arc::clone(store),
    };
    unfold(watch, async |mut watch| {
        let message = watch.messages.as_mut()?.next().await?;
        Some((message, watch))
    })
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.messages = None;
        self.store.sweep(&self.thread);
    }
}

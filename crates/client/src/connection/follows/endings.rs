//! Subscriptions that the hub refuses, and what readers are told when theirs ends or its connection breaks.

use threadcast_agui::ids::ThreadId;
use threadcast_wire::client_frame::RequestId;
use tokio::time::Instant;

use super::Follows;
use crate::backoff::Failures;
use crate::error::Error;
use crate::subscription::Feed;
use crate::update::Update;

impl Follows {
    /// The hub refused a `subscribe`; whether `id` was one. It is tried again at `retry_at` if that
    /// may help.
    pub(in crate::connection) fn refused(
        &mut self,
        id: &RequestId,
        error: &Error,
        retry_at: impl FnOnce(&mut Failures) -> Instant,
    ) -> bool {
        let Some((thread, _)) = self.asked.remove(id) else {
            return false;
        };
        let Some(follow) = self
            .threads
            .get_mut(&thread)
            .filter(|follow| follow.machine.is_asked_by(id))
        else {
            // Who asked is gone; another reader may have come since.
            return true;
        };
        if error.is_retryable() {
            follow.machine.leave();
            self.later.push((retry_at(&mut follow.failures), thread));
        } else {
            self.end(&thread, error.clone());
        }
        true
    }

    pub(super) fn end(&mut self, thread: &ThreadId, error: Error) {
        if let Some(follow) = self.threads.remove(thread) {
            follow.feed.end(error);
        }
    }

    pub(in crate::connection) fn end_all(&mut self, error: &Error) {
        for follow in std::mem::take(&mut self.threads).into_values() {
            follow.feed.end(error.clone());
        }
    }

    /// Tells every reader of a lost connection, but not the one whose last update still waits for
    /// room.
    pub(in crate::connection) fn tell_lost(
        &self,
        waiting: Option<&Feed>,
        lost: impl Fn() -> Update,
    ) {
        for follow in self.threads.values() {
            if waiting.is_none_or(|waiting| !waiting.is_of(&follow.feed)) {
                follow.feed.tell(lost(), follow.machine.position().cloned());
            }
        }
    }
}

//! Where a subscription begins, and how it begins anew.

use serde_json::json;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::position::{Position, PositionVerdict, Seq};
use threadcast_wire::client_frame::{RequestId, SubscribeStart};
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use threadcast_wire::hub_frame::{
    Mode, ResetReason, Subscribed, write_reset, write_subscribed, write_unsubscribed,
};
use tokio::io::{AsyncRead, AsyncWrite};

use super::Session;
use crate::live_thread::LiveThread;
use crate::subscription::{Detail, Due, Subscription};

/// Where a subscription begins, when it is not where its place stands.
struct Beginning {
    mode: Mode,
    cursor: Seq,
    due: Due,
    detail: Detail,
    reset: Option<ResetReason>,
}

impl Beginning {
    fn entries(mode: Mode, cursor: Seq, detail: Detail) -> Self {
        Self {
            mode,
            cursor,
            due: Due::Entries,
            detail,
            reset: None,
        }
    }

    fn baseline(reset: Option<ResetReason>, detail: Detail) -> Self {
        // Who wants every entry is told of none that is kept by a baseline.
        let due = if reset == Some(ResetReason::Trimmed) && detail == Detail::Entries {
            Due::Edge
        } else {
            Due::Baseline
        };
        Self {
            mode: Mode::Snapshot,
            cursor: Seq::ZERO,
            due,
            detail,
            reset,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<'_, S> {
    /// Begins a subscription, or replaces the one of that thread, and answers the request.
    pub(super) fn subscribe(
        &mut self,
        id: Option<RequestId>,
        start: &SubscribeStart,
        live: LiveThread,
    ) {
        let held = self.subscriptions.slot_of(live.thread());
        if let (Some(slot), SubscribeStart::Keep) = (held, start) {
            return self.answer_kept(id, slot);
        }
        let limit = self.hub.limits().subscriptions;
        if held.is_none() && self.subscriptions.count() >= limit {
            let message = format!("a connection may hold {limit} subscriptions");
            let error = ErrorBody::new(ErrorCode::TooLarge, message)
                .with_details(json!({ "limit": limit }));
            return self.push_error(id.as_ref(), &error);
        }
        let slot = held.unwrap_or_else(|| self.subscriptions.free_slot());
        let mut subscription = Subscription::new(live, &self.state.ready, slot);
        let beginning = beginning(&subscription, start);
        if beginning.due == Due::Baseline
            && let Some(error) = self.too_large(&subscription.live)
        {
            return self.push_error(id.as_ref(), &error);
        }
        self.forget(slot);
        self.push_beginning(id, &subscription, &beginning);
        subscription.begin(beginning.cursor, beginning.due, beginning.detail);
        self.subscriptions.put(slot, subscription);
        self.state.ready.reserve(self.subscriptions.count());
        self.queue_ready(slot);
    }

    /// A repeated `subscribe` without position or start changes nothing.
    fn answer_kept(&mut self, id: Option<RequestId>, slot: u32) {
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        let subscribed = Subscribed {
            id,
            thread: subscription.live.thread().clone(),
            head: Position {
                epoch: subscription.place.told.clone(),
                seq: subscription.live.place().cursor,
            },
            mode: Mode::Resumed,
            reason: None,
        };
        self.push_own(|out| write_subscribed(out, &subscribed));
    }

    fn push_beginning(
        &mut self,
        id: Option<RequestId>,
        subscription: &Subscription,
        beginning: &Beginning,
    ) {
        let head = Position {
            epoch: subscription.place.told.clone(),
            seq: subscription.place.cursor,
        };
        if let Some(reason) = beginning.reset {
            self.push_own(|out| write_reset(out, subscription.live.tag(), &head, reason));
        }
        let subscribed = Subscribed {
            id,
            thread: subscription.live.thread().clone(),
            head,
            mode: beginning.mode,
            reason: beginning.reset.map(|reason| reason.as_str().into()),
        };
        self.push_own(|out| write_subscribed(out, &subscribed));
    }

    /// The log under a subscription was replaced: it goes on if its place is one of the new log too, else it begins anew.
    /// What was read of the old one and not sent is dropped.
    pub(super) fn judge_anew(&mut self, slot: u32) {
        self.forget(slot);
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        let position = Position {
            epoch: subscription.place.told.clone(),
            seq: subscription.place.cursor,
        };
        // In this order: a log that takes this one's place in between is told by the next step.
        let generation = subscription.live.generation();
        let verdict = subscription.live.verdict_here(&position);
        if verdict == PositionVerdict::Valid && subscription.due == Due::Entries {
            subscription.place.generation = generation;
            return self.queue(slot);
        }
        let reason = reset_reason(verdict).unwrap_or(ResetReason::Lost);
        self.begin_anew(slot, reason);
    }

    /// Tells the viewer to drop the thread, and lets a baseline follow.
    pub(super) fn begin_anew(&mut self, slot: u32, reason: ResetReason) {
        self.forget(slot);
        let Some(held) = self.subscriptions.get_mut(slot) else {
            return;
        };
        let (live, detail) = (held.live.clone(), held.detail);
        // Who was to be told only what comes holds all of it from here on.
        let detail = match detail {
            Detail::Entries => Detail::Entries,
            Detail::Fold | Detail::Tail => Detail::Fold,
        };
        let beginning = Beginning::baseline(Some(reason), detail);
        if beginning.due == Due::Baseline && self.too_large(&live).is_some() {
            return self.end_too_large(slot);
        }
        let mut subscription = Subscription::new(live, &self.state.ready, slot);
        self.push_beginning(None, &subscription, &beginning);
        subscription.begin(beginning.cursor, beginning.due, beginning.detail);
        self.subscriptions.put(slot, subscription);
        self.queue_ready(slot);
    }

    /// From here on no frame of the thread is sent; the parts of an unfinished one are dropped.
    pub(super) fn unsubscribe(&mut self, thread: &ThreadId) {
        if let Some(slot) = self.subscriptions.slot_of(thread) {
            self.forget(slot);
            self.subscriptions.remove(slot);
        }
    }

    /// The refusal of a thread whose baseline would be too long.
    pub(super) fn too_large(&self, live: &LiveThread) -> Option<ErrorBody> {
        let limit = self.hub.limits().baseline_bytes;
        let (bytes, _) = live.baseline_length();
        (bytes > limit).then(|| baseline_too_large(limit))
    }

    /// Ends a subscription that needs a baseline which is too long.
    pub(super) fn end_too_large(&mut self, slot: u32) {
        let error = baseline_too_large(self.hub.limits().baseline_bytes);
        self.end_subscription(slot, &error);
    }

    /// Ends a subscription that cannot be served.
    pub(super) fn end_subscription(&mut self, slot: u32, error: &ErrorBody) {
        let Some(subscription) = self.subscriptions.get_mut(slot) else {
            return;
        };
        let live = subscription.live.clone();
        self.push_own(|out| write_unsubscribed(out, live.tag(), error.code, &error.message));
        self.forget(slot);
        self.subscriptions.remove(slot);
    }
}

fn baseline_too_large(limit: usize) -> ErrorBody {
    let message = format!(
        "a baseline of this thread is over {limit} bytes; `start` can be `tail`, or `log` for its entries one by one"
    );
    ErrorBody::new(ErrorCode::TooLarge, message).with_details(json!({ "limit": limit }))
}

/// Where a new subscription begins; its place is that of a viewer who has all there is. A log that takes this one's place
/// after the subscription was made is told by its first step.
fn beginning(subscription: &Subscription, start: &SubscribeStart) -> Beginning {
    match start {
        SubscribeStart::Keep | SubscribeStart::Snapshot => Beginning::baseline(None, Detail::Fold),
        SubscribeStart::Log if subscription.live.first_retained() > Seq::ZERO.next() => {
            Beginning::baseline(Some(ResetReason::Trimmed), Detail::Entries)
        }
        SubscribeStart::Log => Beginning::entries(Mode::Log, Seq::ZERO, Detail::Entries),
        SubscribeStart::Tail => {
            Beginning::entries(Mode::Tail, subscription.place.cursor, Detail::Tail)
        }
        SubscribeStart::Position(position) => resumed(subscription, position, Detail::Fold),
        SubscribeStart::LogAfter(position) => resumed(subscription, position, Detail::Entries),
    }
}

fn resumed(subscription: &Subscription, position: &Position, detail: Detail) -> Beginning {
    match reset_reason(subscription.live.verdict_here(position)) {
        None => Beginning::entries(Mode::Resumed, position.seq, detail),
        Some(reason) => Beginning::baseline(Some(reason), detail),
    }
}

fn reset_reason(verdict: PositionVerdict) -> Option<ResetReason> {
    match verdict {
        PositionVerdict::Valid => None,
        PositionVerdict::UnknownEpoch => Some(ResetReason::EpochUnknown),
        PositionVerdict::Beyond => Some(ResetReason::Lost),
        PositionVerdict::Trimmed => Some(ResetReason::Trimmed),
    }
}

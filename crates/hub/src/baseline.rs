//! One snapshot of a thread as the frame that joining viewers get, built once for all who join at about the same time.

use bytes::Bytes;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::snapshot::snapshot;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Seq;
use threadcast_wire::hub_frame::{ThreadTag, write_events};
use tokio::time::Instant;

use crate::defaults::{SNAPSHOT_AGE_MAX, SNAPSHOT_ENTRIES_BEHIND_MAX};
use crate::frame::push_frame;
use crate::view;

#[derive(Debug)]
pub(crate) struct Baseline {
    pub(crate) seq: Seq,
    pub(crate) body: BaselineBody,
    built: Instant,
    /// When its view of an open interrupt becomes wrong: the first deadline that had not passed.
    wrong_at: Option<Millis>,
}

#[derive(Clone, Debug)]
pub(crate) enum BaselineBody {
    /// A ready frame.
    Frame(Bytes),
    /// The payload of a frame that has to be sent in parts.
    Long(Bytes),
}

impl Baseline {
    pub(crate) fn of(fold: &Fold, tag: &ThreadTag, part_over_bytes: usize) -> Self {
        let events = snapshot(fold.conversation());
        let view = view::thread_view_with_state(fold);
        let seq = fold.head();
        let mut payload = Vec::new();
        write_events(
            &mut payload,
            tag,
            Seq::ZERO.next(),
            seq,
            events.iter().map(|event| &event.json),
            Some(&view),
        );
        let body = if payload.len() > part_over_bytes {
            BaselineBody::Long(payload.into())
        } else {
            let mut frame = Vec::with_capacity(payload.len() + 10);
            push_frame(&mut frame, |out| out.extend_from_slice(&payload));
            BaselineBody::Frame(frame.into())
        };
        let now = view::now();
        let open = fold.registry().interrupts().open();
        let wrong_at = open
            .filter(|raised| !raised.has_expired(now))
            .filter_map(|raised| raised.deadline)
            .min();
        Self {
            seq,
            body,
            built: Instant::now(),
            wrong_at,
        }
    }

    /// Whether a viewer that joins at `head` may start here and read the entries since.
    pub(crate) fn serves(&self, head: Seq) -> bool {
        let is_near = head.get() - self.seq.get() <= SNAPSHOT_ENTRIES_BEHIND_MAX;
        let is_young = self.built.elapsed() <= SNAPSHOT_AGE_MAX;
        let is_wrong = self.wrong_at.is_some_and(|at| at <= view::now());
        !is_wrong && (head == self.seq || is_near && is_young)
    }
}

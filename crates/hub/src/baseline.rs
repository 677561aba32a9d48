//! One snapshot of a thread as the frame that joining viewers get, built once for all who join at about the same time.

use bytes::Bytes;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::snapshot::snapshot;
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
        Self {
            seq,
            body,
            built: Instant::now(),
        }
    }

    /// Whether a viewer that joins at `head` may start here and read the entries since.
    pub(crate) fn serves(&self, head: Seq, now: Instant) -> bool {
        head == self.seq
            || head.get() - self.seq.get() <= SNAPSHOT_ENTRIES_BEHIND_MAX
                && now.duration_since(self.built) <= SNAPSHOT_AGE_MAX
    }
}

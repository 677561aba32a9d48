//! One snapshot of a thread as the frame that joining viewers get, built once for all who join at about the same time.

use bytes::Bytes;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::snapshot::telling;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Seq;
use threadcast_wire::hub_frame::{ThreadTag, write_events_by};
use tokio::time::Instant;

use crate::defaults::{BASELINE_ENVELOPE_BYTES, SNAPSHOT_AGE_MAX, SNAPSHOT_ENTRIES_BEHIND_MAX};
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
    /// No client has to be ready for one as long as this.
    TooLarge,
}

/// Lengths that a baseline's frame is judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BaselineBounds {
    /// Longer frames are sent in parts.
    pub(crate) part_over: usize,
    /// Longer ones are not sent.
    pub(crate) bytes_max: usize,
}

impl BaselineBody {
    fn of(fold: &Fold, tag: &ThreadTag, bounds: BaselineBounds) -> Self {
        if estimate(fold) > bounds.bytes_max {
            return Self::TooLarge;
        }
        let mut payload = Vec::with_capacity(estimate(fold));
        write_baseline(&mut payload, fold, tag);
        if payload.len() > bounds.bytes_max {
            Self::TooLarge
        } else if payload.len() > bounds.part_over {
            Self::Long(payload.into())
        } else {
            let mut frame = Vec::with_capacity(payload.len() + 10);
            push_frame(&mut frame, |out| out.extend_from_slice(&payload));
            Self::Frame(frame.into())
        }
    }
}

/// Writes the payload that brings an empty viewer to where the fold stands.
pub(crate) fn write_baseline(out: &mut Vec<u8>, fold: &Fold, tag: &ThreadTag) {
    let view = view::thread_view_with_state(fold);
    write_events_by(
        out,
        tag,
        (Seq::ZERO.next(), fold.head()),
        telling(fold.conversation()),
        |out, event| event.write(|piece| out.extend_from_slice(piece.as_bytes())),
        Some(&view),
    );
}

/// About how long a baseline would be, without making it.
pub(crate) fn estimate(fold: &Fold) -> usize {
    let conversation = fold.conversation();
    conversation.messages_bytes() + conversation.state_bytes() + BASELINE_ENVELOPE_BYTES
}

impl Baseline {
    pub(crate) fn of(fold: &Fold, tag: &ThreadTag, bounds: BaselineBounds) -> Self {
        let now = view::now();
        let open = fold.registry().interrupts().open();
        let wrong_at = open
            .filter(|raised| !raised.has_expired(now))
            .filter_map(|raised| raised.deadline)
            .min();
        Self {
            seq: fold.head(),
            body: BaselineBody::of(fold, tag, bounds),
            built: Instant::now(),
            wrong_at,
        }
    }

    /// Bytes of its frame; without end if it is not sent.
    pub(crate) fn bytes(&self) -> usize {
        match &self.body {
            BaselineBody::Frame(bytes) | BaselineBody::Long(bytes) => bytes.len(),
            BaselineBody::TooLarge => usize::MAX,
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

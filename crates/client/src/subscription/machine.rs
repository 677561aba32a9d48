//! What one subscription holds, and what a frame does to it: no socket, no clock, no queue.
//!
//! ```text
//!            ask             subscribed            events from 1
//! Offline ─────────▶ Asked ─────┬──────▶ Baseline ─────────┐
//!    ▲                          │ other modes              ▼
//!    │ disconnect               └────────────────────▶  Following
//!    │ gap or overlap                                      │  ▲
//!    │ ended for now                                       │  │ events from 1
//!    └── from any state                       reset        ▼  │
//!                                                       Baseline
//! ```
//!
//! Invariant: the entries of the yielded updates follow each other without gap and overlap, from
//! one baseline (or the start) to the next; `position` names the last of them.

use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::position::{Position, Seq};
use threadcast_wire::client_frame::{RequestId, SubscribeStart};
use threadcast_wire::error_body::ReceivedError;
use threadcast_wire::error_code::ErrorCode;
use threadcast_wire::hub_frame::{HubFrame, Mode, Subscribed};
use threadcast_wire::part::{PartError, PartJoiner};

use crate::error::{Cause, Error};
use crate::update::{Start, Update};

/// How many times in a row a broken order is answered with a new `subscribe`; then the connection
/// is given up.
const FRUITLESS_MAX: u32 = 3;

#[derive(Debug)]
pub(crate) struct Machine {
    thread: ThreadId,
    start: Start,
    /// Whether every entry is to come by itself.
    is_log: bool,
    /// `None` until the hub said where the subscription stands, and again after a reset.
    position: Option<Position>,
    phase: Phase,
    parts: PartJoiner,
    /// Whether parts of a frame are held, so that no other frame of the thread may come.
    is_joining: bool,
    fruitless: u32,
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    /// Not on the wire, or given up on it: nothing that comes counts before the next question.
    Offline,
    /// Everything before the answer to this request belongs to an older subscription.
    Asked {
        id: RequestId,
    },
    /// The next entries are a baseline, of this position's epoch.
    Baseline {
        head: Position,
    },
    Following,
}

/// What a frame led to.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing for the reader.
    Ignored,
    Update(Update),
    /// The same, from a frame that came in parts.
    Joined {
        update: Update,
        frame: String,
    },
    /// The order is broken: subscribe anew from the position.
    Resubscribe {
        reason: String,
    },
    /// The hub keeps breaking the order: only another connection helps.
    Broken(Error),
    /// The hub ended the subscription, and may serve it later: subscribe from the position then.
    Retry(Error),
    /// The hub ended the subscription for good.
    Ended(Error),
    /// This client ends it, for what the hub sends is more than it can hold.
    TooLarge(Error),
}

/// A frame that does not fit what is held.
struct Misfit(String);

impl Machine {
    /// Holds parts of at most `joined_bytes`.
    pub(crate) fn new(thread: ThreadId, start: Start, joined_bytes: usize) -> Self {
        Self {
            thread,
            is_log: matches!(start, Start::Log | Start::LogAfter(_)),
            start,
            position: None,
            phase: Phase::Offline,
            parts: PartJoiner::new(joined_bytes),
            is_joining: false,
            fruitless: 0,
        }
    }

    /// Where the reader stands after all updates so far.
    pub(crate) fn position(&self) -> Option<&Position> {
        self.position.as_ref()
    }

    /// What to subscribe with; the request carries `id`.
    pub(crate) fn ask(&mut self, id: RequestId) -> SubscribeStart {
        self.drop_parts();
        self.phase = Phase::Asked { id };
        match &self.position {
            Some(position) if self.is_log => SubscribeStart::LogAfter(position.clone()),
            Some(position) => SubscribeStart::Position(position.clone()),
            None => self.start.to_wire(),
        }
    }

    pub(crate) fn disconnect(&mut self) {
        self.leave();
        self.fruitless = 0;
    }

    /// Gives up what is subscribed or asked for; the position stays.
    pub(crate) fn leave(&mut self) {
        self.drop_parts();
        self.phase = Phase::Offline;
    }

    pub(crate) fn is_offline(&self) -> bool {
        self.phase == Phase::Offline
    }

    /// Whether the answer to this request is waited for.
    pub(crate) fn is_asked_by(&self, id: &RequestId) -> bool {
        matches!(&self.phase, Phase::Asked { id: asked } if asked == id)
    }

    /// Takes one frame of the thread; frames of others must not come here.
    pub(crate) fn frame(&mut self, frame: HubFrame) -> Step {
        match self.take(frame) {
            Ok(step) => step,
            Err(Misfit(reason)) => {
                // What else is under way fits no better.
                self.leave();
                self.fruitless += 1;
                if self.fruitless > FRUITLESS_MAX {
                    return Step::Broken(Cause::Protocol(reason).into());
                }
                Step::Resubscribe { reason }
            }
        }
    }

    fn take(&mut self, frame: HubFrame) -> Result<Step, Misfit> {
        if let HubFrame::Subscribed(subscribed) = frame {
            return self.subscribed(subscribed);
        }
        // Until a question is answered all that comes is of an older subscription, its end included.
        if matches!(self.phase, Phase::Asked { .. } | Phase::Offline) {
            return Ok(Step::Ignored);
        }
        if let HubFrame::Unsubscribed { code, message, .. } = frame {
            return Ok(self.unsubscribed(code, message));
        }
        if let HubFrame::Part { n, last, text, .. } = frame {
            return self.part(n, last, &text);
        }
        if self.is_joining {
            return Err(Misfit(
                "a frame came between the parts of another one".to_owned(),
            ));
        }
        self.apply(frame)
    }

    fn subscribed(&mut self, subscribed: Subscribed) -> Result<Step, Misfit> {
        let Subscribed {
            id,
            head,
            mode,
            reason,
            ..
        } = subscribed;
        match (&self.phase, &id) {
            (Phase::Asked { id: asked }, Some(id)) if asked == id => {}
            // Without an id it stands behind a reset, and says where the log is now.
            (Phase::Baseline { .. } | Phase::Following, None) => {}
            _ => return Ok(Step::Ignored),
        }
        self.drop_parts();
        let is_empty = head.seq == Seq::ZERO;
        match mode {
            Mode::Resumed => self.resumed(&head)?,
            Mode::Snapshot => {
                self.start = Start::Snapshot;
                self.position = is_empty.then(|| head.clone());
            }
            // A log whose first entries are gone is served as a snapshot, so this one begins at 1.
            Mode::Log => {
                self.position = Some(Position {
                    epoch: head.epoch.clone(),
                    seq: Seq::ZERO,
                })
            }
            Mode::Tail => self.position = Some(head.clone()),
        }
        self.phase = match mode {
            Mode::Snapshot if !is_empty => Phase::Baseline { head: head.clone() },
            Mode::Snapshot | Mode::Log | Mode::Resumed | Mode::Tail => Phase::Following,
        };
        Ok(Step::Update(Update::Subscribed { mode, head, reason }))
    }

    fn unsubscribed(&mut self, code: Box<str>, message: Box<str>) -> Step {
        self.leave();
        let retryable = ErrorCode::from_name(&code).is_some_and(ErrorCode::is_retryable);
        let error = Cause::Hub(ReceivedError {
            code,
            message,
            retryable,
            details: None,
        });
        if retryable {
            Step::Retry(error.into())
        } else {
            Step::Ended(error.into())
        }
    }

    fn resumed(&mut self, head: &Position) -> Result<(), Misfit> {
        let position = match (&self.position, &self.start) {
            (Some(position), _) | (None, Start::After(position) | Start::LogAfter(position)) => {
                position
            }
            (None, start) => {
                return Err(Misfit(format!(
                    "the hub resumed a subscription that began with {start:?}"
                )));
            }
        };
        if head.seq < position.seq {
            return Err(Misfit(format!(
                "the hub resumed after {} a log that ends at {}",
                position.seq, head.seq
            )));
        }
        // The head's epoch is the last one told; it holds at any seq before the epoch that follows
        // it.
        self.position = Some(Position {
            epoch: head.epoch.clone(),
            seq: position.seq,
        });
        Ok(())
    }

    fn part(&mut self, n: u64, last: bool, text: &str) -> Result<Step, Misfit> {
        let joined = match self.parts.push(n, last, text) {
            Ok(joined) => joined,
            Err(error @ PartError::TooLong { .. }) => {
                self.leave();
                return Ok(Step::TooLarge(Cause::TooLargeToHold(error).into()));
            }
            Err(error @ PartError::Gap { .. }) => return Err(Misfit(error.to_string())),
        };
        self.is_joining = joined.is_none();
        let Some(text) = joined else {
            return Ok(Step::Ignored);
        };
        let frame = HubFrame::read(&text).map_err(|error| Misfit(error.to_string()))?;
        if thread_of(&frame) != Some(&self.thread) || matches!(frame, HubFrame::Part { .. }) {
            return Err(Misfit(
                "parts join to a frame that is not the thread's".to_owned(),
            ));
        }
        Ok(match self.take(frame)? {
            Step::Update(update) => Step::Joined {
                update,
                frame: text,
            },
            step => step,
        })
    }

    fn apply(&mut self, frame: HubFrame) -> Result<Step, Misfit> {
        Ok(match frame {
            HubFrame::Event { seq, at, event, .. } => {
                self.entries(seq, seq, || Update::Event { seq, at, event })?
            }
            HubFrame::Fact { seq, at, fact, .. } => {
                self.entries(seq, seq, || Update::Fact { seq, at, fact })?
            }
            HubFrame::Events {
                from,
                seq,
                events,
                view,
                ..
            } => match &self.phase {
                Phase::Baseline { head } => {
                    if from != Seq::ZERO.next() {
                        return Err(Misfit(format!("a baseline begins at {from}")));
                    }
                    let epoch = head.epoch.clone();
                    self.advance(Position { epoch, seq });
                    self.phase = Phase::Following;
                    Step::Update(Update::Baseline { seq, events, view })
                }
                _ => self.entries(from, seq, || Update::Compacted {
                    from,
                    seq,
                    events,
                    view,
                })?,
            },
            HubFrame::Epoch { position, .. } => self.epoch(position)?,
            HubFrame::Reset {
                position, reason, ..
            } => {
                self.position = None;
                self.start = Start::Snapshot;
                self.phase = Phase::Baseline { head: position };
                Step::Update(Update::Reset { reason })
            }
            // Not about a thread, or taken before.
            _ => Step::Ignored,
        })
    }

    /// Entries `from` to `seq`: the next ones, known ones, or a misfit.
    fn entries(
        &mut self,
        from: Seq,
        seq: Seq,
        update: impl FnOnce() -> Update,
    ) -> Result<Step, Misfit> {
        let Some(position) = &self.position else {
            return Err(Misfit(format!(
                "entry {from} came where a baseline was due"
            )));
        };
        let due = position.seq.next();
        if seq < due {
            return Ok(Step::Ignored);
        }
        if from != due || seq < from {
            return Err(Misfit(format!(
                "entries {from} to {seq} came where {due} was due"
            )));
        }
        let epoch = position.epoch.clone();
        self.advance(Position { epoch, seq });
        Ok(Step::Update(update()))
    }

    fn epoch(&mut self, told: Position) -> Result<Step, Misfit> {
        match &mut self.phase {
            Phase::Baseline { head } => head.epoch = told.epoch.clone(),
            _ => match &mut self.position {
                // Told early it is as good: an epoch holds at any seq before the epoch that follows
                // it.
                Some(position) if told.seq >= position.seq => position.epoch = told.epoch.clone(),
                Some(position) => {
                    let (begins, held) = (told.seq, position.seq);
                    return Err(Misfit(format!(
                        "an epoch begins after {begins} where {held} entries are held"
                    )));
                }
                None => return Err(Misfit("an epoch came where a baseline was due".to_owned())),
            },
        }
        Ok(Step::Update(Update::Epoch {
            epoch: told.epoch,
            seq: told.seq,
        }))
    }

    fn advance(&mut self, position: Position) {
        debug_assert!(
            self.position
                .as_ref()
                .is_none_or(|held| held.seq < position.seq)
        );
        self.position = Some(position);
        self.fruitless = 0;
    }

    fn drop_parts(&mut self) {
        self.parts.clear();
        self.is_joining = false;
    }
}

/// The thread a frame is about; `None` for answers and what concerns the connection.
pub(crate) fn thread_of(frame: &HubFrame) -> Option<&ThreadId> {
    match frame {
        HubFrame::Subscribed(subscribed) => Some(&subscribed.thread),
        HubFrame::Event { thread, .. }
        | HubFrame::Fact { thread, .. }
        | HubFrame::Events { thread, .. }
        | HubFrame::Part { thread, .. }
        | HubFrame::Epoch { thread, .. }
        | HubFrame::Reset { thread, .. }
        | HubFrame::Unsubscribed { thread, .. } => Some(thread),
        HubFrame::Welcome(_)
        | HubFrame::Ok { .. }
        | HubFrame::Error { .. }
        | HubFrame::Draining { .. }
        | HubFrame::Unknown { .. } => None,
    }
}

#[cfg(test)]
mod tests;

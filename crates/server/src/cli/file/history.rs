//! What the items of an input amount to, event by event.
//!
//! An agent's stream is judged as the hub judges it. Lines of a hub are followed as a client does:
//! entries without a gap, a baseline in place of what was before, shared state as facts change it.

use std::fmt;

use threadcast_agui::chunk::Expanded;
use threadcast_agui::event::Event;
use threadcast_agui::json::RawJson;
use threadcast_agui::make;
use threadcast_agui::patch::Patch;
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::fact::Fact;
use threadcast_run_registry::stream_judge::{Broken, StreamJudge};
use threadcast_run_registry::verify::Rule;
use threadcast_thread_log::position::Seq;

use super::error::{FileError, Problem};
use super::item::{EntryBody, Item, Piece};
use super::unapplied::unapplied;

/// Where an event stands: in an agent's stream, or in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Place {
    /// From 1.
    Event(u64),
    Entry(Seq),
    /// One of those that stand for entries together; `n` from 1.
    Within {
        from: Seq,
        seq: Seq,
        n: u64,
    },
}

impl Place {
    /// Of the event in its stream, or of the last entry that it stands for.
    pub(in crate::cli) fn number(self) -> u64 {
        match self {
            Self::Event(event) => event,
            Self::Entry(seq) | Self::Within { seq, .. } => seq.get(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => write!(f, "event {event}"),
            Self::Entry(seq) => write!(f, "entry {seq}"),
            Self::Within { from, seq, n } => {
                write!(f, "event {n} of those for entries {from} to {seq}")
            }
        }
    }
}

/// One event that was taken.
#[derive(Debug)]
pub(in crate::cli) struct Taken<'a> {
    pub(in crate::cli) line: u64,
    pub(in crate::cli) place: Place,
    /// As it stands in the input.
    pub(in crate::cli) json: &'a str,
    /// As it goes into a log.
    pub(in crate::cli) became: Vec<Expanded>,
    /// Why it changes nothing, if it is a patch that does not apply.
    pub(in crate::cli) unapplied: Option<String>,
}

/// The first event that broke a rule.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Violation {
    pub(in crate::cli) line: u64,
    pub(in crate::cli) place: Place,
    pub(in crate::cli) json: Box<str>,
    pub(in crate::cli) rule: Rule,
    pub(in crate::cli) message: String,
}

/// Why an input is not followed any further.
#[derive(Debug)]
pub(in crate::cli) enum Stop {
    Unreadable(FileError),
    Violation(Box<Violation>),
}

impl From<FileError> for Stop {
    fn from(error: FileError) -> Self {
        Self::Unreadable(error)
    }
}

/// What was taken so far.
#[derive(Debug)]
pub(in crate::cli) struct History {
    name: String,
    judge: StreamJudge,
    /// The last entry of a log; absent before the first.
    head: Option<Seq>,
    /// Events taken of a stream, or the seq of the last entry taken of a log.
    at: u64,
}

impl History {
    pub(in crate::cli) fn new(name: String) -> Self {
        Self {
            name,
            judge: StreamJudge::with_questions(),
            head: None,
            at: 0,
        }
    }

    pub(in crate::cli) fn conversation(&self) -> &Conversation {
        self.judge.conversation()
    }

    pub(in crate::cli) fn judge(&self) -> &StreamJudge {
        &self.judge
    }

    /// The events taken of a stream, or the last seq of a log.
    pub(in crate::cli) fn at(&self) -> u64 {
        self.at
    }

    /// Takes the next item and tells each event of it that was taken.
    ///
    /// # Errors
    /// An event breaks a rule, or the item does not fit the ones before it.
    pub(in crate::cli) fn take(
        &mut self,
        item: &Item,
        mut each: impl FnMut(Taken<'_>),
    ) -> Result<(), Stop> {
        match &item.piece {
            Piece::Event { json } => {
                let place = Place::Event(self.at + 1);
                each(self.event(item.line, place, Text::Sent(json))?);
                self.at += 1;
            }
            Piece::Entry { seq, body, .. } => {
                self.must_come_next(item.line, *seq, *seq)?;
                match body {
                    EntryBody::Event(json) => {
                        each(self.event(item.line, Place::Entry(*seq), Text::Logged(json))?);
                    }
                    EntryBody::Fact(fact) => self.fact(fact),
                }
                self.advance(*seq);
            }
            Piece::Range {
                from,
                seq,
                events,
                state,
                ..
            } => {
                self.must_come_next(item.line, *from, *seq)?;
                for (n, json) in (1..).zip(events) {
                    let (from, seq) = (*from, *seq);
                    let place = Place::Within { from, seq, n };
                    each(self.event(item.line, place, Text::Logged(json))?);
                }
                if let Some(Ok(state)) = state.as_ref().map(RawJson::to_value) {
                    let restated = make::state_snapshot(&state);
                    self.judge.conversation_mut().apply(&restated);
                }
                self.advance(*seq);
            }
            Piece::Anew { .. } => {
                (self.judge, self.head, self.at) = (StreamJudge::with_questions(), None, 0);
            }
            Piece::NoText { beginning } => {
                let place = Place::Event(self.at + 1);
                return Err(Stop::Violation(Box::new(Violation {
                    line: item.line,
                    place,
                    json: beginning.clone(),
                    rule: Rule::EventShape,
                    message: "it is no UTF-8".to_owned(),
                })));
            }
            Piece::Aside { .. } | Piece::Done => {}
        }
        Ok(())
    }

    /// Entries come without a gap, the first ones from 1.
    fn must_come_next(&self, line: u64, from: Seq, seq: Seq) -> Result<(), FileError> {
        let expected = self.head.unwrap_or(Seq::ZERO).next();
        if from != expected || seq < from {
            let found = from;
            let problem = match self.head {
                None => Problem::MidThread { found },
                Some(_) => Problem::Gap { expected, found },
            };
            return Err(FileError::of_line(self.name.clone(), line, problem));
        }
        Ok(())
    }

    fn advance(&mut self, seq: Seq) {
        (self.head, self.at) = (Some(seq), seq.get());
    }

    fn event<'a>(&mut self, line: u64, place: Place, text: Text<'a>) -> Result<Taken<'a>, Stop> {
        let json = text.as_str();
        let taken = match text {
            Text::Sent(json) => self.judge.take(json),
            Text::Logged(json) => match Event::from_raw(json.clone()) {
                Ok(event) => self.judge.take_logged(event),
                Err(_) => self.judge.take(json.as_str()),
            },
        };
        match taken {
            Ok(became) => Ok(Taken {
                line,
                place,
                json,
                unapplied: unapplied(&self.judge, &became),
                became,
            }),
            Err(Broken { rule, message, .. }) => Err(Stop::Violation(Box::new(Violation {
                line,
                place,
                json: json.into(),
                rule,
                message,
            }))),
        }
    }

    fn fact(&mut self, fact: &RawJson) {
        // A fact that cannot be read, or does not apply, changes nothing; so it is in a hub.
        if let Ok(Some(Fact::StatePatched(fact))) = Fact::read(fact, None)
            && let Ok(patch) = Patch::read(fact.patch.as_str())
        {
            let _unchanged = self.judge.conversation_mut().patch_state(&patch);
        }
    }
}

/// An event's text, by where it comes from.
#[derive(Clone, Copy)]
enum Text<'a> {
    Sent(&'a str),
    Logged(&'a RawJson),
}

impl<'a> Text<'a> {
    fn as_str(&self) -> &'a str {
        match self {
            Self::Sent(json) => json,
            Self::Logged(json) => json.as_str(),
        }
    }
}

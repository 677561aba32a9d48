//! A thread as a person reads it in a terminal: updates in, styled text out.
//!
//! Pure: no terminal, no clock. It is a view and no fold: it keeps only what naming needs (names of
//! tools, speakers, what was shown), so a change to something already on the paper is not shown
//! again.
//!
//! Invariant: text is on the paper once, in the order it came; lines of parallel speakers are told
//! apart by a label.

use std::collections::{HashMap, HashSet};

use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::json::RawJson;
use threadcast_agui::text::Escaped;
use threadcast_client::view::ThreadView;
use threadcast_client::{Mode, Seq, Update};

mod event;
mod fact;
mod paper;
mod view;

pub(crate) use paper::{Paper, Segment, Style, clean, clean_line, is_obeyed, shortened};
pub(crate) use view::{interrupt_lines, thread_lines};

/// Renders one thread.
#[derive(Debug)]
pub(crate) struct Renderer {
    thread: String,
    paper: Paper,
    /// Tool calls, for their results and for those who ask about them.
    calls: HashMap<String, Call>,
    /// Calls whose arguments a list of messages is about to say.
    listed: HashSet<String>,
    /// Who speaks in which message.
    speakers: HashMap<String, &'static str>,
    /// Names of subagents by invocation.
    subagents: HashMap<String, String>,
    /// Messages, results and activities that are on the paper, by kind and id.
    shown: HashSet<(Kind, String)>,
    current_run: Option<String>,
    is_lost: bool,
}

#[derive(Debug, Default)]
struct Call {
    name: String,
    arguments: Escaped,
    /// How much of the arguments is on the paper: a baseline may hold a call that still grows.
    shown_bytes: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Activity,
    Message,
    Reasoning,
    Result,
}

impl Renderer {
    pub(crate) fn new(thread: impl Into<String>) -> Self {
        Self {
            thread: thread.into(),
            paper: Paper::default(),
            calls: HashMap::new(),
            listed: HashSet::new(),
            speakers: HashMap::new(),
            subagents: HashMap::new(),
            shown: HashSet::new(),
            current_run: None,
            is_lost: false,
        }
    }

    /// What the update adds to the paper.
    pub(crate) fn update(&mut self, update: &Update) -> Vec<Segment> {
        match update {
            Update::Subscribed { mode, head, reason } => {
                self.subscribed(*mode, head.seq, reason.as_deref())
            }
            Update::Baseline { seq, events, view } => {
                self.forget();
                self.note(&format!("thread {} up to {seq}", self.thread));
                self.events(events, view.as_ref());
            }
            Update::Compacted { events, view, .. } => self.events(events, view.as_ref()),
            Update::Event { event, .. } => self.event_json(event, Asks::Shown),
            Update::Fact { fact, .. } => self.fact(fact),
            Update::Reset { reason } => {
                self.note(&format!("what is above is void ({reason}); starting over"))
            }
            Update::Lost { error, retry_in } => {
                self.is_lost = true;
                self.note(&format!(
                    "connection lost: {error}; trying again in {:.1} s",
                    retry_in.as_secs_f64()
                ));
            }
            _ => {}
        }
        self.paper.take()
    }

    /// Ends a line that is still growing.
    pub(crate) fn finish(&mut self) -> Vec<Segment> {
        self.paper.end_line();
        self.paper.take()
    }

    fn subscribed(&mut self, mode: Mode, head: Seq, reason: Option<&str>) {
        if std::mem::take(&mut self.is_lost) {
            self.note("connected again");
        }
        match (mode, reason) {
            (Mode::Snapshot | Mode::Log, Some(reason)) => {
                self.note(&format!("what is above is void ({reason}); starting over"));
            }
            _ if head == Seq::ZERO => {
                self.note(&format!("thread {} is empty; waiting", self.thread))
            }
            _ => {}
        }
    }

    fn forget(&mut self) {
        self.calls.clear();
        self.listed.clear();
        self.speakers.clear();
        self.subagents.clear();
        self.shown.clear();
        self.current_run = None;
    }

    /// Events that stand for many; the view knows best which questions are open.
    fn events(&mut self, events: &[RawJson], view: Option<&ThreadView>) {
        let asks = if view.is_some() {
            Asks::InView
        } else {
            Asks::Shown
        };
        self.expect_listed(events);
        for event in events {
            self.event_json(event, asks);
        }
        let Some(view) = view else { return };
        if let Some(state) = &view.state {
            self.paper
                .line("state", Style::Plain, &shortened(state.as_str()));
        }
        self.note(&view::status_line(view));
        for interrupt in &view.interrupts {
            view::ask(
                &mut self.paper,
                &self.thread,
                &interrupt.interrupt,
                interrupt.expired,
            );
        }
    }

    /// A baseline may begin calls again in front of the list that says with which arguments; they
    /// wait for it.
    fn expect_listed(&mut self, events: &[RawJson]) {
        let read = events
            .iter()
            .filter_map(|event| Event::from_raw(event.clone()).ok());
        for event in read {
            if let EventBody::MessagesSnapshot { messages } = event.body {
                let calls = messages.iter().flat_map(|message| message.tool_calls());
                let listed = calls.map(|call| call.id.as_str().to_owned());
                self.listed.extend(listed);
            }
        }
    }

    fn event_json(&mut self, json: &RawJson, asks: Asks) {
        match Event::from_raw(json.clone()) {
            Ok(event) => self.event(&event, asks),
            Err(error) => self.note(&format!("an event cannot be read: {error}")),
        }
    }

    /// Whether this is not on the paper yet; from now on it is.
    fn is_new(&mut self, kind: Kind, id: &str) -> bool {
        self.shown.insert((kind, id.to_owned()))
    }

    fn note(&mut self, text: &str) {
        self.paper.note(text);
    }
}

/// Where the questions of an interrupted run are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    InView,
    Shown,
}

#[cfg(test)]
pub(crate) mod recorded;
#[cfg(test)]
mod tests;

//! Events as entries of a log with facts between them, and viewers who take in compacted ones.

use std::sync::Arc;

use serde_json::{Value, json};
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::RunId;
use threadcast_agui::json::RawJson;
use threadcast_run_registry::compaction::Compacted;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::histories::{Random, diverged};
use threadcast_run_registry::registry::Registry;
use threadcast_thread_log::entry::{Body, Class, Entry, Millis, Origin, Record};
use threadcast_thread_log::position::Seq;

use crate::support::expected;
use crate::world::thread;

/// A viewer of everything: a fold whose entries are numbered as they come.
#[derive(Clone, Debug)]
pub(crate) struct Viewer {
    pub(crate) fold: Fold,
    run: Option<RunId>,
}

impl Viewer {
    pub(crate) fn new() -> Self {
        Self {
            fold: Fold::new(thread()),
            run: None,
        }
    }

    pub(crate) fn take(&mut self, body: Body) -> Result<(), String> {
        if let Body::Event { json, .. } = &body {
            let event =
                Event::from_raw(json.clone()).map_err(|error| format!("{json}: {error}"))?;
            let conversation = self.fold.conversation();
            let verdict = conversation
                .verifier()
                .judge(&event, &expected(&event, conversation));
            verdict.map_err(|violation| format!("{json}: {violation}"))?;
            if let EventBody::RunStarted { run, .. } = event.body {
                self.run = Some(run);
            }
        }
        let record = Record {
            at: Millis(0),
            run: self.run.clone(),
            origin: Origin::Agent,
            body,
        };
        self.fold.apply(&Entry {
            seq: self.fold.head().next(),
            class: Class::NONE,
            record: Arc::new(record),
        });
        Ok(())
    }

    pub(crate) fn follow(&mut self, entries: &[Entry]) -> Result<(), String> {
        let mut bodies = entries.iter().map(|entry| entry.record.body.clone());
        bodies.try_for_each(|body| self.take(body))
    }

    /// Takes in what stands for the entries after `after`.
    pub(crate) fn catch_up(&mut self, after: Seq, compacted: &[Compacted]) -> Result<Seq, String> {
        let mut reached = after;
        for piece in compacted {
            let first = match piece {
                Compacted::Events {
                    first,
                    last,
                    events,
                } => {
                    for json in events {
                        self.take(event_body(json.clone()))?;
                    }
                    (*first, *last)
                }
                Compacted::Fact(entry) => {
                    self.take(entry.record.body.clone())?;
                    (entry.seq, entry.seq)
                }
            };
            if first.0 != reached.next() || first.1 < first.0 {
                return Err(format!("{first:?} after {reached:?}: ranges do not touch"));
            }
            reached = first.1;
        }
        Ok(reached)
    }

    /// What differs from another one, if anything does.
    pub(crate) fn differs(&self, other: &Self) -> Option<&'static str> {
        let (own, others) = (self.fold.conversation(), other.fold.conversation());
        let differences = [
            ("messages", !own.messages().eq(others.messages())),
            (
                "bytes of messages",
                own.messages_bytes() != others.messages_bytes(),
            ),
            ("state", own.state() != others.state()),
            (
                "interrupts",
                own.pending_interrupts() != others.pending_interrupts(),
            ),
            (
                "calls",
                own.pending_tool_calls() != others.pending_tool_calls(),
            ),
            ("what is open", own.verifier() != others.verifier()),
            (
                "runs",
                runs(self.fold.registry()) != runs(other.fold.registry()),
            ),
        ];
        let mut differences = differences.into_iter().filter(|(_, differs)| *differs);
        differences.next().map(|(what, _)| what)
    }
}

/// What a registry says, but for seqs.
fn runs(registry: &Registry) -> String {
    let runs = registry.runs().iter().map(|run| {
        let (id, status, failure) = (&run.id, run.status, &run.failure);
        let ended = run.ended.map(|ended| ended.by_error);
        format!(
            "{id} {status:?} {ended:?} {failure:?} {}\n",
            run.cancel.is_some()
        )
    });
    let open = registry
        .interrupts()
        .open()
        .map(|raised| raised.interrupt.id.to_string());
    runs.chain(open).collect()
}

/// An entry that says nothing but this.
pub(crate) fn entry(seq: Seq, body: Body) -> Entry {
    let record = Record {
        at: Millis(0),
        run: None,
        origin: Origin::Agent,
        body,
    };
    Entry {
        seq,
        class: Class::NONE,
        record: Arc::new(record),
    }
}

pub(crate) fn event_body(json: RawJson) -> Body {
    Body::Event {
        json,
        from_chunk: false,
    }
}

/// How often people do things while agents speak.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Facts {
    Many,
    Needed,
}

/// The events as a hub would log them: a patch that fails is followed by the fact, runs are
/// accepted, and people do things in between.
pub(crate) fn log(events: &[Event], facts: Facts, random: &mut Random) -> Vec<Entry> {
    let mut author = Author {
        viewer: Viewer::new(),
        entries: Vec::new(),
    };
    for event in events {
        if let EventBody::RunStarted { run, .. } = &event.body {
            author.write_fact(&accepted(run));
        }
        let failed = diverged(author.viewer.fold.conversation(), event);
        author.write(event_body(event.json.clone()));
        if let Some(public) = failed {
            author.write(Body::Fact {
                public,
                private: None,
            });
        }
        if facts == Facts::Many && random.one_in(24) {
            let fact = author.some_fact(random);
            author.write_fact(&fact);
        }
    }
    author.entries
}

fn accepted(run: &RunId) -> Value {
    json!({"type": "run.accepted", "by": {"id": "ann"}, "runId": run, "agent": "demo", "messages": []})
}

struct Author {
    viewer: Viewer,
    entries: Vec<Entry>,
}

impl Author {
    fn write(&mut self, body: Body) {
        self.viewer.take(body.clone()).expect("histories are legal");
        self.entries.push(entry(self.viewer.fold.head(), body));
    }

    fn write_fact(&mut self, public: &Value) {
        let private = r#"{"attempt":"a","fingerprint":"00000000000000000000000000000000","content":{"input":{}}}"#;
        self.write(Body::Fact {
            public: RawJson::from_value(public),
            private: Some(RawJson::parse(private).expect("JSON")),
        });
    }

    fn some_fact(&self, random: &mut Random) -> Value {
        let run = self.viewer.run.as_ref();
        match random.below(4) {
            0 => json!({"type": "run.cancel_requested", "by": {"id": "ann"}, "runId": run}),
            1 => json!({"type": "of.later", "by": {"id": "ann"}}),
            _ => json!({"type": "state.patched", "by": {"id": "ann"},
                "patch": [{"op": "add", "path": "", "value": {"n": random.below(99), "list": []}}]}),
        }
    }
}

//! Whole logs: generated streams with the facts that a hub puts beside them.

use std::sync::Arc;

use serde_json::json;
use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::{InterruptId, RunId};
use threadcast_agui::interrupt::ResumeStatus;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::{Body, Class, Entry, Millis, Origin, Record};
use threadcast_thread_log::principal::Principal;

use crate::agent_name::AgentName;
use crate::class;
use crate::fact::{
    AcceptedResume, AnsweredEntry, AttemptId, Fact, InterruptReopened, InterruptResolved,
    RunAccepted, RunCancelRequested, RunDispatched, RunTrailing, StatePatched, Submission,
    SubmittedContent,
};
use crate::fingerprint::Fingerprint;
use crate::fold::Fold;
use crate::histories::colliding::colliding;
use crate::histories::diverging::diverged;
use crate::histories::expanded::history;
use crate::histories::random::Random;
use crate::histories::streams::stream;
use crate::stream_judge::StreamJudge;

/// The log of a random thread `t`: runs that are accepted, perhaps with answers, dispatched, and
/// heard, with what the hub notes beside them; the last run may be open.
pub fn log(seed: u64) -> Vec<Entry> {
    let mut author = Author {
        random: Random::new(seed),
        fold: Fold::new("t".parse().expect("an id")),
        entries: Vec::new(),
        run: "none".parse().expect("an id"),
    };
    for (event, from_chunk) in events(seed) {
        author.write(event, from_chunk);
    }
    author.entries
}

/// Events as they stand in a log, from the first run on.
fn events(seed: u64) -> Vec<(Event, bool)> {
    let all: Vec<_> = match seed % 3 {
        0 => history(seed)
            .into_iter()
            .map(|event| (event, false))
            .collect(),
        1 => colliding(seed)
            .into_iter()
            .map(|event| (event, false))
            .collect(),
        _ => {
            let mut judge = StreamJudge::new();
            let texts = stream(seed);
            let taken = texts
                .iter()
                .map(|text| judge.take(text).expect("it is legal"));
            let taken: Vec<_> = taken.flatten().collect();
            taken
                .into_iter()
                .map(|one| (one.event, one.from_chunk))
                .collect()
        }
    };
    let is_start = |event: &Event| matches!(event.body, EventBody::RunStarted { .. });
    all.into_iter()
        .skip_while(|(event, _)| !is_start(event))
        .collect()
}

struct Author {
    random: Random,
    fold: Fold,
    entries: Vec<Entry>,
    /// The run under way.
    run: RunId,
}

impl Author {
    fn write(&mut self, event: Event, from_chunk: bool) {
        if let EventBody::RunStarted { run, .. } = &event.body {
            self.run = run.clone();
            self.accept();
        }
        let diverged = diverged(self.fold.conversation(), &event);
        let (is_error, is_end) = match &event.body {
            EventBody::RunError { .. } => (true, true),
            EventBody::RunFinished { .. } => (false, true),
            _ => (false, false),
        };
        if is_error && self.random.one_in(2) {
            self.reopen();
        }
        self.push(
            class::of_event(&event.body),
            Origin::Agent,
            Body::Event {
                json: event.json,
                from_chunk,
            },
        );
        if let Some(public) = diverged {
            let body = Body::Fact {
                public,
                private: None,
            };
            self.push(Class::NONE, Origin::Hub, body);
        }
        if is_end && self.random.one_in(4) {
            self.note(
                Class::NONE,
                &Fact::RunTrailing(RunTrailing {
                    by: Principal::hub(),
                    run_id: self.run.clone(),
                    event_type: "RAW".into(),
                    is_last: false,
                }),
            );
        } else if !is_end && self.random.one_in(30) {
            self.note(
                Class::CONTROL,
                &Fact::RunCancelRequested {
                    public: RunCancelRequested {
                        by: ann(),
                        run_id: self.run.clone(),
                        reason: None,
                    },
                    attempt: AttemptId("stop".into()),
                },
            );
        }
    }

    fn accept(&mut self) {
        let interrupts = self.fold.registry().interrupts();
        let of = interrupts.latest_run().cloned();
        let open = interrupts.open().map(|raised| raised.interrupt.id.clone());
        let open: Vec<InterruptId> = open.collect();
        let mut resume = of.filter(|_| !open.is_empty()).map(|of| AcceptedResume {
            of,
            entries: Vec::new(),
        });
        if let Some(resume) = &mut resume {
            for id in open {
                resume.entries.push(self.answer(&resume.of, id));
            }
        }
        let input = json!({"threadId": "t", "runId": self.run.as_str(), "messages": []});
        let input = RawJson::from_value(&input);
        let agent = AgentName::new("a").expect("a name");
        let accepted = Fact::RunAccepted {
            submission: Submission {
                attempt: AttemptId("go".into()),
                fingerprint: Fingerprint::of_run(&agent, &input),
                content: SubmittedContent::Input(input),
            },
            public: RunAccepted {
                by: ann(),
                run_id: self.run.clone(),
                agent,
                messages: RawJson::from_trusted("[]"),
                resume,
            },
        };
        self.note(Class::CONTROL, &accepted);
        if self.random.one_in(3) {
            let patch = json!([{"op": "add", "path": "/by-ann", "value": self.entries.len()}]);
            let patch = RawJson::from_value(&patch);
            self.note(
                Class::STATE,
                &Fact::StatePatched(StatePatched { by: ann(), patch }),
            );
        }
        let run_id = self.run.clone();
        self.note(
            Class::NONE,
            &Fact::RunDispatched(RunDispatched {
                by: Principal::hub(),
                run_id,
            }),
        );
    }

    fn answer(&mut self, of: &RunId, interrupt_id: InterruptId) -> AnsweredEntry {
        let status = *self
            .random
            .pick(&[ResumeStatus::Resolved, ResumeStatus::Cancelled]);
        let payload =
            (status == ResumeStatus::Resolved).then(|| RawJson::from_trusted("{\"ok\":true}"));
        self.note(
            Class::CONTROL,
            &Fact::InterruptResolved(InterruptResolved {
                by: ann(),
                of: of.clone(),
                interrupt_id: interrupt_id.clone(),
                status,
                payload,
                run_id: self.run.clone(),
                unchecked: None,
            }),
        );
        AnsweredEntry {
            interrupt_id,
            status,
        }
    }

    /// Asks again what the run took, as if its agent had never been reached.
    fn reopen(&mut self) {
        let took = self
            .fold
            .registry()
            .run(&self.run)
            .and_then(|run| run.took.clone());
        if let Some(took) = took {
            self.note(
                Class::CONTROL,
                &Fact::InterruptReopened(InterruptReopened {
                    by: Principal::hub(),
                    of: took.of,
                    interrupt_ids: took.interrupts,
                    run_id: self.run.clone(),
                }),
            );
        }
    }

    fn note(&mut self, class: Class, fact: &Fact) {
        self.push(class, Origin::Principal(fact.by().clone()), fact.to_body());
    }

    fn push(&mut self, class: Class, origin: Origin, body: Body) {
        let seq = self.fold.head().next();
        let record = Arc::new(Record {
            at: Millis(1_000 + 10 * seq.get()),
            run: Some(self.run.clone()),
            origin,
            body,
        });
        let entry = Entry { seq, class, record };
        self.fold.apply(&entry);
        self.entries.push(entry);
    }
}

fn ann() -> Principal {
    Principal {
        id: "ann".into(),
        name: Some("Ann".into()),
    }
}

//! A source is copied into the log by owners whose requests and answers get lost, doubled and late,
//! while the lease goes from one to the next. Goal: the log is the source, each event once and in
//! order. Method: random schedules on the shared decision.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::conformance::model::Model;
use threadcast_thread_log::conformance::requests::{entry, node, request, take, token};
use threadcast_thread_log::engine::{Append, Guard, Outcome, RefusedReason, SourceRange};
use threadcast_thread_log::entry::{Class, NewEntry};
use threadcast_thread_log::lease::{LeaseChange, SeizedSource};

const EVENTS: u64 = 30;

#[derive(Clone, Debug)]
enum Step {
    /// An owner sends up to `size` events after what it knows to be in the log.
    Send {
        owner: prop::sample::Index,
        size: u64,
        fate: Fate,
    },
    /// A request that was sent before arrives once more.
    Double { request: prop::sample::Index },
    /// Another owner goes on with the same source.
    TakeOver,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Answered,
    RequestLost,
    AnswerLost,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let fate = prop_oneof![2 => Just(Fate::Answered), 1 => Just(Fate::RequestLost), 2 => Just(Fate::AnswerLost)];
    let step = prop_oneof![
        8 => (any::<prop::sample::Index>(), 1..6_u64, fate)
            .prop_map(|(owner, size, fate)| Step::Send { owner, size, fate }),
        3 => any::<prop::sample::Index>().prop_map(|request| Step::Double { request }),
        1 => Just(Step::TakeOver),
    ];
    vec(step, 0..80)
}

#[derive(Clone, Debug, Default)]
struct Owner {
    name: String,
    /// Events it knows to be in the log.
    acknowledged: u64,
    is_fenced: bool,
}

struct World {
    thread: ThreadId,
    model: Model,
    owners: Vec<Owner>,
    sent: Vec<Append>,
}

impl World {
    fn new() -> Self {
        let thread = ThreadId::new("th_1").unwrap();
        let mut model = Model::new("0");
        model.append(&Append {
            may_create: true,
            lease: take("owner-0"),
            ..request(&thread)
        });
        let owner = Owner {
            name: "owner-0".into(),
            ..Owner::default()
        };
        Self {
            thread,
            model,
            owners: vec![owner],
            sent: Vec::new(),
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Send { owner, size, fate } => {
                self.send(owner.index(self.owners.len()), *size, *fate)
            }
            Step::Double { request } => {
                if !self.sent.is_empty() {
                    let request = self.sent[request.index(self.sent.len())].clone();
                    self.model.append(&request);
                }
            }
            Step::TakeOver => self.take_over(),
        }
    }

    fn send(&mut self, owner: usize, size: u64, fate: Fate) {
        let Owner {
            name,
            acknowledged: from,
            is_fenced,
        } = self.owners[owner].clone();
        if is_fenced {
            return;
        }
        let to = (from + size).min(EVENTS);
        let append = Append {
            guard: Guard {
                lease: Some(token(&name)),
                ..Guard::default()
            },
            source: Some(SourceRange { from, to }),
            entries: (from + 1..=to).map(event).collect(),
            ..request(&self.thread)
        };
        self.sent.push(append.clone());
        if fate == Fate::RequestLost {
            return;
        }
        let outcome = self.model.append(&append);
        if fate == Fate::AnswerLost {
            return;
        }
        match outcome {
            Outcome::Appended(_) => self.owners[owner].acknowledged = to,
            Outcome::Refused(refused) if refused.reason == RefusedReason::Position => {
                assert!(
                    refused.head.source > from,
                    "nothing acknowledged is lost here"
                );
                self.owners[owner].acknowledged = refused.head.source;
            }
            Outcome::Refused(refused) => {
                assert_eq!(refused.reason, RefusedReason::Fenced);
                self.owners[owner].is_fenced = true;
            }
        }
    }

    fn take_over(&mut self) {
        let seen = self.model.meta.lease().expect("the lease stands");
        let name = format!("owner-{}", self.owners.len());
        let lease = LeaseChange::Seize {
            token: token(&name),
            node: node("n2"),
            seen_token: seen.token,
            seen_beat: seen.beat,
            source: SeizedSource::Continue,
        };
        self.model.append(&Append {
            lease,
            ..request(&self.thread)
        });
        self.owners.push(Owner {
            name,
            acknowledged: self.model.meta.source,
            is_fenced: false,
        });
    }
}

fn event(number: u64) -> NewEntry {
    entry(Class::NONE, number)
}

proptest! {
    #[test]
    fn log_is_the_source_exactly_once(steps in steps()) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
            let copied = world.model.meta.source;
            let log: Vec<u64> = world.model.entries.iter().map(|entry| entry.record.at.0).collect();
            prop_assert_eq!(log, (1..=copied).collect::<Vec<u64>>(), "the log is a prefix of the source");
        }
        let last = world.owners.len() - 1;
        while world.owners[last].acknowledged < EVENTS {
            world.send(last, 7, Fate::Answered);
        }
        prop_assert_eq!(world.model.entries.len() as u64, EVENTS);
    }
}

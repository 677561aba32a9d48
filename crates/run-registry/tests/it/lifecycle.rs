//! Whole lives of a thread at random: people who command, agents that answer, break off or
//! misbehave, replies that are lost. After every step the fold is compared with a naive reading of
//! the log, done another way.

use std::collections::BTreeMap;

use serde_json::Value;
use threadcast_agui::event::{Event, EventBody};
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::decide::{Command, Decision, Proposal};
use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::owner::Owner;
use threadcast_run_registry::thread_record::StoredRecord;
use threadcast_run_registry::verify::Expected;
use threadcast_thread_log::entry::{Body, Millis};

use crate::world::{
    Log, World, asks, cancel, error, finished, plain_resume, proposal, resume, run, started,
    thread, user,
};
use threadcast_run_registry::histories::Random;

/// Statuses and open interrupts as the log's text tells them: an event belongs to the run that the
/// latest RUN_STARTED named, as for a client that sees events only.
#[derive(Debug, Default)]
struct Naive {
    statuses: BTreeMap<String, &'static str>,
    open: Vec<String>,
    current: String,
    cancelled: Vec<String>,
    raised: Vec<String>,
}

impl Naive {
    fn of(log: &Log) -> Self {
        let mut naive = Self::default();
        for entry in &log.entries {
            match &entry.record.body {
                Body::Event { json, .. } => {
                    naive.event(&serde_json::from_str(json.as_str()).unwrap())
                }
                Body::Fact { public, .. } => {
                    naive.fact(&serde_json::from_str(public.as_str()).unwrap())
                }
            }
        }
        naive
    }

    fn fact(&mut self, fact: &Value) {
        let text = |name: &str| fact[name].as_str().unwrap_or_default().to_owned();
        match text("type").as_str() {
            "run.accepted" => {
                assert!(
                    fact.get("resume").is_some() || self.open.is_empty(),
                    "a run starts past open questions"
                );
                self.statuses.insert(text("runId"), "accepted");
            }
            "run.cancel_requested" => self.cancelled.push(text("runId")),
            "interrupt.resolved" => self.open.retain(|id| *id != text("interruptId")),
            "interrupt.reopened" => {
                let back: Vec<_> = fact["interruptIds"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter_map(Value::as_str)
                    .collect();
                self.open = self
                    .raised
                    .iter()
                    .filter(|id| back.contains(&id.as_str()))
                    .cloned()
                    .collect();
            }
            _ => {}
        }
    }

    fn event(&mut self, event: &Value) {
        match event["type"].as_str().unwrap() {
            "RUN_STARTED" => {
                self.current = event["runId"].as_str().unwrap().to_owned();
                let before = self.statuses.insert(self.current.clone(), "running");
                assert_eq!(before, Some("accepted"), "accepted, and started once");
            }
            "RUN_FINISHED" => {
                let status = match event["outcome"]["type"].as_str() {
                    Some("interrupt") => "interrupted",
                    Some("cancelled") => "cancelled",
                    _ => "success",
                };
                assert_eq!(
                    self.statuses.insert(self.current.clone(), status),
                    Some("running")
                );
                if status == "interrupted" {
                    let interrupts = event["outcome"]["interrupts"].as_array().unwrap();
                    self.raised = interrupts
                        .iter()
                        .map(|one| one["id"].as_str().unwrap().to_owned())
                        .collect();
                    self.open = self.raised.clone();
                }
            }
            "RUN_ERROR" => {
                let is_cancelled = match self.statuses[&self.current] {
                    "running" => self.cancelled.contains(&self.current),
                    status => status == "cancelled",
                };
                self.statuses.insert(
                    self.current.clone(),
                    if is_cancelled { "cancelled" } else { "error" },
                );
            }
            _ => {}
        }
    }
}

#[track_caller]
fn compare(world: &World, seed: u64) {
    let expected = Naive::of(&world.log);
    assert_eq!(statuses(world), expected.statuses, "seed {seed}");
    assert_eq!(world.open(), expected.open, "seed {seed}");
}

fn statuses(world: &World) -> BTreeMap<String, &'static str> {
    world
        .fold
        .registry()
        .runs()
        .iter()
        .map(|run| (run.id.to_string(), run.status.as_str()))
        .collect()
}

/// The events alone must be a stream that a plain client accepts.
fn check_projection(log: &Log) {
    let mut conversation = Conversation::new();
    for json in log.events() {
        let event = Event::read(&json).unwrap();
        let run = match &event.body {
            EventBody::RunStarted { run, .. } => run.clone(),
            _ => conversation
                .verifier()
                .active_run()
                .cloned()
                .unwrap_or_else(|| "none".parse().unwrap()),
        };
        let verdict = conversation.verifier().judge(
            &event,
            &Expected {
                thread: thread(),
                run,
            },
        );
        assert_eq!(verdict, Ok(()), "{json}");
        conversation.apply(&event);
    }
}

struct Life {
    random: Random,
    world: World,
    runs: usize,
    owner: Option<Owner>,
    /// Decided over an older fold.
    stale: Vec<(Command, Box<Proposal>)>,
}

impl Life {
    fn step(&mut self) {
        self.world.now = Millis(self.world.now.0 + 10);
        match self.random.below(12) {
            0..=2 => self.command(),
            3 => self.append_stale(),
            4 => self.own(),
            _ => self.agent(),
        }
        let active = self
            .world
            .fold
            .registry()
            .active()
            .map(|run| run.id.clone());
        let is_leased = self.world.log.meta.holder.is_some();
        assert_eq!(
            active.is_some(),
            is_leased,
            "the lease is held while a run is active"
        );
    }

    fn any_command(&mut self) -> Command {
        let id = if self.random.one_in(4) {
            self.random.below(self.runs + 1)
        } else {
            self.runs + 1
        };
        self.runs = self.runs.max(id);
        let (id, of) = (
            format!("r{id}"),
            format!("r{}", self.random.below(self.runs + 1)),
        );
        let of = match self.world.fold.registry().interrupts().latest_run() {
            Some(latest) if !self.random.one_in(4) => latest.to_string(),
            _ => of,
        };
        let answers = *self.random.pick(&[
            "i1:1",
            "i1:1 i2:2",
            "i2:2 i1:1",
            "i1:cancelled",
            "i1:1 i2:cancelled",
            "i2:1",
        ]);
        let new = format!(
            r#""messages":[{}]"#,
            user(&format!("u{}", self.random.below(9)))
        );
        match self.random.below(8) {
            0..=2 => run(&id, &new),
            3 => run(&id, r#""state":{"n":1}"#),
            4 | 5 => resume(&of, &id, answers),
            6 => plain_resume(&id, answers, if self.random.one_in(2) { &new } else { "" }),
            _ => cancel(&of),
        }
    }

    fn command(&mut self) {
        let command = self.any_command();
        if self.random.one_in(3) {
            if let Ok(decision @ Decision::Append(_)) = self.world.propose("bob", &command) {
                self.stale.push((command, proposal(decision)));
            }
        } else {
            // Refusals are as good as answers here: what counts is what they leave in the log.
            let _ = self.world.command("ann", &command);
        }
    }

    fn append_stale(&mut self) {
        if let Some((command, proposal)) = self.stale.pop()
            && !self.world.append(&proposal.append)
        {
            let _ = self.world.command("bob", &command);
        }
    }

    /// Whoever accepted the run begins to own it.
    fn own(&mut self) {
        let Some(active) = self
            .world
            .fold
            .registry()
            .active()
            .map(|run| run.id.to_string())
        else {
            return;
        };
        if self
            .owner
            .as_ref()
            .is_none_or(|owner| owner.run().as_str() != active)
        {
            let mut owner = self.world.owner(&active);
            if self.random.one_in(4) {
                owner.end(
                    &Ending::Unreached {
                        reason: "down".into(),
                    },
                    self.world.now,
                );
            } else {
                let append = owner.dispatched(&self.world.fold, self.world.now);
                self.world.owner_append(&mut owner, &append);
            }
            self.owner = Some(owner);
        }
    }

    fn agent(&mut self) {
        let Some(mut owner) = self.owner.take() else {
            return self.own();
        };
        let id = owner.run().to_string();
        let asked = [r#"{"id":"i1","reason":"x"}"#, r#"{"id":"i2","reason":"x"}"#];
        let asked = &asked[..1 + self.random.below(2)];
        let line = match self.random.below(14) {
            0..=2 => started(&id),
            3 => finished(&id),
            4 | 5 => asks(&id, asked),
            6 => error("failed"),
            7 => r#"{"type":"STATE_SNAPSHOT","snapshot":{"n":2}}"#.into(),
            8 => {
                r#"{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":3}]}"#.into()
            }
            9 => r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}"#.into(),
            10 => format!(
                r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"{id}","outcome":{{"type":"cancelled"}}}}"#
            ),
            _ => r#"{"type":"CUSTOM","name":"x","value":1}"#.into(),
        };
        // Most agents start before they speak.
        let is_silent = self.world.status(&id).as_str() == "accepted";
        if is_silent && !owner.has_ended() && !self.random.one_in(6) {
            owner.feed(&started(&id), self.world.now);
        }
        owner.feed(&line, self.world.now);
        if self.random.one_in(12) {
            let endings = [
                Ending::Abort,
                Ending::Truncated {
                    reason: "cut".into(),
                },
                Ending::Lost,
            ];
            owner.end(self.random.pick(&endings), self.world.now);
        }
        if self.random.one_in(3) {
            // The reply is lost.
            if let Some(append) = owner.next_append(&self.world.fold, self.world.now)
                && self.random.one_in(2)
            {
                self.world.append(&append);
            }
        } else {
            self.world.flush(&mut owner);
        }
        self.owner = Some(owner);
    }
}

#[test]
fn the_fold_says_what_the_log_says() {
    let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
    for seed in 0..600 {
        let random = Random::new(seed);
        let mut life = Life {
            random,
            world: World::new(),
            runs: 0,
            owner: None,
            stale: Vec::new(),
        };
        for _ in 0..80 {
            life.step();
            // Reading the whole log after each step is slow: some lives are compared all along, all
            // of them at the end.
            if seed % 20 == 0 {
                compare(&life.world, seed);
            }
        }
        compare(&life.world, seed);
        check_projection(&life.world.log);
        let again = life.world.log.fold();
        let (again, once) = (
            format!("{:?}", again.registry().runs()),
            format!("{:?}", life.world.fold.registry().runs()),
        );
        assert_eq!(again, once, "seed {seed}: folding again gives the same");
        if let Some(record) = &life.world.log.meta.record {
            let mut record = StoredRecord::from_bytes(record).unwrap();
            record.control = life.world.fold.versions().control;
            assert_eq!(record, StoredRecord::of(&life.world.fold), "seed {seed}");
        }
        statuses(&life.world)
            .values()
            .for_each(|status| *seen.entry(status).or_default() += 1);
    }
    for status in ["success", "interrupted", "error", "cancelled"] {
        assert!(
            seen.get(status).is_some_and(|count| *count > 80),
            "{seen:?}"
        );
    }
}

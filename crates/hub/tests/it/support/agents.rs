//! Agents that answer at once, through the log, and remember that they were started.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use threadcast_agui::json::RawJson;
use threadcast_hub::hub::{Agents, Hub, Start};
use threadcast_run_registry::agent_name::AgentName;
use threadcast_run_registry::ending::Ending;
use threadcast_run_registry::owner::{Owner, Retry};
use threadcast_thread_log::engine::{Append, Durability, Guard, Outcome, RefusedReason};
use threadcast_thread_log::entry::{Body, Class, Millis, NewEntry, Origin, Record};
use threadcast_thread_log::lease::LeaseChange;
use tokio::time::sleep;

/// Knows the agents `echo`, which runs at once and asks what it was told to ask, `idle`, whose owner is gone at once, and
/// `quiet`, whose owner lives and says nothing.
#[derive(Debug, Default)]
pub(crate) struct ScriptedAgents {
    /// Nobody owns what is started.
    is_dead: AtomicBool,
    /// Owners that say nothing do not even beat.
    is_paused: Arc<AtomicBool>,
    /// What became of the latest append of a quiet owner.
    refused: Arc<Mutex<Option<RefusedReason>>>,
    started: Mutex<Vec<String>>,
    lost: Mutex<Vec<String>>,
    forgotten: Mutex<Vec<String>>,
    questions: Mutex<VecDeque<Value>>,
}

impl ScriptedAgents {
    pub(crate) fn started(&self) -> Vec<String> {
        self.started.lock().clone()
    }

    /// Runs that were to be ended as lost.
    pub(crate) fn lost(&self) -> Vec<String> {
        self.lost.lock().clone()
    }

    /// Whatever is started from here on is left behind.
    pub(crate) fn die(&self) {
        self.is_dead.store(true, Ordering::SeqCst);
    }

    pub(crate) fn pause(&self, is_paused: bool) {
        self.is_paused.store(is_paused, Ordering::SeqCst);
    }

    /// Why a quiet owner is none any more.
    pub(crate) fn refused(&self) -> Option<RefusedReason> {
        *self.refused.lock()
    }

    /// The configuration knows this agent no more.
    pub(crate) fn forget(&self, agent: &str) {
        self.forgotten.lock().push(agent.into());
    }

    /// One more run of `echo` ends with these interrupts.
    pub(crate) fn ask(&self, interrupts: Value) {
        self.questions.lock().push_back(interrupts);
    }
}

impl Agents for ScriptedAgents {
    fn knows(&self, agent: &AgentName) -> bool {
        let is_forgotten = self
            .forgotten
            .lock()
            .iter()
            .any(|other| other == agent.as_str());
        ["echo", "idle", "quiet"].contains(&agent.as_str()) && !is_forgotten
    }

    fn start(&self, _: &Hub, start: Start) {
        self.started.lock().push(start.run.to_string());
        let agent = start
            .live
            .with_fold(|fold| fold.registry().run(&start.run).unwrap().agent.clone());
        if self.is_dead.load(Ordering::SeqCst) {
            return;
        }
        match agent.as_str() {
            "echo" => {
                tokio::spawn(echo(start, self.questions.lock().pop_front()));
            }
            "quiet" => {
                tokio::spawn(beat(
                    start,
                    Arc::clone(&self.is_paused),
                    Arc::clone(&self.refused),
                ));
            }
            _ => {}
        }
    }

    fn end_lost(&self, _: &Hub, start: Start) {
        self.lost.lock().push(start.run.to_string());
        tokio::spawn(end_lost(start));
    }
}

/// The owner of a run whose agent says nothing: it shows that it lives.
async fn beat(
    start: Start,
    is_paused: Arc<AtomicBool>,
    refused: Arc<Mutex<Option<RefusedReason>>>,
) {
    loop {
        sleep(Duration::from_secs(5)).await;
        if is_paused.load(Ordering::SeqCst) {
            continue;
        }
        let beat = of_lease(&start, LeaseChange::Renew, Vec::new());
        if let Outcome::Refused(why) = start.live.append(beat).await.unwrap() {
            *refused.lock() = Some(why.reason);
            return;
        }
    }
}

/// An append of the run's owner.
fn of_lease(start: &Start, lease: LeaseChange, entries: Vec<NewEntry>) -> Append {
    Append {
        thread: start.live.thread().clone(),
        known: start.live.head(),
        may_create: false,
        guard: Guard {
            lease: Some(start.lease.clone()),
            ..Guard::default()
        },
        lease,
        source: None,
        entries,
        record: None,
        durability: Durability::Durable,
    }
}

/// As the owner of a run ends it that another one left behind.
async fn end_lost(start: Start) {
    let messages = RawJson::from_value(&json!([]));
    let owner = start
        .live
        .with_fold(|fold| Owner::of_orphan(fold, &start.run, start.lease.clone(), 0, messages));
    let Some(mut owner) = owner else { return };
    owner.end(&Ending::Lost, Millis(9));
    while let Some(append) = start
        .live
        .with_fold(|fold| owner.next_append(fold, Millis(9)))
    {
        match start.live.append(append).await {
            Ok(Outcome::Appended(appended)) => owner.appended(&appended),
            Ok(Outcome::Refused(refused)) => {
                let retry = start.live.with_fold(|fold| owner.refused(&refused, fold));
                if retry == Retry::Fenced {
                    return;
                }
            }
            Err(_unknown) => sleep(Duration::from_secs(1)).await,
        }
    }
}

/// Runs from start to end in two appends of the lease.
async fn echo(start: Start, interrupts: Option<Value>) {
    let run = start.run.clone();
    let (thread, run_id) = (start.live.thread().to_string(), run.to_string());
    let entry = |event: Value, class: Class| NewEntry {
        class,
        record: Arc::new(Record {
            at: Millis(8),
            run: Some(run.clone()),
            origin: Origin::Agent,
            body: Body::Event {
                json: RawJson::from_value(&event),
                from_chunk: false,
            },
        }),
    };
    let started = entry(
        json!({ "type": "RUN_STARTED", "threadId": thread, "runId": run_id }),
        Class::CONTROL,
    );
    let mut finished = json!({ "type": "RUN_FINISHED", "threadId": thread, "runId": run_id });
    if let Some(interrupts) = interrupts {
        finished["outcome"] = json!({ "type": "interrupt", "interrupts": interrupts });
    }
    let finished = entry(finished, Class::CONTROL);
    for (entries, change) in [
        (vec![started], LeaseChange::Keep),
        (vec![finished], LeaseChange::Free),
    ] {
        let append = of_lease(&start, change, entries);
        let outcome = start.live.append(append).await.unwrap();
        assert!(
            matches!(outcome, Outcome::Appended(_)),
            "an owner's append was refused: {outcome:?}"
        );
    }
}

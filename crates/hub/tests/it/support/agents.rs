//! Agents that answer at once, through the log, and remember that they were started.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use threadcast_agui::json::RawJson;
use threadcast_hub::hub::{Agents, Hub, Start};
use threadcast_run_registry::agent_name::AgentName;
use threadcast_thread_log::engine::{Append, Durability, Guard, Outcome};
use threadcast_thread_log::entry::{Body, Class, Millis, NewEntry, Origin, Record};
use threadcast_thread_log::lease::LeaseChange;

/// Knows the agents `echo`, which runs at once and asks what it was told to ask, and `idle`, which never says anything.
#[derive(Debug, Default)]
pub(crate) struct ScriptedAgents {
    started: Mutex<Vec<String>>,
    forgotten: Mutex<Vec<String>>,
    questions: Mutex<VecDeque<Value>>,
}

impl ScriptedAgents {
    pub(crate) fn started(&self) -> Vec<String> {
        self.started.lock().clone()
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
        ["echo", "idle"].contains(&agent.as_str()) && !is_forgotten
    }

    fn start(&self, _: &Hub, start: Start) {
        self.started.lock().push(start.run.to_string());
        let agent = start
            .live
            .with_fold(|fold| fold.registry().run(&start.run).unwrap().agent.clone());
        if agent.as_str() == "echo" {
            tokio::spawn(echo(start, self.questions.lock().pop_front()));
        }
    }
}

/// Runs from start to end in two appends of the lease.
async fn echo(start: Start, interrupts: Option<Value>) {
    let Start { live, run, lease } = start;
    let (thread, run_id) = (live.thread().to_string(), run.to_string());
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
        let append = Append {
            thread: live.thread().clone(),
            known: live.head(),
            may_create: false,
            guard: Guard {
                lease: Some(lease.clone()),
                ..Guard::default()
            },
            lease: change,
            source: None,
            entries,
            record: None,
            durability: Durability::Durable,
        };
        let outcome = live.append(append).await.unwrap();
        assert!(
            matches!(outcome, Outcome::Appended(_)),
            "an owner's append was refused: {outcome:?}"
        );
    }
}

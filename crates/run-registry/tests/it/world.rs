//! A thread in a bottle: a log behind the shared append decision, people who command and agents who
//! answer.

use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::interrupt::ResumeEntry;
use threadcast_agui::run_input::RunInput;
use threadcast_run_registry::agent_name::AgentName;
use threadcast_run_registry::decide::{
    Answer, Asking, CancelCommand, Command, Decision, Proposal, Refusal, ResumeCommand, RunCommand,
    Verdicts, decide,
};
use threadcast_run_registry::fact::{AttemptId, Fact, RunAccepted};
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::owner::{AgentPolicy, Owner, OwnerStart, Retry};
use threadcast_thread_log::admit::admit;
use threadcast_thread_log::engine::{Append, Outcome, Refused};
use threadcast_thread_log::entry::{Body, Entry, Millis};
use threadcast_thread_log::lease::{LeaseToken, NodeId};
use threadcast_thread_log::meta::{Incarnation, LogId, Meta};
use threadcast_thread_log::principal::Principal;
use threadcast_thread_log::run_status::RunStatus;

/// The log of thread `t`, in memory.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub(crate) meta: Meta,
    pub(crate) entries: Vec<Entry>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self {
            meta: Meta::default(),
            entries: Vec::new(),
        }
    }

    pub(crate) fn append(&mut self, append: &Append) -> Outcome {
        let incarnation = Incarnation("one".into());
        match admit(&self.meta, append, &incarnation, || LogId("log".into())) {
            Ok(writes) => {
                self.meta = writes.meta;
                self.entries.extend(writes.entries);
                Outcome::Appended(writes.appended)
            }
            Err(reason) => {
                let after = self.meta.missed_after(&append.known);
                let missed = after.map_or(&[][..], |after| &self.entries[after.get() as usize..]);
                Outcome::Refused(Refused {
                    reason,
                    head: self.meta.to_head(),
                    missed: missed.to_vec(),
                })
            }
        }
    }

    /// Brings `fold` to the head.
    pub(crate) fn catch_up(&self, fold: &mut Fold) {
        for entry in &self.entries[fold.head().get() as usize..] {
            fold.apply(entry);
        }
        if let Some((epoch, _)) = self.meta.epochs.last() {
            fold.enter_epoch(epoch.clone());
        }
    }

    pub(crate) fn fold(&self) -> Fold {
        let mut fold = Fold::new(thread());
        self.catch_up(&mut fold);
        fold
    }

    /// The JSON of its events, in order.
    pub(crate) fn events(&self) -> Vec<String> {
        let event = |entry: &Entry| match &entry.record.body {
            Body::Event { json, .. } => Some(json.to_string()),
            Body::Fact { .. } => None,
        };
        self.entries.iter().filter_map(event).collect()
    }

    pub(crate) fn facts(&self) -> Vec<Fact> {
        self.entries.iter().filter_map(Fact::of).collect()
    }

    /// The type of each entry, events and facts alike.
    pub(crate) fn types(&self) -> Vec<String> {
        let json = |entry: &Entry| match &entry.record.body {
            Body::Event { json, .. } => json.clone(),
            Body::Fact { public, .. } => public.clone(),
        };
        let of = |entry: &Entry| {
            json(entry).to_value().unwrap()["type"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        self.entries.iter().map(of).collect()
    }
}

/// One thread, one fold of it that follows, and counters in place of chance.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) log: Log,
    pub(crate) fold: Fold,
    pub(crate) now: Millis,
    tries: usize,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            log: Log::new(),
            fold: Fold::new(thread()),
            now: Millis(1_000),
            tries: 0,
        }
    }

    /// What a node does about a command: decide, append, and once more from the start when refused.
    #[track_caller]
    pub(crate) fn command(&mut self, by: &str, command: &Command) -> Result<Answer, Refusal> {
        for _ in 0..8 {
            let decision = self.propose(by, command)?;
            let proposal = match decision {
                Decision::Settled(answer) => return Ok(answer),
                Decision::Append(proposal) => proposal,
            };
            if self.append(&proposal.append) {
                return Ok(proposal.answer);
            }
        }
        panic!("{command:?} was refused eight times")
    }

    pub(crate) fn propose(&mut self, by: &str, command: &Command) -> Result<Decision, Refusal> {
        self.tries += 1;
        let (attempt, lease) = (
            AttemptId(format!("attempt{}", self.tries).into()),
            lease(self.tries),
        );
        let (node, fresh_run) = (NodeId("n".into()), run_id(&format!("fresh{}", self.tries)));
        let by = principal(by);
        let asking = Asking {
            by: &by,
            now: self.now,
            attempt: &attempt,
            lease: &lease,
            node: &node,
            fresh_run: &fresh_run,
        };
        let mut verdicts = Verdicts::none();
        verdicts.judge(verdicts.unjudged(&self.fold, command));
        assert!(verdicts.unjudged(&self.fold, command).is_empty());
        let decision = decide(&self.fold, command, &verdicts, &asking);
        assert_eq!(
            decide(&self.fold, command, &verdicts, &asking),
            decision,
            "deciding is pure"
        );
        decision
    }

    /// Appends and follows; tells whether it was admitted.
    pub(crate) fn append(&mut self, append: &Append) -> bool {
        let outcome = self.log.append(append);
        self.log.catch_up(&mut self.fold);
        assert_eq!(
            self.fold.versions(),
            self.log.meta.versions,
            "versions are folded as they are stored"
        );
        matches!(outcome, Outcome::Appended(_))
    }

    #[track_caller]
    pub(crate) fn accepts(&mut self, by: &str, command: &Command, run: &str) {
        let answer = self.command(by, command);
        let expected = Answer {
            run: run_id(run),
            status: RunStatus::Accepted,
            duplicate: false,
        };
        assert_eq!(answer, Ok(expected));
    }

    /// The owner of an accepted run, as whoever holds its lease makes it.
    #[track_caller]
    pub(crate) fn owner(&self, run: &str) -> Owner {
        let lease = self
            .log
            .meta
            .holder
            .as_ref()
            .expect("the lease is taken")
            .token
            .clone();
        let accepted = self.accepted(run);
        Owner::new(OwnerStart {
            thread: thread(),
            accepted,
            lease,
            policy: AgentPolicy::default(),
        })
    }

    #[track_caller]
    pub(crate) fn accepted(&self, run: &str) -> RunAccepted {
        let accepted = self.log.facts().into_iter().find_map(|fact| match fact {
            Fact::RunAccepted { public, .. } if public.run_id == run_id(run) => Some(public),
            _ => None,
        });
        accepted.expect("the run was accepted")
    }

    /// Feeds `lines` and writes all there is to write.
    pub(crate) fn feed(&mut self, owner: &mut Owner, lines: &[String]) {
        for line in lines {
            owner.feed(line, self.now);
        }
        self.flush(owner);
    }

    pub(crate) fn flush(&mut self, owner: &mut Owner) -> Option<Retry> {
        let mut last = None;
        while let Some(append) = owner.next_append(&self.fold, self.now) {
            last = self.owner_append(owner, &append);
        }
        last
    }

    pub(crate) fn owner_append(&mut self, owner: &mut Owner, append: &Append) -> Option<Retry> {
        let outcome = self.log.append(append);
        self.log.catch_up(&mut self.fold);
        assert_eq!(
            self.fold.versions(),
            self.log.meta.versions,
            "versions are folded as they are stored"
        );
        match outcome {
            Outcome::Appended(appended) => {
                owner.appended(&appended);
                None
            }
            Outcome::Refused(refused) => Some(owner.refused(&refused, &self.fold)),
        }
    }

    /// Calls the agent and lets it answer with `lines`.
    #[track_caller]
    pub(crate) fn play(&mut self, run: &str, lines: &[String]) -> Owner {
        let mut owner = self.owner(run);
        let append = owner.dispatched(&self.fold, self.now);
        self.owner_append(&mut owner, &append);
        self.feed(&mut owner, lines);
        owner
    }

    #[track_caller]
    pub(crate) fn status(&self, run: &str) -> RunStatus {
        self.fold.registry().status(&run_id(run))
    }

    /// Ids of open interrupts.
    pub(crate) fn open(&self) -> Vec<String> {
        self.fold
            .registry()
            .interrupts()
            .open()
            .map(|raised| raised.interrupt.id.to_string())
            .collect()
    }
}

pub(crate) fn thread() -> ThreadId {
    "t".parse().unwrap()
}

pub(crate) fn run_id(run: &str) -> RunId {
    run.parse().unwrap()
}

pub(crate) fn principal(id: &str) -> Principal {
    Principal {
        id: id.into(),
        name: None,
    }
}

fn lease(number: usize) -> LeaseToken {
    LeaseToken(format!("lease{number}").into())
}

/// A run of agent `a` whose input has these further members.
#[track_caller]
pub(crate) fn run(run: &str, members: &str) -> Command {
    run_of("a", run, members)
}

#[track_caller]
pub(crate) fn run_of(agent: &str, run: &str, members: &str) -> Command {
    let messages = if members.contains("\"messages\"") {
        ""
    } else {
        r#","messages":[]"#
    };
    let members = if members.is_empty() {
        String::new()
    } else {
        format!(",{members}")
    };
    let json = format!(r#"{{"threadId":"t","runId":"{run}"{messages}{members}}}"#);
    let input = RunInput::read(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    Command::Run(RunCommand {
        agent: AgentName::new(agent).unwrap(),
        input,
    })
}

pub(crate) fn user(id: &str) -> String {
    format!(r#"{{"id":"{id}","role":"user","content":"hello"}}"#)
}

/// A resume; `entries` as in `i1:true, i2:cancelled`, the part behind the colon being a payload or
/// the status.
#[track_caller]
pub(crate) fn resume(of: &str, run: &str, answers: &str) -> Command {
    let entries = entries(answers)
        .iter()
        .map(|json| ResumeEntry::read(json).unwrap())
        .collect();
    Command::Resume(ResumeCommand {
        of: run_id(of),
        run: run_id(run),
        entries,
    })
}

/// The same answers as entries of a run input.
#[track_caller]
pub(crate) fn plain_resume(run: &str, answers: &str, members: &str) -> Command {
    let members = if members.is_empty() {
        String::new()
    } else {
        format!(",{members}")
    };
    self::run(
        run,
        &format!(r#""resume":[{}]{members}"#, entries(answers).join(",")),
    )
}

fn entries(answers: &str) -> Vec<String> {
    let one = |answer: &str| {
        let (id, said) = answer.split_once(':').expect("an answer is id:payload");
        match said {
            "cancelled" => format!(r#"{{"interruptId":"{id}","status":"cancelled"}}"#),
            payload => {
                format!(r#"{{"interruptId":"{id}","status":"resolved","payload":{payload}}}"#)
            }
        }
    };
    answers.split_whitespace().map(one).collect()
}

pub(crate) fn cancel(run: &str) -> Command {
    Command::Cancel(CancelCommand {
        run: run_id(run),
        reason: None,
    })
}

pub(crate) fn started(run: &str) -> String {
    format!(r#"{{"type":"RUN_STARTED","threadId":"t","runId":"{run}"}}"#)
}

pub(crate) fn finished(run: &str) -> String {
    format!(r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"{run}"}}"#)
}

/// A RUN_FINISHED that asks; `interrupts` are objects.
pub(crate) fn asks(run: &str, interrupts: &[&str]) -> String {
    let interrupts = interrupts.join(",");
    format!(
        r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"{run}","outcome":{{"type":"interrupt","interrupts":[{interrupts}]}}}}"#
    )
}

pub(crate) fn interrupt(id: &str) -> String {
    format!(r#"{{"id":"{id}","reason":"confirmation"}}"#)
}

pub(crate) fn error(message: &str) -> String {
    format!(r#"{{"type":"RUN_ERROR","message":"{message}"}}"#)
}

pub(crate) fn proposal(decision: Decision) -> Box<Proposal> {
    match decision {
        Decision::Append(proposal) => proposal,
        Decision::Settled(answer) => panic!("settled by {answer:?}"),
    }
}

pub(crate) fn lines<const N: usize>(lines: [&str; N]) -> Vec<String> {
    lines.map(str::to_owned).to_vec()
}

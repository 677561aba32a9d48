//! A primary loses a suffix and another incarnation appends over it, shorter, equal or longer,
//! again and again. Goal: whoever saw a lost entry is reset, and nobody else. Method: every
//! position ever handed out remembers what its viewer had seen, and is judged after each step.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::test_runner::TestCaseError;
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::conformance::model::Model;
use threadcast_thread_log::conformance::requests::{entry, request};
use threadcast_thread_log::engine::{Append, EPOCHS_MAX, Guard, Outcome, RefusedReason};
use threadcast_thread_log::entry::Class;
use threadcast_thread_log::position::{Position, PositionVerdict, Seq};

#[derive(Clone, Debug)]
enum Step {
    Append {
        count: u64,
    },
    /// The replica has all there is.
    Replicate,
    /// The primary is gone; the replica writes on.
    Failover,
    /// The primary dies and comes back whole.
    Restart,
}

fn steps(failovers: u32) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (1..4_u64).prop_map(|count| Step::Append { count }),
        3 => Just(Step::Replicate),
        failovers => Just(Step::Failover),
        1 => Just(Step::Restart),
    ];
    vec(step, 1..60)
}

/// A position some viewer keeps, with the numbers of all entries it has seen.
struct HandedOut {
    position: Position,
    seen: Vec<u64>,
    /// It was handed out with the entry itself, not while the viewer was still catching up.
    is_live: bool,
}

struct World {
    primary: Model,
    replica: Model,
    handed_out: Vec<HandedOut>,
    entries_made: u64,
    incarnations: u64,
}

impl World {
    fn new() -> Self {
        let primary = Model::new("0");
        let replica = primary.clone();
        Self {
            primary,
            replica,
            handed_out: Vec::new(),
            entries_made: 0,
            incarnations: 1,
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Append { count } => self.append(*count),
            Step::Replicate => self.replica = self.primary.clone(),
            Step::Failover => {
                self.primary = self.replica.clone();
                self.incarnate();
            }
            Step::Restart => self.incarnate(),
        }
    }

    fn incarnate(&mut self) {
        self.primary.incarnate(&self.incarnations.to_string());
        self.incarnations += 1;
    }

    /// Appends entries that no other append has, and hands out every position of the log as it is
    /// then.
    fn append(&mut self, count: u64) {
        let entries = (1..=count)
            .map(|number| entry(Class::CONTROL, self.entries_made + number))
            .collect();
        self.entries_made += count;
        let thread = ThreadId::new("th_1").unwrap();
        let outcome = self.primary.append(&Append {
            may_create: true,
            entries,
            ..request(&thread)
        });
        let Outcome::Appended(appended) = outcome else {
            panic!("nothing is guarded: {outcome:?}")
        };
        let log = numbers(&self.primary);
        for seen in 0..=log.len() {
            let seq = Seq::new(seen as u64).unwrap();
            let position = Position {
                epoch: appended.epoch.clone(),
                seq,
            };
            let is_live = seq >= appended.first;
            self.handed_out.push(HandedOut {
                position,
                seen: log[..seen].to_vec(),
                is_live,
            });
        }
    }

    fn judge(&self) -> Result<(), TestCaseError> {
        let log = numbers(&self.primary);
        let is_all_remembered = self.primary.meta.epochs.len() < EPOCHS_MAX;
        for HandedOut {
            position,
            seen,
            is_live,
        } in &self.handed_out
        {
            let is_prefix = log.starts_with(seen);
            let verdict = self.primary.meta.verdict(position);
            prop_assert!(
                is_prefix || verdict != PositionVerdict::Valid,
                "{position:?} would be spliced"
            );
            if is_prefix && *is_live && is_all_remembered {
                prop_assert_eq!(
                    verdict,
                    PositionVerdict::Valid,
                    "{:?} lost nothing",
                    position
                );
            }
        }
        Ok(())
    }

    /// A decision on what a viewer had seen is admitted only if the log still begins with it.
    fn decide(&self) -> Result<(), TestCaseError> {
        let thread = ThreadId::new("th_1").unwrap();
        let log = numbers(&self.primary);
        for HandedOut { position, seen, .. } in &self.handed_out {
            let guard = Guard {
                control: Some(position.seq),
                ..Guard::default()
            };
            let decision = Append {
                known: position.clone(),
                guard,
                ..request(&thread)
            };
            match self.primary.clone().append(&decision) {
                Outcome::Appended(_) => prop_assert_eq!(&log, seen),
                Outcome::Refused(refused) => {
                    prop_assert_eq!(refused.reason, RefusedReason::Conflict);
                    let missed: Vec<u64> = refused
                        .missed
                        .iter()
                        .map(|entry| entry.record.at.0)
                        .collect();
                    prop_assert!(missed.is_empty() || [&seen[..], &missed].concat() == log);
                }
            }
        }
        Ok(())
    }
}

fn numbers(model: &Model) -> Vec<u64> {
    model
        .entries
        .iter()
        .map(|entry| entry.record.at.0)
        .collect()
}

proptest! {
    #[test]
    fn only_who_saw_a_lost_entry_is_reset(steps in steps(3)) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
            world.judge()?;
        }
    }

    #[test]
    fn nobody_is_spliced_however_many_epochs_there_were(steps in vec(steps(12), 4)) {
        let mut world = World::new();
        for step in steps.iter().flatten() {
            world.step(step);
        }
        world.judge()?;
    }

    #[test]
    fn no_decision_is_admitted_on_entries_that_were_lost(steps in steps(3)) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
        if world.primary.meta.has_log() {
            world.decide()?;
        }
    }
}

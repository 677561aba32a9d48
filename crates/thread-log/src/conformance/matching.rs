//! The engine and the model on the same generated histories: same answers, same heads, same
//! entries.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};

use super::histories::{Intent, Step, histories, histories_with_reopening};
use super::model::Model;
use super::subject::{Subject, thread_id};
use super::{Factory, Reopen};
use crate::engine::{Engine, Head, Outcome};
use crate::error::EngineError;
use crate::position::{Epoch, Position, Seq};

/// The engine decides, numbers and refuses as [`admit`](crate::admit::admit) does.
pub async fn generated_requests_get_the_answers_of_admit(factory: &impl Factory) {
    compare_all(factory, &histories(), async |engine| engine).await;
}

/// The same where the store is opened again between the steps.
pub async fn generated_requests_get_the_answers_of_admit_when_reopened(factory: &impl Reopen) {
    compare_all(factory, &histories_with_reopening(), async |engine| {
        factory.reopen(engine).await
    })
    .await;
}

/// As many histories as proptest is told to try, each on a thread of its own; the first that
/// differs is made small.
async fn compare_all<F: Factory>(
    factory: &F,
    histories: &impl Strategy<Value = Vec<Step>>,
    reopen: impl AsyncFn(Arc<F::Engine>) -> Arc<F::Engine>,
) {
    let mut runner = TestRunner::new(Config::default());
    let mut engine = factory.open().await;
    let mut histories_run = 0;
    for _ in 0..runner.config().cases {
        let mut tree = histories
            .new_tree(&mut runner)
            .expect("histories are generated without rejects");
        let mut failure = None;
        loop {
            let steps = tree.current();
            histories_run += 1;
            let subject = Subject {
                engine,
                thread: thread_id(&format!("history-{histories_run}")),
            };
            let mut comparison = Comparison::new(subject);
            let result = comparison.run(&steps, &reopen).await;
            engine = comparison.subject.engine;
            let can_go_on = match result {
                Ok(()) if failure.is_none() => break,
                Ok(()) => tree.complicate(),
                Err(difference) => {
                    failure = Some((difference, steps));
                    tree.simplify()
                }
            };
            if !can_go_on {
                break;
            }
        }
        if let Some((difference, steps)) = failure {
            panic!("{difference}\nafter the last of these steps:\n{steps:#?}");
        }
    }
}

struct Comparison<E> {
    subject: Subject<E>,
    model: Model,
    engine_names: EpochNames,
    model_names: EpochNames,
    incarnations: u32,
}

impl<E: Engine> Comparison<E> {
    fn new(subject: Subject<E>) -> Self {
        Self {
            subject,
            model: Model::new("0"),
            engine_names: EpochNames::default(),
            model_names: EpochNames::default(),
            incarnations: 1,
        }
    }

    async fn run(
        &mut self,
        steps: &[Step],
        reopen: &impl AsyncFn(Arc<E>) -> Arc<E>,
    ) -> Result<(), String> {
        for (at, step) in steps.iter().enumerate() {
            let compared = async {
                match step {
                    Step::Append(intent) => self.append(intent).await?,
                    Step::Reopen => self.reopen(reopen).await,
                    Step::Delete { .. } | Step::SaveCheckpoint { .. } | Step::Trim { .. } => {
                        self.maintain(step).await?
                    }
                }
                self.compare_threads().await
            };
            compared
                .await
                .map_err(|difference| format!("step {at}: {difference}"))?;
        }
        Ok(())
    }

    async fn append(&mut self, intent: &Intent) -> Result<(), String> {
        let thread = &self.subject.thread;
        let of_model = self
            .model
            .append(&intent.resolve(thread, &self.model.head()));
        let of_engine = self
            .subject
            .append(intent.resolve(thread, &self.subject.head().await))
            .await;
        same(
            "answer",
            &self.engine_names.outcome(of_engine),
            &self.model_names.outcome(of_model),
        )
    }

    async fn maintain(&mut self, step: &Step) -> Result<(), String> {
        let subject = &self.subject;
        let head = subject.head().await;
        let behind =
            |behind: u64| Seq::new(head.seq.get().saturating_sub(behind)).unwrap_or_default();
        let was_allowed = match step {
            Step::Trim { behind: entries } => {
                match subject.engine.trim(&subject.thread, behind(*entries)).await {
                    Ok(()) => true,
                    Err(EngineError::NoCheckpoint { .. }) => false,
                    Err(error) => return Err(format!("trimming failed: {error}")),
                }
            }
            Step::SaveCheckpoint { behind: entries } => {
                let position = Position {
                    seq: behind(*entries),
                    ..subject.position().await
                };
                subject.save_checkpoint(position, b"fold").await;
                true
            }
            Step::Delete { note } => {
                subject.delete_with(&[*note]).await;
                true
            }
            Step::Append(_) | Step::Reopen => true,
        };
        same("leave", &was_allowed, &self.model.step(step))
    }

    async fn reopen(&mut self, reopen: &impl AsyncFn(Arc<E>) -> Arc<E>) {
        self.subject.engine = reopen(Arc::clone(&self.subject.engine)).await;
        self.model.incarnate(&self.incarnations.to_string());
        self.incarnations += 1;
        if self.subject.head().await.lease.is_none() {
            self.model.meta.holder = None;
        }
    }

    async fn compare_threads(&mut self) -> Result<(), String> {
        let head = self.subject.head().await;
        same(
            "head",
            &self.engine_names.head(head),
            &self.model_names.head(self.model.head()),
        )?;
        same(
            "entries",
            &self.subject.read_all().await,
            &self.model.read(Seq::ZERO),
        )?;
        let checkpoints: Vec<Seq> = self
            .subject
            .checkpoints()
            .await
            .iter()
            .map(|checkpoint| checkpoint.seq)
            .collect();
        let of_model: Vec<Seq> = self.model.checkpoints.keys().rev().copied().collect();
        same("checkpoints", &checkpoints, &of_model)
    }
}

fn same<T: PartialEq + Debug>(what: &str, of_engine: &T, of_model: &T) -> Result<(), String> {
    if of_engine == of_model {
        return Ok(());
    }
    Err(format!(
        "{what} of the engine is\n{of_engine:#?}\nand of the model\n{of_model:#?}"
    ))
}

/// Renames epochs in the order in which they come up: two stores choose other names for the same.
#[derive(Default)]
struct EpochNames(HashMap<Epoch, Epoch>);

impl EpochNames {
    fn epoch(&mut self, epoch: Epoch) -> Epoch {
        let number = self.0.len();
        self.0
            .entry(epoch)
            .or_insert_with(|| Epoch::new(number.to_string()))
            .clone()
    }

    fn head(&mut self, head: Head) -> Head {
        let epochs = head
            .epochs
            .into_iter()
            .map(|(epoch, first)| (self.epoch(epoch), first))
            .collect();
        Head { epochs, ..head }
    }

    fn outcome(&mut self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Appended(mut appended) => {
                appended.epoch = self.epoch(appended.epoch);
                Outcome::Appended(appended)
            }
            Outcome::Refused(mut refused) => {
                refused.head = self.head(refused.head);
                Outcome::Refused(refused)
            }
        }
    }
}

//! The program is killed before and after every write of generated histories. Goal: what was
//! acknowledged is found, and what was not is there as a whole or not at all. Method: the same
//! steps on the model; the step that was interrupted leaves the thread as after it if the write
//! that decides over it was done, else as before it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;
use threadcast_disk_log::{DiskEngine, WritePoint, WriteStage};
use threadcast_thread_log::conformance::histories::{Step, histories};
use threadcast_thread_log::conformance::model::Model;
use threadcast_thread_log::engine::{Checkpoint, Engine, Outcome};
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::Seq;

use crate::support::{
    FailingDisk, Found, append, copy, expected, found, open, open_plain, template, thread,
};

/// Long enough for a few parts.
const CHECKPOINT_BYTES: usize = 300_000;

struct Play {
    engine: DiskEngine,
    model: Model,
}

impl Play {
    fn new(engine: DiskEngine) -> Self {
        Self {
            engine,
            model: Model::new("0"),
        }
    }

    /// # Errors
    /// The engine failed; the model is as before the step.
    async fn step(&mut self, step: &Step) -> Result<(), EngineError> {
        let id = thread("th_1");
        let head = self.engine.head(&id).await?;
        let at = |behind: u64| Seq::new(head.seq.get().saturating_sub(behind)).unwrap();
        match step {
            Step::Append(intent) => {
                let outcome = append(&self.engine, intent.resolve(&id, &head)).await?;
                let was_written = matches!(outcome, Outcome::Appended(_));
                let of_model = self.model.append(&intent.resolve(&id, &self.model.head()));
                assert_eq!(was_written, matches!(of_model, Outcome::Appended(_)));
            }
            Step::SaveCheckpoint { behind } => {
                let Some((epoch, _)) = head.epochs.last() else {
                    return Ok(());
                };
                let checkpoint = Checkpoint {
                    seq: at(*behind),
                    epoch: epoch.clone(),
                    bytes: vec![7; CHECKPOINT_BYTES],
                };
                self.engine.save_checkpoint(&id, checkpoint).await?;
                self.model.step(step);
            }
            Step::Trim { behind } => {
                let was_trimmed = match self.engine.trim(&id, at(*behind)).await {
                    Err(EngineError::NoCheckpoint { .. }) => false,
                    other => other.map(|()| true)?,
                };
                assert_eq!(was_trimmed, self.model.step(step));
            }
            Step::Delete { note } => {
                self.engine.delete(&id, vec![*note]).await?;
                self.model.step(step);
            }
            Step::Reopen => {}
        }
        Ok(())
    }

    /// The model after the step that was interrupted.
    fn completed(&self, step: &Step) -> Model {
        let mut model = self.model.clone();
        match step {
            Step::Append(intent) => {
                drop(model.append(&intent.resolve(&thread("th_1"), &model.head())))
            }
            other => drop(model.step(other)),
        }
        model
    }
}

/// How many stages the history has when nothing fails.
async fn stages(template: &Path, steps: &[Step]) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    copy(template, directory.path());
    let disk = Arc::<FailingDisk>::default();
    let mut play = Play::new(open(directory.path(), &disk));
    for step in steps {
        play.step(step).await.unwrap();
    }
    assert_eq!(
        found(&play.engine, &thread("th_1")).await,
        expected(&play.model)
    );
    play.engine.close();
    nothing_is_left_over(&directory, &play.model);
    let checkpoint_lines = 1 + CHECKPOINT_BYTES.div_ceil(128 << 10);
    let expected = play.model.checkpoints.len() * checkpoint_lines;
    assert_eq!(lines(&directory, "checkpoints"), expected);
    disk.stages.load(Ordering::SeqCst)
}

/// The database holds the kept entries and no chores. Parts of a checkpoint that was never
/// finished may stay until the next trim.
fn nothing_is_left_over(directory: &TempDir, model: &Model) {
    assert_eq!(lines(directory, "entries"), model.read(Seq::ZERO).len());
    assert_eq!(lines(directory, "chores"), 0);
}

fn lines(directory: &TempDir, keyspace: &str) -> usize {
    let database = fjall::Database::builder(directory.path().join("0"))
        .open()
        .unwrap();
    let keyspace = database.keyspace(keyspace, Default::default).unwrap();
    keyspace.len().unwrap()
}

/// Plays the history, killed at that stage, and goes on with the rest.
async fn killed_at(template: &Path, stage: u64, steps: &[Step]) -> Result<(), String> {
    let id = thread("th_1");
    let directory = tempfile::tempdir().unwrap();
    copy(template, directory.path());
    let disk = Arc::<FailingDisk>::default();
    disk.fails_at.store(stage, Ordering::SeqCst);
    let mut play = Play::new(open(directory.path(), &disk));
    for (number, step) in steps.iter().enumerate() {
        if play.step(step).await.is_ok() {
            continue;
        }
        play.engine.close();
        let killed_in = disk.failed_in.lock().unwrap().unwrap();
        if was_done(killed_in) {
            play.model = play.completed(step);
        }
        play.engine = open_plain(directory.path());
        play.model.incarnate("1");
        play.model.meta.holder = None;
        let is: Found = found(&play.engine, &id).await;
        let should_be = expected(&play.model);
        if is != should_be {
            return Err(format!(
                "killed in step {number}, at {killed_in:?}, the thread is\n{is:#?}\nand not\n{should_be:#?}"
            ));
        }
    }
    if found(&play.engine, &id).await != expected(&play.model) {
        return Err("what followed the kill went wrong".into());
    }
    play.engine.close();
    nothing_is_left_over(&directory, &play.model);
    Ok(())
}

/// Whether the write that decides over a step was done before the kill.
fn was_done((point, stage): (WritePoint, WriteStage)) -> bool {
    match point {
        WritePoint::Append | WritePoint::Checkpoint | WritePoint::Trim | WritePoint::Delete => {
            stage == WriteStage::After
        }
        WritePoint::CheckpointPart => false,
        // It follows a trim or a deletion.
        WritePoint::Removal => true,
        WritePoint::Work | WritePoint::Reclaim => panic!("the histories have none"),
    }
}

/// Kills at every stage of a few histories.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_between_any_two_writes() {
    let mut runner = TestRunner::new(Config::default());
    let template = template();
    let mut kills = 0;
    while kills < 120 {
        let steps = histories().new_tree(&mut runner).unwrap().current();
        for stage in 1..=stages(template.path(), &steps).await {
            kills += 1;
            if let Err(difference) = killed_at(template.path(), stage, &steps).await {
                panic!("killed at stage {stage}: {difference}\nof\n{steps:#?}");
            }
        }
    }
}

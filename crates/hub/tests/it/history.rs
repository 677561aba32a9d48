//! What a thread was at an entry of its past.

use threadcast_hub::history::FoldAtError;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::histories::log;
use threadcast_thread_log::engine::{Checkpoint, Engine};
use threadcast_thread_log::position::Seq;

use super::checkpoints::{as_new, folded};
use super::support::Rig;
use super::support::log::thread;

fn seq(seq: u64) -> Seq {
    Seq::new(seq).unwrap()
}

async fn at(rig: &Rig, at: u64) -> Result<Fold, FoldAtError> {
    rig.hub.fold_at(&thread("t"), seq(at)).await
}

#[tokio::test]
async fn a_thread_can_be_told_at_every_entry() {
    for seed in 0..6 {
        let rig = Rig::new();
        let head = rig.engine.write("t", as_new(&log(seed))).await.get();
        for kept in [None, Some(head / 3), Some(head / 2)] {
            if let Some(kept) = kept {
                keep(&rig, kept).await;
            }
            for asked in 0..=head {
                let found = at(&rig, asked).await.unwrap();
                let expected = folded(&rig.engine, asked).await;
                assert_eq!(found.position(), expected.position(), "seed {seed}");
                assert_eq!(
                    found.to_checkpoint(),
                    expected.to_checkpoint(),
                    "seed {seed} at {asked}, kept at {kept:?}"
                );
            }
        }
    }
}

async fn keep(rig: &Rig, at: u64) {
    let fold = folded(&rig.engine, at).await;
    let checkpoint = Checkpoint {
        seq: seq(at),
        epoch: fold.position().epoch.clone(),
        bytes: fold.to_checkpoint(),
    };
    let memory = rig.engine.memory();
    memory
        .save_checkpoint(&thread("t"), checkpoint)
        .await
        .unwrap();
}

#[tokio::test]
async fn what_cannot_be_told_is_said_with_both_numbers() {
    let rig = Rig::new();
    let nothing = at(&rig, 1).await.unwrap_err();
    assert_eq!(nothing.to_string(), "thread `t` has no log");
    let head = rig.engine.write("t", as_new(&log(1))).await.get();
    let beyond = at(&rig, head + 3).await.unwrap_err().to_string();
    assert!(beyond.contains(&format!("entry {} ", head + 3)), "{beyond}");
    assert!(beyond.ends_with(&format!("ends with {head}")), "{beyond}");
    keep(&rig, 6).await;
    rig.engine
        .memory()
        .trim(&thread("t"), seq(6))
        .await
        .unwrap();
    match at(&rig, 5).await.unwrap_err() {
        FoldAtError::Trimmed { first, .. } => assert_eq!(first, seq(6)),
        other => panic!("{other}"),
    }
    assert_eq!(at(&rig, 6).await.unwrap().head(), seq(6));
    assert_eq!(at(&rig, head).await.unwrap().head(), seq(head));
    rig.engine
        .memory()
        .delete(&thread("t"), Vec::new())
        .await
        .unwrap();
    assert!(matches!(
        at(&rig, 6).await,
        Err(FoldAtError::NoThread { .. })
    ));
}

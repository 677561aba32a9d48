//! Logs that lose their beginning, and what viewers of them are told.

use std::time::Duration;

use serde_json::json;
use threadcast_hub::recent::RecentBounds;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::histories::log;
use threadcast_run_registry::retention::Retention;
use threadcast_thread_log::engine::Engine;
use threadcast_thread_log::position::Seq;
use threadcast_wire::limits::Limits;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::checkpoints::{as_new, folded};
use super::decisions::run_command;
use super::support::engine::TestEngine;
use super::support::log::{long_delta, thread};
use super::support::viewer::held_by_hub;
use super::support::{Rig, person};

fn entries(max: u64) -> Retention {
    Retention {
        entries: Some(max),
        ..Retention::default()
    }
}

/// So many runs of three entries each.
async fn run(rig: &Rig, runs: std::ops::Range<u64>) -> u64 {
    let live = rig.hub.live(&thread("t")).await.unwrap();
    for at in runs.clone() {
        let command = run_command("echo", "t", &format!("r{at}"));
        rig.hub
            .command(thread("t"), &person("ann"), command)
            .await
            .unwrap();
        rig.until(|_| live.head().seq.get() == 3 * (at + 1)).await;
    }
    3 * runs.end
}

async fn trim(rig: &Rig, retention: Retention) -> Option<u64> {
    let through = rig.hub.trim(&thread("t"), &retention).await.unwrap();
    through.map(Seq::get)
}

async fn first(rig: &Rig) -> u64 {
    rig.engine
        .memory()
        .head(&thread("t"))
        .await
        .unwrap()
        .first
        .get()
}

#[tokio::test]
async fn a_log_is_trimmed_between_runs_and_its_fold_stays() {
    let rig = Rig::new();
    let head = run(&rig, 0..10).await;
    let expected = folded(&rig.engine, head).await.to_checkpoint();
    assert_eq!(trim(&rig, entries(30)).await, None);
    assert_eq!(trim(&rig, entries(8)).await, Some(24));
    assert_eq!(first(&rig).await, 25);
    assert_eq!(trim(&rig, entries(8)).await, None);
    let live = rig.hub.live(&thread("t")).await.unwrap();
    assert_eq!(live.first_retained().get(), 25);
    assert_eq!(live.with_fold(Fold::to_checkpoint), expected);
    let again = Rig::with(rig.engine.restarted().await, Limits::default());
    let live = again.hub.live(&thread("t")).await.unwrap();
    assert_eq!(live.with_fold(Fold::to_checkpoint), expected);
    // Ids stay known.
    let command = run_command("echo", "t", "r0");
    let answer = again
        .hub
        .command(thread("t"), &person("ann"), command)
        .await
        .unwrap();
    assert!(answer.duplicate);
    // One run always stays.
    assert_eq!(trim(&rig, entries(0)).await, Some(27));
}

#[tokio::test]
async fn age_and_bytes_trim_as_well() {
    let rig = Rig::new();
    run(&rig, 0..10).await;
    let days = Retention {
        age_ms: Some(3_600_000),
        ..Retention::default()
    };
    assert_eq!(
        trim(&rig, days).await,
        None,
        "its runs were accepted just now"
    );
    let whole = Retention {
        bytes: Some(1 << 20),
        ..Retention::default()
    };
    assert_eq!(trim(&rig, whole).await, None);
    let little = Retention {
        bytes: Some(2000),
        ..Retention::default()
    };
    let through = trim(&rig, little).await.unwrap();
    assert!(through > 0 && through % 3 == 0, "{through}");
    // Entries of the scripted agent are from 1970.
    let none = Retention {
        age_ms: Some(0),
        ..Retention::default()
    };
    assert_eq!(trim(&rig, none).await, Some(27));
}

#[tokio::test]
async fn nothing_is_trimmed_while_a_run_is_active() {
    let rig = Rig::new();
    run(&rig, 0..10).await;
    let command = run_command("idle", "t", "active");
    rig.hub
        .command(thread("t"), &person("ann"), command)
        .await
        .unwrap();
    assert_eq!(trim(&rig, entries(1)).await, None);
}

#[tokio::test]
async fn nothing_is_trimmed_behind_a_run_whose_interrupts_are_open() {
    let rig = Rig::new();
    run(&rig, 0..3).await;
    rig.agents.ask(json!([{ "id": "i1", "reason": "why" }]));
    run(&rig, 3..4).await;
    assert_eq!(trim(&rig, entries(1)).await, Some(9));
    assert_eq!(trim(&rig, entries(1)).await, None);
}

/// Goal: whoever asks for the log of a trimmed thread has what was trimmed as a baseline and every
/// entry that is kept.
#[tokio::test]
async fn a_reader_of_the_log_gets_a_baseline_of_what_was_trimmed_and_every_entry_since() {
    let rig = Rig::new();
    let head = run(&rig, 0..10).await;
    trim(&rig, entries(12)).await;
    let told = rig.engine.told("t").await;
    assert_eq!(told.len(), 12);
    // By the log, from nothing; by a position of it that is trimmed; and on another node, that has
    // not heard of it.
    let epoch = rig.hub.live(&thread("t")).await.unwrap().head().epoch;
    let starts = [
        json!({ "start": "log" }),
        json!({ "start": "log", "epoch": epoch, "after": 3 }),
    ];
    for start in starts {
        let mut viewer = rig.connect().await;
        viewer.subscribe_with("t", start.clone()).await;
        viewer.read_to("t", head).await;
        let replica = viewer.replica("t");
        assert_eq!(
            replica.history[..3],
            ["reset", "subscribed", "events"],
            "{start}"
        );
        assert_eq!(replica.reason.as_deref(), Some("trimmed"), "{start}");
        assert_eq!(replica.baseline, head - 12, "{start}");
        assert_eq!(replica.entries, told, "{start}");
        assert_eq!(replica.held(), held_by_hub(&rig.hub, "t").await, "{start}");
        let view = replica.view.as_ref().unwrap();
        assert_eq!(view.runs.len(), 6, "the view of that entry");
    }
}

#[tokio::test]
async fn a_position_below_the_first_entry_that_is_kept_is_reset() {
    let rig = Rig::new();
    let mut viewer = rig.watch("t").await;
    let head = run(&rig, 0..10).await;
    viewer.read_to("t", head).await;
    let mut held = viewer.into_replica("t");
    trim(&rig, entries(12)).await;
    let mut viewer = rig.connect().await;
    let start = json!({ "epoch": held.position.epoch, "after": 17 });
    viewer.subscribe_with("t", start).await;
    viewer.read_to("t", head).await;
    assert_eq!(viewer.replica("t").reason.as_deref(), Some("trimmed"));
    rig.assert_held(&viewer, "t").await;
    // The last one that is dropped is a place to go on from.
    let mut viewer = rig.connect().await;
    held.position.seq = Seq::new(18).unwrap();
    (held.entries, held.history) = (Vec::new(), Vec::new());
    viewer.resume("t", held).await;
    viewer.read_to("t", head).await;
    assert_eq!(viewer.replica("t").history[0], "subscribed");
    assert_eq!(viewer.replica("t").entries, rig.engine.told("t").await);
}

/// Goal: a reader whose next entries are trimmed while its socket is blocked misses nothing that is
/// kept. Method: another node trims, so that this one learns of it by reading.
#[tokio::test]
async fn entries_that_are_trimmed_before_a_slow_reader_took_them_are_told_by_a_baseline() {
    let rig = Rig::new();
    let mut viewer = rig.connect_buffering(1 << 10).await;
    viewer.welcome().await;
    let head = run(&rig, 0..400).await;
    viewer.subscribe_with("t", json!({ "start": "log" })).await;
    rig.until(|hub| hub.session_stats()[0].is_blocked).await;
    let other = Rig::with(
        TestEngine::of(rig.engine.memory().clone()),
        Limits::default(),
    );
    assert_eq!(trim(&other, entries(30)).await, Some(head - 30));
    viewer.read_to("t", head).await;
    let replica = viewer.replica("t");
    assert!(replica.history.contains(&"reset"), "{:?}", replica.history);
    assert_eq!(replica.baseline, head - 30);
    assert_eq!(replica.entries, rig.engine.told("t").await);
    assert_eq!(replica.held(), held_by_hub(&rig.hub, "t").await);
}

/// The same for who holds the fold: it is told by a range that was made before, or begins anew, and
/// is whole.
#[tokio::test]
async fn a_slow_viewer_of_a_log_that_is_trimmed_ends_whole() {
    for keeps in [3, 30, 300, 1100] {
        let rig = Rig::new();
        let mut viewer = rig.connect_buffering(1 << 10).await;
        viewer.welcome().await;
        run(&rig, 0..1).await;
        viewer.subscribe("t").await;
        let head = run(&rig, 1..400).await;
        rig.until(|hub| hub.session_stats()[0].is_blocked).await;
        let other = Rig::with(
            TestEngine::of(rig.engine.memory().clone()),
            Limits::default(),
        );
        assert_eq!(
            trim(&other, entries(keeps)).await,
            Some(head - keeps / 3 * 3)
        );
        viewer.read_to("t", head).await;
        rig.assert_held(&viewer, "t").await;
    }
}

#[tokio::test]
async fn a_baseline_of_what_was_trimmed_that_is_too_long_is_refused_and_a_long_one_comes_in_parts()
{
    for (baseline_bytes, is_whole) in [(1 << 20, true), (20_000, false)] {
        let limits = Limits {
            baseline_bytes,
            part_over_bytes: 30_000,
            part_bytes: 1000,
            ..Limits::default()
        };
        let rig = Rig::with(TestEngine::new(), limits);
        let mut long = super::support::log::run("t", 0, 1);
        long.insert(4, long_delta("m0", 40_000));
        rig.engine.write("t", long).await;
        let head = 7 + run_from(&rig, 7, 4).await;
        assert_eq!(trim(&rig, entries(6)).await, Some(head - 6));
        let mut viewer = rig.connect().await;
        viewer.subscribe_with("t", json!({ "start": "log" })).await;
        if is_whole {
            viewer.read_to("t", head).await;
            assert_eq!(viewer.replica("t").held(), held_by_hub(&rig.hub, "t").await);
            assert_eq!(viewer.replica("t").entries, rig.engine.told("t").await);
        } else {
            while !viewer.replica("t").history.contains(&"unsubscribed") {
                viewer.next().await.unwrap();
            }
        }
    }
}

/// Runs behind `before` other entries; gives how many entries they are.
async fn run_from(rig: &Rig, before: u64, runs: u64) -> u64 {
    let live = rig.hub.live(&thread("t")).await.unwrap();
    for at in 0..runs {
        let command = run_command("echo", "t", &format!("x{at}"));
        rig.hub
            .command(thread("t"), &person("ann"), command)
            .await
            .unwrap();
        rig.until(|_| live.head().seq.get() == before + 3 * (at + 1))
            .await;
    }
    3 * runs
}

/// Goal: whatever the policy, what is kept folds to what all of it did, and a cut lies in no run.
#[tokio::test]
async fn generated_logs_keep_their_fold_under_any_policy() {
    let mut trimmed = 0;
    for seed in 0..60 {
        let rig = Rig::new();
        let head = rig.engine.write("t", as_new(&log(seed))).await.get();
        let expected = folded(&rig.engine, head).await;
        for max in [head / 2, head / 4, 1] {
            let Some(through) = trim(&rig, entries(max)).await else {
                continue;
            };
            trimmed += 1;
            for run in expected.registry().runs() {
                let end = run.ended.map_or(u64::MAX, |ended| ended.seq.get());
                let is_inside = run.accepted.get() <= through && through < end;
                assert!(
                    !is_inside,
                    "seed {seed}: trimmed through {through} in run {}",
                    run.id
                );
            }
            let again = Rig::with(rig.engine.restarted().await, Limits::default());
            let live = again.hub.live(&thread("t")).await.unwrap();
            let found = live.with_fold(Fold::to_checkpoint);
            assert_eq!(
                found,
                expected.to_checkpoint(),
                "seed {seed}, {max} entries"
            );
            assert_eq!(
                again
                    .hub
                    .fold_at(&thread("t"), Seq::new(through).unwrap())
                    .await
                    .unwrap()
                    .head()
                    .get(),
                through
            );
        }
    }
    assert!(trimmed > 20, "{trimmed}");
}

#[tokio::test(start_paused = true)]
async fn threads_are_trimmed_when_their_runs_end_and_all_within_an_hour() {
    let rig = Rig::node(
        "n1",
        TestEngine::new(),
        Limits::default(),
        RecentBounds::default(),
    );
    // From before anybody looked.
    run(&rig, 0..4).await;
    let stop = CancellationToken::new();
    let retaining = {
        let (hub, stop) = (rig.hub.clone(), stop.clone());
        tokio::spawn(async move { hub.retain(entries(6), stop).await })
    };
    sleep(Duration::from_secs(1)).await;
    assert_eq!(first(&rig).await, 7);
    run(&rig, 4..6).await;
    sleep(Duration::from_secs(61)).await;
    assert_eq!(first(&rig).await, 13);
    // Written by another node.
    let other = Rig::with(
        TestEngine::of(rig.engine.memory().clone()),
        Limits::default(),
    );
    run(&other, 6..9).await;
    sleep(Duration::from_secs(3600)).await;
    assert_eq!(first(&rig).await, 22);
    stop.cancel();
    retaining.await.unwrap();
    rig.hub
        .retain(Retention::default(), CancellationToken::new())
        .await;
}

//! Opening a long thread after a restart, and looking back in it.

use std::time::Instant;

use serde_json::{Value, json};

use super::{Times, run_to_end, start};
use crate::data_dir::DataDir;
use crate::http;
use crate::program::Program;
use crate::recording::Recording;
use crate::replay::Replay;
use crate::torture::dice::Dice;
use crate::viewer::{Start, Viewer};

/// Restarts of each kind.
const RESTARTS: usize = 5;

/// Places that are looked back to.
const PLACES: usize = 50;

/// A run of about so many entries: messages of eight pieces each, or one message.
fn long(entries: usize, is_one_message: bool) -> Vec<Value> {
    let piece = |message: &str, n: usize| {
        let delta = format!("piece {n} of a long story that goes on and on. ");
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": delta })
    };
    let begin = |message: &str| json!({ "type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant" });
    let end = |message: &str| json!({ "type": "TEXT_MESSAGE_END", "messageId": message });
    let mut events = vec![json!({ "type": "RUN_STARTED", "threadId": "THREAD", "runId": "RUN" })];
    if is_one_message {
        events.push(begin("story"));
        events.extend((0..entries).map(|n| piece("story", n)));
        events.push(end("story"));
    } else {
        for message in 0..entries / 10 {
            let message = format!("m{message}");
            events.push(begin(&message));
            events.extend((0..8).map(|n| piece(&message, n)));
            events.push(end(&message));
        }
    }
    events.push(json!({ "type": "RUN_FINISHED", "threadId": "THREAD", "runId": "RUN" }));
    events
}

/// Prints how long a new viewer waits for a thread of so many entries, and how long a look back
/// takes.
pub async fn measure(entries: usize) {
    for (name, is_one_message) in [("messages", false), ("one message", true)] {
        let recording = Recording::scripted("long", &[long(entries, is_one_message)]);
        let replay = Replay::start([recording]).await;
        let data = DataDir::new();
        let args = ["--data", data.path().to_str().unwrap()];
        let hub = start(&replay.agents(), &args).await;
        let began = Instant::now();
        let head = run_to_end(&hub, "long", "long").await;
        let rate = head as f64 / began.elapsed().as_secs_f64();
        println!("{name}: {head} entries from agent to viewer, {rate:.0} a second");
        hub.kill().await;

        // In this order, for a hub that is stopped keeps the folds that it holds.
        for (end, is_killed) in [("killed", true), ("stopped", false)] {
            let (mut opening, mut times, mut bytes) = (Times::default(), Times::default(), 0);
            for _ in 0..RESTARTS {
                let hub = start(&[], &args).await;
                let mut viewer = Viewer::connect(&hub.ws()).await;
                let began = Instant::now();
                viewer.subscribe("long", Start::Snapshot).await;
                opening.add(began.elapsed());
                viewer.frames_to("long", head).await;
                times.add(began.elapsed());
                bytes = viewer.received_bytes();
                drop(viewer);
                if is_killed {
                    hub.kill().await;
                } else {
                    hub.stop().await;
                }
            }
            println!(
                "{name}: a new viewer behind a hub that was {end} is subscribed after {:.1} ms, has its \
                 {bytes} bytes after {:.1} ms (medians), {:.1} ms (worst of {RESTARTS})",
                opening.percentile_ms(50),
                times.percentile_ms(50),
                times.percentile_ms(100)
            );
        }
        let hub = start(&[], &args).await;
        look_back(name, &hub, head).await;
        hub.stop().await;
    }
}

async fn look_back(name: &str, hub: &Program, head: u64) {
    let (mut dice, mut times) = (Dice::new(1), Times::default());
    for _ in 0..PLACES {
        let at = 1 + dice.below(head);
        let began = Instant::now();
        let answer = http::get(hub.address(), &format!("/threads/long/state?at={at}")).await;
        times.add(began.elapsed());
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    println!(
        "{name}: state?at any of {PLACES} entries takes {:.1} ms (median), {:.1} ms (worst)",
        times.percentile_ms(50),
        times.percentile_ms(100)
    );
}

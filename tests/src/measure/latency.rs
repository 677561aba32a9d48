//! The way of an event from its agent to a viewer, on either engine.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::pacing_agent::{Pace, PacingAgent};
use super::{Times, run, start};
use crate::data_dir::DataDir;
use crate::viewer::{Start, Viewer};

/// A thousand events a second.
const EVERY: Duration = Duration::from_millis(1);

/// Rounds of both engines, one after the other, so that what else the machine does hits both.
const ROUNDS: usize = 3;

/// Prints percentiles of the way at 1,000 events a second, for so many events a round.
pub async fn measure(events: usize) {
    let began = Instant::now();
    let pace = Pace {
        events,
        every: EVERY,
    };
    let agent = PacingAgent::start(pace, began).await;
    let (mut memory, mut disk) = (Times::default(), Times::default());
    for _ in 0..ROUNDS {
        follow(&agent, began, &["--engine", "memory"], &mut memory).await;
        let data = DataDir::new();
        let args = ["--data", data.path().to_str().unwrap()];
        follow(&agent, began, &args, &mut disk).await;
    }
    for (name, times) in [("memory", &memory), ("disk", &disk)] {
        println!(
            "{name}: agent to viewer at 1,000 events/s: {:.2} ms (median), {:.2} ms (p99)",
            times.percentile_ms(50),
            times.percentile_ms(99)
        );
    }
    let difference = disk.percentile_ms(99) - memory.percentile_ms(99);
    println!("the p99 grows by {difference:.2} ms");
}

async fn follow(agent: &PacingAgent, began: Instant, args: &[&str], times: &mut Times) {
    let hub = start(&agent.agents(), args).await;
    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer.subscribe("paced", Start::Log).await;
    let answer = viewer.ask(run("paced", "paced", "first")).await;
    assert_eq!(answer["op"], "ok", "{answer}");
    loop {
        let frame = viewer.frame().await.expect("the hub stays");
        let now = began.elapsed();
        if frame["event"]["type"] == "RUN_FINISHED" {
            break;
        }
        times
            .0
            .extend(said_at(&frame).map(|said| now.saturating_sub(said)));
    }
    drop(viewer);
    hub.stop().await;
}

fn said_at(frame: &Value) -> Option<Duration> {
    let delta = frame["event"]["delta"].as_str()?;
    let micros = delta.split(' ').next()?.parse().ok()?;
    Some(Duration::from_micros(micros))
}

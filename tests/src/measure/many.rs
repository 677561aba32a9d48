//! Many threads on disk, few of them in use.

use std::time::{Duration, Instant};

use serde_json::Value;
use threadcast_agui::ids::ThreadId;
use threadcast_disk_log::{DiskEngine, DiskOptions};
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::fork::fork;
use threadcast_thread_log::engine::{Durability, Engine};
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Position;
use threadcast_thread_log::principal::Principal;

use super::pacing_agent::{Pace, PacingAgent};
use super::{run, start};
use crate::data_dir::DataDir;
use crate::http;
use crate::program::Program;
use crate::viewer::{Start, Viewer};

/// Prints what a hub holds in memory with so many threads on disk, of which `active` run.
pub async fn measure(threads: usize, active: usize) {
    let data = DataDir::new();
    let logs = data.path().join("logs");
    write(&logs, threads).await;
    // They speak for as long as it is measured.
    let pace = Pace {
        events: 100_000,
        every: Duration::from_millis(100),
    };
    let agent = PacingAgent::start(pace, Instant::now()).await;
    let args = ["--data", logs.to_str().unwrap()];
    let began = Instant::now();
    let hub = start(&agent.agents(), &args).await;
    let opened_ms = began.elapsed().as_millis();
    println!(
        "{threads} threads: the hub listens after {opened_ms} ms, {}",
        memory(&hub).await
    );

    let mut viewer = Viewer::connect(&hub.ws()).await;
    for n in 0..active {
        let thread = thread(n * (threads / active));
        viewer.subscribe(&thread, Start::Snapshot).await;
        let answer = viewer.ask(run("paced", &thread, "first")).await;
        assert_eq!(answer["op"], "ok", "{answer}");
    }
    println!(
        "{active} of them run and are watched: {}",
        memory(&hub).await
    );
    let began = Instant::now();
    for n in 0..threads.min(2000) {
        let answer = http::get(hub.address(), &format!("/threads/{}", thread(n))).await;
        assert_eq!(answer.status, 200);
    }
    let took_s = began.elapsed().as_secs_f64();
    println!(
        "2,000 others were looked at in {took_s:.1} s: {}",
        memory(&hub).await
    );
    drop(viewer);
    hub.kill().await;
}

fn thread(n: usize) -> String {
    format!("thread-{n:06}")
}

async fn write(logs: &std::path::Path, threads: usize) {
    let engine = DiskEngine::open(logs, &DiskOptions::default()).unwrap();
    let empty = Fold::new("none".parse().unwrap());
    let began = Instant::now();
    for n in 0..threads {
        let to: ThreadId = thread(n).parse().unwrap();
        let by = Principal::anonymous();
        let mut append = fork(&empty, &to, &by, Millis(0), &Position::default()).unwrap();
        append.durability = Durability::Held;
        engine.append(append).await.unwrap();
    }
    let took_s = began.elapsed().as_secs_f64();
    println!("{threads} threads of 5 entries written in {took_s:.1} s");
    tokio::task::spawn_blocking(move || engine.close())
        .await
        .unwrap();
}

/// Resident memory of the hub, and how many threads it holds.
async fn memory(hub: &Program) -> String {
    let status = std::fs::read_to_string(format!("/proc/{}/status", hub.pid())).unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let health: Value = http::get(hub.address(), "/healthz").await.json();
    format!(
        "resident memory {}, {} threads in memory",
        resident.map_or("unknown", str::trim),
        health["threads"]
    )
}

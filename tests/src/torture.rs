//! A hub on disk that is killed at random moments, under load, and what must stand all the same.
//!
//! Hands start, answer and cancel runs of an agent whose events are numbered; watchers come back by
//! their positions; in between the hub is killed (SIGKILL) and started on its directory again. At
//! the end everything runs out, and the logs are compared with what was answered, sent and called.
//!
//! A seed repeats the plan: what runs do, when the hub is killed. How the processes interleave it
//! does not repeat.

pub mod agent;
pub mod dice;
pub mod hand;
pub mod judge;
pub mod victim;
pub mod viewer;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::viewer::{Start, Viewer};
use crate::within;

use agent::NumberingAgent;
use hand::{Answered, Hand};
use judge::{Log, judge_calls};
use victim::{Address, Victim};
use viewer::{Wants, Watcher};

/// Threads under load.
const THREADS: usize = 5;

/// Hands on each of them.
const HANDS: [&str; 2] = ["left", "right"];

/// What happened, and what was wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub kills: u64,
    pub entries: usize,
    pub runs: usize,
    /// Runs whose agent was called and lost.
    pub lost: usize,
    pub answers: usize,
    pub calls: usize,
    pub problems: Vec<String>,
}

/// Kills a hub so many times; `seed` repeats the plan.
///
/// # Panics
/// The hub does not start, or what must happen does not happen in time.
pub async fn torture(kills: u64, seed: u64) -> Report {
    let agent = NumberingAgent::start(seed).await;
    let mut victim = Victim::new(seed, agent.url());
    let threads: Vec<String> = (0..THREADS).map(|n| format!("thread-{n}")).collect();
    let (told_heads, heads) = watch::channel(None);
    let mut watching = watch_all(seed, &threads, &victim.address(), &heads);
    let rest = Arc::new(AtomicBool::new(false));
    let steering = steer(seed, &threads, &victim.address(), &rest);

    victim.be_killed(kills).await;
    let hub = victim.live().await;
    rest.store(true, Ordering::SeqCst);
    let answered = within("the last answers", steering.join_all()).await;
    let ends = within(
        "the end of all runs",
        run_out(seed, &threads, victim.address()),
    )
    .await;
    told_heads.send_replace(Some(ends.clone()));
    let mut watchers = Vec::new();
    while let Some(watcher) = within("the last frames", watching.join_next()).await {
        watchers.push(watcher.unwrap());
    }
    let logs = read_all(&hub.ws(), &ends).await;
    hub.stop().await;
    let hub = victim.live().await;
    let again = read_all(&hub.ws(), &ends).await;
    hub.stop().await;

    let answered: Vec<Answered> = answered.into_iter().flatten().collect();
    let mut problems = judge(&logs, &answered, &watchers, &agent);
    problems.extend(victim.complaints());
    if logs
        .iter()
        .any(|(thread, log)| again[thread].entries != log.entries)
    {
        problems.push("a restart in peace changed a log".to_owned());
    }
    let facts = |fact_type: &str| count(&logs, |entry| entry["type"] == fact_type);
    Report {
        kills,
        entries: count(&logs, |_| true),
        runs: facts("run.accepted"),
        lost: count(&logs, |entry| entry["code"] == "AGENT_LOST"),
        answers: answered.len(),
        calls: agent.calls().len(),
        problems,
    }
}

fn count(logs: &BTreeMap<String, Log>, is_meant: impl Fn(&serde_json::Value) -> bool) -> usize {
    let entries = logs.values().flat_map(|log| &log.entries);
    entries.filter(|entry| is_meant(entry)).count()
}

fn watch_all(
    seed: u64,
    threads: &[String],
    address: &Address,
    heads: &viewer::Heads,
) -> JoinSet<Watcher> {
    let mut watching = JoinSet::new();
    for (n, wants) in [Wants::Log, Wants::Fold, Wants::Log, Wants::Fold]
        .into_iter()
        .enumerate()
    {
        let watcher = Watcher::new(seed, format!("watcher-{n}"), wants, threads);
        watching.spawn(watcher.follow(address.clone(), heads.clone()));
    }
    watching
}

/// Hands that act until they may rest; what they were answered.
fn steer(
    seed: u64,
    threads: &[String],
    address: &Address,
    rest: &Arc<AtomicBool>,
) -> JoinSet<Vec<Answered>> {
    let mut steering = JoinSet::new();
    for thread in threads {
        for name in HANDS {
            let mut hand = Hand::new(seed, thread, name, address.clone());
            let rest = Arc::clone(rest);
            steering.spawn(async move {
                while !rest.load(Ordering::SeqCst) {
                    hand.act().await;
                }
                hand.answered
            });
        }
    }
    steering
}

/// Ends what still runs; the heads of all threads then.
async fn run_out(seed: u64, threads: &[String], address: Address) -> BTreeMap<String, u64> {
    let mut heads = BTreeMap::new();
    for thread in threads {
        let mut hand = Hand::new(seed, thread, "last", address.clone());
        while hand.clear().await {}
        heads.insert(thread.clone(), hand.head().await);
    }
    heads
}

/// The whole logs, every entry by itself.
async fn read_all(url: &str, heads: &BTreeMap<String, u64>) -> BTreeMap<String, Log> {
    let mut logs = BTreeMap::new();
    for (thread, head) in heads {
        let mut viewer = Viewer::connect(url).await;
        viewer.subscribe(thread, Start::Log).await;
        let mut log = Log {
            thread: thread.clone(),
            ..Log::default()
        };
        for mut frame in viewer.frames_to(thread, *head).await {
            if frame["op"] != "epoch" {
                assert_eq!(
                    frame["seq"],
                    log.entries.len() + 1,
                    "the log itself: {frame}"
                );
                let body = if frame["op"] == "fact" {
                    "fact"
                } else {
                    "event"
                };
                log.entries.push(frame[body].take());
            }
        }
        logs.insert(thread.clone(), log);
    }
    logs
}

fn judge(
    logs: &BTreeMap<String, Log>,
    answered: &[Answered],
    watchers: &[Watcher],
    agent: &NumberingAgent,
) -> Vec<String> {
    let mut problems = Vec::new();
    for log in logs.values() {
        log.judge_runs(&mut problems);
        log.judge_answers(&mut problems);
        for watcher in watchers {
            log.judge_seen(watcher, &mut problems);
        }
    }
    for answered in answered {
        let thread = &answered.command["threadId"];
        let thread = thread
            .as_str()
            .or_else(|| answered.command["input"]["threadId"].as_str());
        logs[thread.unwrap()].judge_answered(answered, &mut problems);
    }
    judge_calls(&agent.calls(), logs, &mut problems);
    problems.extend(watchers.iter().flat_map(|watcher| watcher.problems.clone()));
    problems
}

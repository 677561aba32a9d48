//! A process that appends is killed by the system, again and again. Goal: what it said it had done
//! is found by the next, in order and without a gap. Method: this program again, as a child that
//! prints every acknowledged append.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use threadcast_agui::ids::ThreadId;
use threadcast_disk_log::{DiskEngine, DiskOptions};
use threadcast_thread_log::conformance::requests::{entry, request};
use threadcast_thread_log::engine::{Append, Checkpoint, Durability, Engine, Outcome};
use threadcast_thread_log::entry::{Class, Millis};
use threadcast_thread_log::position::Seq;

use crate::support::{ALL, append, thread};

const DIRECTORY: &str = "THREADCAST_DISK_LOG_TEST_DIRECTORY";
const THREADS: u64 = 6;
const KILLS: u32 = 12;

fn id(number: u64) -> ThreadId {
    thread(&format!("th_{number}"))
}

/// What the child does: entry n of a thread says n.
async fn write_until_killed(engine: DiskEngine, number: u64) {
    let id = id(number);
    let mut said = engine.head(&id).await.unwrap().seq.get();
    for round in 0.. {
        let count = round % 5 + 1;
        let entries = (1..=count)
            .map(|next| entry(Class::NONE, said + next))
            .collect();
        let durability = if round % 7 == 0 {
            Durability::Durable
        } else {
            Durability::Held
        };
        let request = Append {
            may_create: true,
            entries,
            durability,
            ..request(&id)
        };
        let outcome = append(&engine, request).await.unwrap();
        let Outcome::Appended(appended) = outcome else {
            panic!("{outcome:?}");
        };
        said = appended.last.get();
        println!("ack {number} {said}");
        if round % 40 == 39 {
            let checkpoint = Checkpoint {
                seq: appended.last,
                epoch: appended.epoch,
                bytes: vec![1; 200_000],
            };
            engine.save_checkpoint(&id, checkpoint).await.unwrap();
            engine.trim(&id, appended.last).await.unwrap();
        }
    }
}

/// Returns at once unless it is the child.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the program that is killed is this one"
)]
fn child() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let engine = DiskEngine::open(directory.as_ref(), &DiskOptions::default()).unwrap();
        let mut writers = Vec::new();
        for number in 0..THREADS {
            writers.push(tokio::spawn(write_until_killed(engine.clone(), number)));
        }
        futures::future::join_all(writers).await;
    });
}

/// Lets the child write for a while and kills it; tells the last acknowledged seq by thread.
fn play_child(directory: &std::path::Path, wait: Duration) -> HashMap<u64, u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "kill::child"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = child.stdout.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut acknowledged = HashMap::new();
        for line in BufReader::new(out).split(b'\n') {
            let line = String::from_utf8(line.unwrap()).unwrap();
            // The last line may be half a line.
            if let Some((_, rest)) = line.split_once("ack ")
                && let Some((number, seq)) = rest.split_once(' ')
                && let (Ok(number), Ok(seq)) = (number.parse::<u64>(), seq.parse::<u64>())
            {
                acknowledged.insert(number, seq);
            }
        }
        acknowledged
    });
    std::thread::sleep(wait);
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(!status.success(), "it wrote until it was killed");
    reading.join().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let mut acknowledged_in_all = 0;
    for kill in 0..KILLS {
        let wait = Duration::from_millis(u64::from(150 + kill * 71 % 300));
        let path = directory.path().to_owned();
        let acknowledged = tokio::task::spawn_blocking(move || play_child(&path, wait))
            .await
            .unwrap();
        let engine = DiskEngine::open(directory.path(), &DiskOptions::default()).unwrap();
        for number in 0..THREADS {
            let head = engine.head(&id(number)).await.unwrap();
            let last = acknowledged.get(&number).copied().unwrap_or(0);
            assert!(head.seq.get() >= last, "{} of {last}", head.seq);
            acknowledged_in_all += last;
            let entries = engine.read(&id(number), Seq::ZERO, ALL).await.unwrap();
            let said: Vec<Millis> = entries.iter().map(|entry| entry.record.at).collect();
            let expected: Vec<Millis> = (head.first.get()..=head.seq.get()).map(Millis).collect();
            assert_eq!(said, expected, "every entry in its place, none twice");
            if head.first.get() > 1 {
                let through = head.first.get() - 1;
                let checkpoint = engine.load_checkpoint(&id(number), Seq::MAX).await.unwrap();
                assert!(
                    checkpoint.unwrap().seq.get() >= through,
                    "the log can be read"
                );
            }
        }
        engine.close();
    }
    assert!(acknowledged_in_all > 0, "the children wrote something");
}

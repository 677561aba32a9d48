//! What single appends cost when they go on for so long that tables are written and merged.
//!
//! ```text
//! cargo bench -p threadcast-disk-log --bench sustained -- 3000000
//! ```
//!
//! One thread appends to sixteen logs in turn, one entry an append, held, as fast as it can. A line
//! tells what each tenth of them took: the time that went by, the processor's for the thread that
//! appends and for the whole process, with all that writes tables. (The processor's time is told by
//! Linux only.) At the end, what closing took and how long the directory has become.

#[path = "support/mod.rs"]
mod support;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use support::{begin, delta, open, runtime, tokens};
use threadcast_thread_log::engine::{Durability, Engine, Outcome};

const APPENDS: usize = 3_000_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let asked = arguments.find_map(|argument| argument.parse().ok());
    // Tests only see that it runs.
    let appends = asked.unwrap_or(if is_bench { APPENDS } else { 1000 });
    let directory = tempfile::tempdir().expect("a directory");
    let engine = open(&directory);
    let runtime = runtime();
    runtime.block_on(begin(&engine));
    let start = Moment::now();
    let mut last = start;
    let (mut slowest, mut slowest_of_all) = (Duration::ZERO, Duration::ZERO);
    for number in 0..appends {
        let append = tokens(number, vec![delta(number)], Durability::Held);
        let begun = Instant::now();
        let outcome = runtime.block_on(engine.append(append));
        slowest = slowest.max(begun.elapsed());
        assert!(matches!(outcome, Ok(Outcome::Appended(_))));
        if (number + 1) % (appends / 10).max(1) == 0 {
            let now = Moment::now();
            tell(number + 1, appends / 10, last, now, slowest);
            last = now;
            slowest_of_all = slowest_of_all.max(slowest);
            slowest = Duration::ZERO;
        }
    }
    tell(appends, appends, start, Moment::now(), slowest_of_all);
    let closing = Instant::now();
    engine.close();
    let length = bytes(directory.path()) >> 20;
    println!("closed in {:?}, {length} MiB", closing.elapsed());
}

fn tell(done: usize, appends: usize, from: Moment, to: Moment, slowest: Duration) {
    let wall = to.at - from.at;
    let each = |time: Duration| time.as_secs_f64() * 1e6 / appends as f64;
    println!(
        "{done:>9} appended: {:>7.0}/s; of each {:.1} µs, processor {:.1} µs by who appends and {:.1} µs by all; slowest {:.1} ms",
        appends as f64 / wall.as_secs_f64(),
        each(wall),
        each(to.own.saturating_sub(from.own)),
        each(to.all.saturating_sub(from.all)),
        slowest.as_secs_f64() * 1e3,
    );
}

#[derive(Clone, Copy)]
struct Moment {
    at: Instant,
    /// The processor's time for this thread, and for the process.
    own: Duration,
    all: Duration,
}

impl Moment {
    fn now() -> Self {
        let mut all = Duration::ZERO;
        for thread in fs::read_dir("/proc/self/task")
            .into_iter()
            .flatten()
            .flatten()
        {
            all += processor(&thread.path());
        }
        Self {
            at: Instant::now(),
            own: processor(Path::new("/proc/thread-self")),
            all,
        }
    }
}

/// Zero where the system does not tell it.
fn processor(thread: &Path) -> Duration {
    let told = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
    let nanos = told.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

fn bytes(directory: &Path) -> u64 {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    files
        .map(|file| match file.metadata() {
            Ok(meta) if meta.is_dir() => bytes(&file.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

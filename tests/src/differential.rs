//! The hub's reading of AG-UI streams against that of the published client: same verdict, same
//! first offending event, same messages, state, pending interrupts and pending tool calls.
//!
//! Streams are generated from seeds. What `docs/protocol.md` §14.7 says the hub judges more strictly
//! than the client is not compared; the stream is compared up to there.

pub mod cases;
mod oracle;
mod reading;
mod shrink;

use std::collections::BTreeSet;
use std::ops::Range;

use threadcast_run_registry::histories::{broken_stream, stream};

pub use oracle::{Answer, Oracle};
pub use reading::{Reading, Stop, UNCHECKED, Until, read};
pub use shrink::shrink;

/// The stream of a seed: legal ones are even, touched in one place are odd.
#[must_use]
pub fn generated(seed: u64) -> Vec<String> {
    if seed.is_multiple_of(2) {
        stream(seed / 2)
    } else {
        broken_stream(seed / 2)
    }
}

/// What a comparison of many streams found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub legal: u64,
    pub broken: u64,
    /// Compared up to where the two are known to part.
    pub in_part: u64,
    pub events: u64,
    /// Rules that streams broke.
    pub rules: BTreeSet<&'static str>,
    /// Seeds of the streams that the two read differently.
    pub differing: Vec<u64>,
}

impl Tally {
    fn count(&mut self, reading: &Reading) {
        self.events += reading.compared as u64;
        match reading.stop {
            Stop::End => self.legal += 1,
            Stop::Broken { .. } => self.broken += 1,
            Stop::Unchecked(_) | Stop::Stricter | Stop::OneObject => self.in_part += 1,
        }
        if let Stop::Broken { rule, .. } | Stop::Unchecked(rule) = reading.stop {
            self.rules.insert(rule.as_str());
        }
    }

    fn add(&mut self, other: Self) {
        self.legal += other.legal;
        self.broken += other.broken;
        self.in_part += other.in_part;
        self.events += other.events;
        self.rules.extend(other.rules);
        self.differing.extend(other.differing);
    }
}

/// Compares the streams of `seeds`, in as many processes of the client as `oracles` says.
pub async fn compare(seeds: Range<u64>, oracles: u64) -> Tally {
    let tasks = (0..oracles).map(|part| {
        let seeds = seeds.clone().skip(usize::try_from(part).unwrap());
        let seeds: Vec<u64> = seeds.step_by(usize::try_from(oracles).unwrap()).collect();
        tokio::spawn(compare_part(seeds))
    });
    let mut tally = Tally::default();
    for task in tasks.collect::<Vec<_>>() {
        tally.add(task.await.unwrap());
    }
    tally.differing.sort_unstable();
    tally
}

async fn compare_part(seeds: Vec<u64>) -> Tally {
    let (mut asking, mut answering) = Oracle::start().split();
    let count = seeds.len();
    let asked = tokio::spawn(async move {
        let mut tally = Tally::default();
        for seed in seeds {
            let events = generated(seed);
            let reading = read(&events, Until::Parting);
            tally.count(&reading);
            asking.ask(seed, &events, &reading).await;
        }
        asking.flush().await;
        tally
    });
    let mut differing = Vec::new();
    for _ in 0..count {
        let answer = answering.answer().await;
        if answer.is_different() {
            differing.push(answer.id);
        }
    }
    let mut tally = asked.await.unwrap();
    tally.differing = differing;
    tally
}

/// Says what is different about the stream of a seed, with the stream shrunk.
pub async fn report(seed: u64) -> String {
    let mut oracle = Oracle::start();
    let (events, answer) = shrink(&mut oracle, generated(seed)).await;
    let reading = read(&events, Until::Parting);
    let differs = answer.differs;
    format!(
        "seed {seed} (again: cargo xtask differential --seed {seed} --histories 1), shrunk to {} events:\n{}\n\
         what differs: {differs}\nthe client gave up: {:?}\nthe hub stopped: {:?}",
        events.len(),
        events.join("\n"),
        answer.error,
        reading.stop,
    )
}

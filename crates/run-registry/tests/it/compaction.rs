//! What stands for a range of entries leads from the fold before it to the fold behind it.

mod bounds;
mod cases;
mod logged;
mod origins;

use threadcast_agui::event::{Event, EventBody};
use threadcast_run_registry::compaction::{Compacted, compact, compact_events};
use threadcast_run_registry::histories::{Random, colliding, history};
use threadcast_thread_log::entry::{Body, Entry};
use threadcast_thread_log::position::Seq;

use crate::compaction::logged::{Facts, Viewer, log};
use crate::support::{event, events, fixtures, judge};

/// Histories tried of each kind, unless `THREADCAST_HISTORIES` asks for more.
const HISTORIES: u64 = 300;
/// Ranges tried of each.
const RANGES: usize = 6;

/// What a viewer holds after each number of entries.
fn lives(entries: &[Entry]) -> Vec<Viewer> {
    let mut lives = vec![Viewer::new()];
    for entry in entries {
        let mut next = lives[lives.len() - 1].clone();
        next.follow(std::slice::from_ref(entry))
            .expect("a log is legal");
        lives.push(next);
    }
    lives
}

fn lines(entries: &[Entry]) -> String {
    let line = |entry: &Entry| match &entry.record.body {
        Body::Event { json, .. } => format!("{} {json}\n", entry.seq.get()),
        Body::Fact { public, .. } => format!("{} {public}\n", entry.seq.get()),
    };
    entries.iter().map(line).collect()
}

fn shown(compacted: &[Compacted]) -> String {
    let show = |piece: &Compacted| match piece {
        Compacted::Events {
            first,
            last,
            events,
        } => {
            let events: String = events.iter().map(|json| format!("  {json}\n")).collect();
            format!("{}..{}\n{events}", first.get(), last.get())
        }
        Compacted::Fact(entry) => lines(std::slice::from_ref(entry)),
    };
    compacted.iter().map(show).collect()
}

/// The same with the events of every piece compacted once more.
fn twice(compacted: &[Compacted]) -> Vec<Compacted> {
    let again = |piece: &Compacted| match piece {
        Compacted::Events {
            first,
            last,
            events,
        } => {
            let read = events.iter().map(|json| event(json.as_str()));
            let events = compact_events(read.collect()).into_iter();
            Compacted::Events {
                first: *first,
                last: *last,
                events: events.map(|event| event.json).collect(),
            }
        }
        Compacted::Fact(entry) => Compacted::Fact(entry.clone()),
    };
    compacted.iter().map(again).collect()
}

struct Subject {
    name: String,
    entries: Vec<Entry>,
    lives: Vec<Viewer>,
}

impl Subject {
    fn new(name: String, entries: Vec<Entry>) -> Self {
        let lives = lives(&entries);
        Self {
            name,
            entries,
            lives,
        }
    }

    /// Whoever holds the fold at `from` and takes in `compacted` holds the fold at `to`.
    #[track_caller]
    fn check(&self, from: usize, to: usize, compacted: &[Compacted]) -> Viewer {
        let mut viewer = self.lives[from].clone();
        let reached = viewer.catch_up(seq(from), compacted);
        let differs = match &reached {
            Ok(reached) if *reached != seq(to) => Some("the end".to_owned()),
            Ok(_) => viewer.differs(&self.lives[to]).map(ToOwned::to_owned),
            Err(problem) => Some(problem.clone()),
        };
        if let Some(what) = differs {
            self.fail(&what, from, to, compacted);
        }
        viewer
    }

    #[track_caller]
    fn fail(&self, what: &str, from: usize, to: usize, compacted: &[Compacted]) {
        let (before, range) = (lines(&self.entries[..from]), lines(&self.entries[from..to]));
        let (name, shown) = (&self.name, shown(compacted));
        panic!(
            "{what}: {name} from {from} to {to}\n{before}-- the range --\n{range}-- is compacted to --\n{shown}"
        );
    }

    #[track_caller]
    fn check_range(&self, from: usize, to: usize) -> (Vec<Compacted>, Viewer) {
        let compacted = compact(&self.entries[from..to]);
        if let Some(what) = origins::wrong(&self.entries[from..to], &compacted) {
            self.fail(&what, from, to, &compacted);
        }
        let viewer = self.check(from, to, &compacted);
        (compacted, viewer)
    }

    /// Behind a compacted range the log goes on as it is.
    #[track_caller]
    fn check_rest(&self, from: usize, to: usize) {
        let (compacted, mut viewer) = self.check_range(from, to);
        let legal = viewer.follow(&self.entries[to..]);
        let differs = viewer.differs(&self.lives[self.entries.len()]);
        let wrong = legal.err().or_else(|| differs.map(ToOwned::to_owned));
        if let Some(what) = wrong {
            self.fail(&what, from, to, &compacted);
        }
    }

    #[track_caller]
    fn check_in_two(&self, from: usize, middle: usize, to: usize) {
        let range = |from: usize, to: usize| compact(&self.entries[from..to]);
        self.check(from, to, &[range(from, middle), range(middle, to)].concat());
    }

    #[track_caller]
    fn check_twice(&self, from: usize, to: usize) {
        self.check(from, to, &twice(&compact(&self.entries[from..to])));
    }

    #[track_caller]
    fn check_some_ranges(&self, random: &mut Random) {
        let end = self.entries.len();
        self.check_range(0, end);
        for count in 0..RANGES {
            let mut cuts = [0; 3].map(|_| random.below(end + 1));
            cuts.sort_unstable();
            let [from, middle, to] = cuts;
            match count % 3 {
                0 => self.check_rest(from, to),
                1 => self.check_in_two(from, middle, to),
                _ => self.check_twice(from, to),
            }
        }
    }

    #[track_caller]
    fn check_all_ranges(&self) {
        // Of a long log, ranges from everywhere with some of the ends.
        let end = self.entries.len();
        for from in 0..=end {
            for to in (from..=end).step_by(1 + end / 20) {
                match (from + to) % 3 {
                    0 => self.check_rest(from, to),
                    1 => self.check_in_two(from, usize::midpoint(from, to), to),
                    _ => self.check_twice(from, to),
                }
            }
        }
    }
}

fn seq(count: usize) -> Seq {
    Seq::new(count as u64).expect("small")
}

#[expect(
    clippy::disallowed_methods,
    reason = "a length of the test run, not a setting of the program"
)]
fn histories() -> u64 {
    let asked = std::env::var("THREADCAST_HISTORIES").ok();
    asked.map_or(HISTORIES, |asked| {
        asked.parse().expect("a number of histories")
    })
}

fn check_histories(kind: &str, count: u64, history: impl Fn(u64) -> Vec<Event>) {
    for seed in 0..count {
        let mut random = Random::new(seed ^ 0xc0);
        let events = origins::stamped(&history(seed), &mut random);
        let entries = log(&events, Facts::Many, &mut random);
        Subject::new(format!("{kind} {seed}"), entries).check_some_ranges(&mut random);
    }
}

#[test]
fn any_range_of_a_history_leads_from_fold_to_fold() {
    check_histories("history", histories(), history);
}

#[test]
fn any_range_of_a_history_of_colliding_ids_leads_from_fold_to_fold() {
    check_histories("colliding", histories() / 3, colliding);
}

#[test]
fn every_range_of_a_golden_history_leads_from_fold_to_fold() {
    for path in fixtures::files("histories", ".jsonl") {
        let entries = log(
            &events(&fixtures::read(&path)),
            Facts::Many,
            &mut Random::new(7),
        );
        Subject::new(path.display().to_string(), entries).check_all_ranges();
    }
}

/// Bare events say nothing of deltas that failed.
#[test]
fn a_stream_of_events_folds_to_the_same() {
    for seed in 0..histories() / 3 {
        for (kind, events) in [("history", history(seed)), ("colliding", colliding(seed))] {
            let events = origins::stamped(&events, &mut Random::new(seed));
            let compacted = compact_events(events.clone());
            let whole = judge(&events).unwrap();
            let judged = judge(&compacted);
            let judged = judged.unwrap_or_else(|(at, violation)| {
                panic!("{kind} {seed}: {} breaks {violation}", compacted[at].json)
            });
            assert!(judged.messages().eq(whole.messages()), "{kind} {seed}");
            assert_eq!(judged.state(), whole.state(), "{kind} {seed}");
            assert_eq!(
                judged.pending_tool_calls(),
                whole.pending_tool_calls(),
                "{kind} {seed}"
            );
            assert_eq!(
                judged.pending_interrupts(),
                whole.pending_interrupts(),
                "{kind} {seed}"
            );
            assert_eq!(judged.verifier(), whole.verifier(), "{kind} {seed}");
            assert!(compacted.len() <= events.len());
        }
    }
}

fn is_text_delta(event: &Event) -> bool {
    matches!(
        event.body,
        EventBody::TextMessageContent { .. }
            | EventBody::ReasoningMessageContent { .. }
            | EventBody::ToolCallArgs { .. }
    )
}

/// The same with every text delta followed by thirty more of the same item.
fn dense(seed: u64) -> Vec<Event> {
    let events = history(seed).into_iter().flat_map(|event| {
        let count = if is_text_delta(&event) { 30 } else { 0 };
        std::iter::repeat_n(event, count + 1)
    });
    events.collect()
}

fn text_bytes(events: &[Event]) -> usize {
    let deltas = events.iter().filter(|event| is_text_delta(event));
    deltas.map(|event| event.json.as_str().len()).sum()
}

#[test]
fn series_of_deltas_become_one_each() {
    let (mut before, mut after) = (0, 0);
    for seed in 0..histories() {
        let events = dense(seed);
        let mut random = Random::new(seed);
        let subject = Subject::new(
            format!("dense {seed}"),
            log(&events, Facts::Many, &mut random),
        );
        let mut cuts = [0; 2].map(|_| random.below(subject.entries.len() + 1));
        cuts.sort_unstable();
        subject.check_range(cuts[0], cuts[1]);
        before += text_bytes(&events);
        after += text_bytes(&compact_events(events));
    }
    assert!(after * 100 < before * 15, "{before} bytes became {after}");
}

/// Two thousand tokens of text, reasoning and arguments as agents stream them.
#[test]
fn a_run_that_streams_tokens_shrinks_to_a_seventh() {
    let mut lines = vec![r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#.to_owned()];
    let items = [
        (
            "REASONING_MESSAGE",
            r#""messageId":"thought","role":"reasoning""#,
            "CONTENT",
        ),
        ("TEXT_MESSAGE", r#""messageId":"answer""#, "CONTENT"),
        (
            "TOOL_CALL",
            r#""toolCallId":"call","toolCallName":"look""#,
            "ARGS",
        ),
    ];
    for (kind, members, delta) in items {
        let id = members.split(',').next().unwrap();
        lines.push(format!(r#"{{"type":"{kind}_START",{members}}}"#));
        for token in 0..700 {
            let event = format!(
                r#"{{"type":"{kind}_{delta}",{id},"delta":"word{token} ","timestamp":1700000000000}}"#
            );
            lines.push(event);
        }
        lines.push(format!(r#"{{"type":"{kind}_END",{id}}}"#));
    }
    let events = events(&lines.join("\n"));
    let subject = Subject::new(
        "tokens".to_owned(),
        log(&events, Facts::Needed, &mut Random::new(1)),
    );
    let end = subject.entries.len();
    let (compacted, _) = subject.check_range(0, end);
    let bytes_of = |entry: &Entry| entry.record.size_bytes();
    let before: usize = subject.entries.iter().map(bytes_of).sum();
    let pieces = compacted.iter().map(|piece| match piece {
        Compacted::Events { events, .. } => events.iter().map(|json| json.as_str().len()).sum(),
        Compacted::Fact(entry) => bytes_of(entry),
    });
    let after: usize = pieces.sum();
    assert!(after * 7 < before, "{before} bytes became {after}");
}

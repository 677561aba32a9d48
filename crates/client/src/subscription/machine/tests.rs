//! A model of a hub with a log that grows and loses entries, an unreliable line, and a reader that
//! checks every step.

use proptest::prelude::*;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Epoch;
use threadcast_wire::hub_frame::{
    ResetReason, ThreadTag, write_epoch, write_event, write_events, write_fact, write_part,
    write_reset, write_subscribed,
};
use threadcast_wire::part::pieces;

use super::*;

mod frames;

/// What a machine under test holds of a frame that comes in parts.
const JOINED_BYTES: usize = 64 << 10;

/// What the line and the hub do next.
#[derive(Clone, Debug)]
enum Act {
    /// The log gains an entry; `tag` tells it from another one of the same seq.
    Append {
        tag: u16,
        is_fact: bool,
    },
    Deliver,
    /// A frame with entries gets lost.
    Drop,
    /// A frame since the subscription began comes once more.
    Redeliver(prop::sample::Index),
    Disconnect,
    /// The hub comes back with the last entries gone, as another writer.
    Lose(u8),
    /// What was not sent yet goes out as one frame, in parts of this size if it is longer.
    Compact {
        part_bytes: usize,
    },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (any::<u16>(), any::<bool>()).prop_map(|(tag, is_fact)| Act::Append { tag, is_fact }),
        8 => Just(Act::Deliver),
        1 => Just(Act::Drop),
        1 => any::<prop::sample::Index>().prop_map(Act::Redeliver),
        1 => Just(Act::Disconnect),
        1 => (0_u8..4).prop_map(Act::Lose),
        1 => (8_usize..64).prop_map(|part_bytes| Act::Compact { part_bytes }),
    ]
}

fn start() -> impl Strategy<Value = Start> {
    prop_oneof![
        Just(Start::Snapshot),
        Just(Start::Log),
        Just(Start::After(Position::default())),
        Just(Start::After(Position {
            epoch: Epoch::new("e-of-another-hub"),
            seq: seq(3)
        })),
    ]
}

fn seq(number: u64) -> Seq {
    Seq::new(number).unwrap()
}

struct Hub {
    thread: ThreadId,
    tag: ThreadTag,
    log: Vec<(u16, bool)>,
    /// Name and first seq.
    epochs: Vec<(Epoch, u64)>,
    /// What of the log the subscription was given, and the frames on the line.
    sent: u64,
    line: std::collections::VecDeque<String>,
    /// What came since the subscription began.
    came: Vec<String>,
}

impl Hub {
    fn new() -> Self {
        let thread = ThreadId::new("th").unwrap();
        let tag = ThreadTag::new(&thread);
        let (log, epochs, came) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            thread,
            tag,
            log,
            epochs,
            sent: 0,
            line: std::collections::VecDeque::new(),
            came,
        }
    }

    fn head(&self) -> Position {
        let epoch = self
            .epochs
            .last()
            .map(|(epoch, _)| epoch.clone())
            .unwrap_or_default();
        Position {
            epoch,
            seq: seq(self.log.len() as u64),
        }
    }

    fn send(&mut self, write: impl FnOnce(&mut Vec<u8>, &ThreadTag)) {
        let mut out = Vec::new();
        write(&mut out, &self.tag);
        self.line.push_back(String::from_utf8(out).unwrap());
    }

    fn body(&self, at: u64) -> RawJson {
        let (tag, _) = self.log[usize::try_from(at).unwrap() - 1];
        RawJson::parse(&format!(r#"{{"seq":{at},"tag":{tag}}}"#)).unwrap()
    }

    fn append(&mut self, tag: u16, is_fact: bool) {
        if self.epochs.is_empty() {
            self.begin_epoch();
        }
        self.log.push((tag, is_fact));
    }

    fn begin_epoch(&mut self) {
        let epoch = Epoch::new(format!("e{}", self.epochs.len()));
        self.epochs.push((epoch.clone(), self.log.len() as u64 + 1));
    }

    /// Puts what is new on the line, entry by entry, each epoch in front of its first entry.
    fn flush(&mut self) {
        while self.sent < self.log.len() as u64 {
            self.epoch_due();
            self.sent += 1;
            let (at, body) = (seq(self.sent), self.body(self.sent));
            if self.log[usize::try_from(self.sent).unwrap() - 1].1 {
                self.send(|out, tag| write_fact(out, tag, at, Millis(1), &body));
            } else {
                self.send(|out, tag| write_event(out, tag, at, Millis(1), &body));
            }
        }
    }

    fn epoch_due(&mut self) {
        let due = self
            .epochs
            .iter()
            .find(|(_, first)| *first == self.sent + 1)
            .cloned();
        if let Some((epoch, first)) = due {
            self.send(|out, tag| write_epoch(out, tag, &epoch, seq(first - 1)));
        }
    }

    /// Puts what is new on the line as one range; over `part_bytes` in parts.
    fn compact(&mut self, from: u64, part_bytes: usize) {
        let events: Vec<RawJson> = (from..=self.log.len() as u64)
            .map(|at| self.body(at))
            .collect();
        let head = self.head().seq;
        self.send(|out, tag| write_events(out, tag, seq(from), head, &events, None));
        self.sent = head.get();
        let whole = self.line.pop_back().unwrap();
        let parts: Vec<&str> = pieces(&whole, part_bytes).collect();
        for (at, part) in parts.iter().enumerate() {
            self.send(|out, tag| write_part(out, tag, at as u64 + 1, at + 1 == parts.len(), part));
        }
    }

    fn subscribe(&mut self, id: RequestId, start: SubscribeStart) {
        let (mode, sent) = match start {
            SubscribeStart::Position(position) | SubscribeStart::LogAfter(position)
                if self.is_valid(&position) =>
            {
                (Mode::Resumed, position.seq.get())
            }
            SubscribeStart::Log => (Mode::Log, 0),
            SubscribeStart::Tail => (Mode::Tail, self.log.len() as u64),
            SubscribeStart::Position(_)
            | SubscribeStart::LogAfter(_)
            | SubscribeStart::Snapshot
            | SubscribeStart::Keep => (Mode::Snapshot, 0),
        };
        self.sent = sent;
        let head = self.head();
        let is_baseline_due = mode == Mode::Snapshot && head.seq != Seq::ZERO;
        let subscribed = Subscribed {
            id: Some(id),
            thread: self.thread.clone(),
            head,
            mode,
            reason: None,
        };
        self.send(|out, _| write_subscribed(out, &subscribed));
        if is_baseline_due {
            self.compact(1, 40);
        }
    }

    fn is_valid(&self, position: &Position) -> bool {
        if *position == Position::default() {
            return true;
        }
        let at = self
            .epochs
            .iter()
            .position(|(epoch, _)| *epoch == position.epoch);
        let next = |at: usize| {
            self.epochs
                .get(at + 1)
                .map_or(self.log.len() as u64 + 1, |(_, first)| *first)
        };
        at.is_some_and(|at| position.seq.get() < next(at))
    }

    /// Loses entries; subscribers are reset.
    fn lose(&mut self, count: u8) {
        self.log
            .truncate(self.log.len().saturating_sub(count.into()));
        // Epochs that never had an entry that is left are gone with them.
        self.epochs
            .retain(|(_, first)| *first <= self.log.len() as u64);
        self.begin_named_epoch();
        self.came.clear();
        let head = self.head();
        self.send(|out, tag| write_reset(out, tag, &head, ResetReason::Lost));
        let subscribed = Subscribed {
            id: None,
            thread: self.thread.clone(),
            head: head.clone(),
            mode: Mode::Snapshot,
            reason: None,
        };
        self.send(|out, _| write_subscribed(out, &subscribed));
        self.sent = head.seq.get();
        if head.seq != Seq::ZERO {
            self.compact(1, 40);
        }
    }

    /// Another incarnation: a name no epoch had before.
    fn begin_named_epoch(&mut self) {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.epochs
            .push((Epoch::new(format!("n{number}")), self.log.len() as u64 + 1));
    }
}

/// What a reader makes of the updates, checking their order.
#[derive(Default)]
struct Reader {
    held: Vec<u64>,
    is_void: bool,
}

impl Reader {
    fn update(&mut self, update: &Update) {
        let tags = |events: &[RawJson]| -> Vec<u64> {
            events
                .iter()
                .map(|event| event.to_value().unwrap()["tag"].as_u64().unwrap())
                .collect()
        };
        if let Some((from, to)) = update.range() {
            let is_baseline = matches!(update, Update::Baseline { .. });
            assert!(
                !self.is_void || is_baseline,
                "{update:?} came where a baseline was due"
            );
            if !is_baseline {
                assert_eq!(
                    from.get(),
                    self.held.len() as u64 + 1,
                    "{update:?} leaves a gap or overlaps"
                );
            }
            assert!(from <= to);
        }
        match update {
            Update::Subscribed {
                mode: Mode::Snapshot | Mode::Log,
                head,
                ..
            } => {
                self.held.clear();
                let Update::Subscribed { mode, .. } = update else {
                    unreachable!()
                };
                self.is_void = *mode == Mode::Snapshot && head.seq != Seq::ZERO;
            }
            Update::Reset { .. } => {
                self.held.clear();
                self.is_void = true;
            }
            Update::Baseline { events, .. } => {
                self.held = tags(events);
                self.is_void = false;
            }
            Update::Compacted { events, .. } => self.held.extend(tags(events)),
            Update::Event { event: body, .. } | Update::Fact { fact: body, .. } => {
                self.held.extend(tags(std::slice::from_ref(body)));
            }
            Update::Subscribed { .. } | Update::Epoch { .. } | Update::Lost { .. } => {}
        }
    }
}

struct World {
    hub: Hub,
    machine: Machine,
    reader: Reader,
    last_id: i64,
}

impl World {
    fn new(start: Start) -> Self {
        let hub = Hub::new();
        let machine = Machine::new(hub.thread.clone(), start, JOINED_BYTES);
        Self {
            hub,
            machine,
            reader: Reader::default(),
            last_id: 0,
        }
    }

    fn subscribe(&mut self) {
        self.last_id += 1;
        let id = RequestId::Number(self.last_id);
        let start = self.machine.ask(id.clone());
        self.hub.subscribe(id, start);
    }

    fn reconnect(&mut self) {
        self.machine.disconnect();
        self.hub.line.clear();
        self.hub.came.clear();
        self.subscribe();
    }

    fn receive(&mut self, text: &str) {
        let held = self.machine.position().cloned();
        match self.machine.frame(HubFrame::read(text).unwrap()) {
            Step::Ignored => {}
            Step::Update(update) | Step::Joined { update, .. } => {
                self.reader.update(&update);
                if let (Some((_, to)), Some(position)) = (update.range(), self.machine.position()) {
                    assert_eq!(position.seq, to, "the position names the last entry");
                }
            }
            Step::Resubscribe { .. } => {
                assert_eq!(
                    self.machine.position(),
                    held.as_ref(),
                    "a misfit moves nothing"
                );
                self.subscribe();
            }
            Step::Broken(_) => self.reconnect(),
            Step::Retry(error) | Step::Ended(error) | Step::TooLarge(error) => {
                panic!("nobody ended the subscription: {error}")
            }
        }
    }

    fn deliver(&mut self) {
        self.hub.flush();
        if let Some(text) = self.hub.line.pop_front() {
            // Parts carry no name of their frame: between those of another one they say nonsense,
            // and no line brings that about.
            if !text.contains(r#""op":"part""#) {
                self.hub.came.push(text.clone());
            }
            self.receive(&text);
        }
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Append { tag, is_fact } => self.hub.append(*tag, *is_fact),
            Act::Deliver => self.deliver(),
            Act::Drop => {
                self.hub.flush();
                let has_entries =
                    |text: &String| !["reset", "subscribed"].iter().any(|op| text.contains(op));
                if self.hub.line.front().is_some_and(has_entries) {
                    self.hub.line.pop_front();
                }
            }
            Act::Redeliver(which) => {
                if !self.hub.came.is_empty() {
                    let text = self.hub.came[which.index(self.hub.came.len())].clone();
                    self.receive(&text);
                }
            }
            Act::Disconnect => self.reconnect(),
            Act::Lose(count) => {
                // The rest of the line belongs to the old log; a hub that resets a subscription
                // does not send it.
                self.hub.line.retain(|text| {
                    text.contains(r#""op":"subscribed""#) && text.contains(r#""id""#)
                });
                self.hub.lose(*count);
            }
            Act::Compact { part_bytes } => {
                if self.hub.sent < self.hub.log.len() as u64 {
                    self.hub.epoch_due();
                    self.hub.compact(self.hub.sent + 1, *part_bytes);
                }
            }
        }
    }

    fn settle(&mut self) {
        self.reconnect();
        while !self.hub.line.is_empty() || self.hub.sent < self.hub.log.len() as u64 {
            self.deliver();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the line does, the reader sees every entry once and in order, and ends with the hub's log.
    #[test]
    fn each_entry_exactly_once_over_any_line(start in start(), acts in prop::collection::vec(act(), 0..80)) {
        let mut world = World::new(start);
        world.subscribe();
        for act in acts {
            world.act(&act);
        }
        world.settle();
        let log: Vec<u64> = world.hub.log.iter().map(|(tag, _)| u64::from(*tag)).collect();
        prop_assert_eq!(world.reader.held, log);
        prop_assert!(world.hub.log.is_empty() || world.machine.position().is_some_and(|held| held.seq == world.hub.head().seq));
    }
}

//! Viewers that come back, and note all they were sent.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::sync::watch;

use super::dice::Dice;
use super::victim::Address;
use crate::viewer::{Start, Viewer};

/// What a viewer wants to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Every entry by itself.
    Log,
    /// What the thread amounts to, then what comes, in ranges if it is behind.
    Fold,
}

/// What a viewer was sent of one thread.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    epoch: String,
    is_subscribed: bool,
    pub seq: u64,
    /// Events and facts with their seqs; a range of events has the seq of its last.
    pub entries: Vec<(u64, Value)>,
}

/// The last seq of every thread, once nothing more comes.
pub type Heads = watch::Receiver<Option<BTreeMap<String, u64>>>;

/// A viewer of all threads, behind one socket at a time.
#[derive(Debug)]
pub struct Watcher {
    pub name: String,
    pub wants: Wants,
    pub seen: BTreeMap<String, Seen>,
    /// What it was sent and should not have been.
    pub problems: Vec<String>,
    dice: Dice,
}

impl Watcher {
    #[must_use]
    pub fn new(seed: u64, name: String, wants: Wants, threads: &[String]) -> Self {
        let seen = threads
            .iter()
            .map(|thread| (thread.clone(), Seen::default()));
        Self {
            dice: Dice::of(seed, &name),
            name,
            wants,
            seen: seen.collect(),
            problems: Vec::new(),
        }
    }

    /// Follows until it has all up to `heads`, or was sent something wrong.
    pub async fn follow(mut self, mut address: Address, mut heads: Heads) -> Self {
        while !self.has_ended(&heads) {
            let url = address.wait_for(Option::is_some).await.unwrap().clone();
            match Viewer::try_connect(&url.unwrap()).await {
                Some(viewer) => self.session(viewer, &mut heads).await,
                // It was just killed; where the next one is will be told.
                None => tokio::time::sleep(self.dice.pause(50)).await,
            }
        }
        self
    }

    fn has_ended(&self, heads: &Heads) -> bool {
        let has_all = |heads: &BTreeMap<String, u64>| {
            let mut heads = heads.iter();
            heads.all(|(thread, head)| self.seen[thread].seq >= *head)
        };
        !self.problems.is_empty() || heads.borrow().as_ref().is_some_and(has_all)
    }

    /// One connection, from its subscriptions to its end.
    async fn session(&mut self, mut viewer: Viewer, heads: &mut Heads) {
        let threads: Vec<String> = self.seen.keys().cloned().collect();
        let mut is_subscribed = true;
        for thread in threads {
            let request = self.seen[&thread].request(&thread, self.wants);
            match viewer.try_ask(request).await {
                Some(answer) => self.take(&answer),
                None => is_subscribed = false,
            }
            if !is_subscribed || !self.problems.is_empty() {
                break;
            }
        }
        // Some leave by themselves. What came before a line broke counts as well.
        let leaves = self.dice.happens(50) && is_subscribed;
        let mut frames_left = if leaves {
            self.dice.below(2000)
        } else {
            u64::MAX
        };
        while frames_left > 0 && !self.has_ended(heads) {
            tokio::select! {
                frame = viewer.frame() => match frame {
                    Some(frame) => self.take(&frame),
                    None => return,
                },
                _ = heads.changed() => {}
            }
            frames_left -= 1;
        }
    }

    fn take(&mut self, frame: &Value) {
        let taken = match frame["threadId"].as_str() {
            Some(thread) => {
                let seen = self.seen.get_mut(thread).unwrap();
                seen.take(frame, self.wants)
            }
            // It is asked again in the next session.
            None if frame["op"] == "draining" || frame["retryable"] == true => Ok(()),
            None => Err(format!("nobody asked for {frame}")),
        };
        if let Err(problem) = taken {
            self.problems.push(format!("{}: {problem}", self.name));
        }
    }
}

impl Seen {
    fn request(&self, thread: &str, wants: Wants) -> Value {
        let start = match wants {
            Wants::Log if !self.is_subscribed => Start::Log,
            Wants::Log => Start::LogAfter(&self.epoch, self.seq),
            Wants::Fold if !self.is_subscribed => Start::Snapshot,
            Wants::Fold => Start::After(&self.epoch, self.seq),
        };
        start.request(thread)
    }

    fn take(&mut self, frame: &Value, wants: Wants) -> Result<(), String> {
        let text = |name: &str| frame[name].as_str().unwrap().to_owned();
        match frame["op"].as_str() {
            Some("subscribed") => {
                let expected = match (self.is_subscribed, wants) {
                    (true, _) => "resumed",
                    (false, Wants::Log) => "log",
                    (false, Wants::Fold) => "snapshot",
                };
                let mode = text("mode");
                if mode != expected && frame["reason"] != "behind" {
                    return Err(format!("mode `{expected}` was expected: {frame}"));
                }
                self.is_subscribed = true;
                self.epoch = text("epoch");
            }
            Some("epoch") => self.epoch = text("epoch"),
            // Starting over for being far behind is no loss; nothing else is allowed here.
            Some("reset") if wants == Wants::Fold && frame["reason"] == "behind" => {
                *self = Self {
                    is_subscribed: true,
                    ..Self::default()
                };
            }
            Some("event" | "fact") => {
                let body = frame.get("event").or_else(|| frame.get("fact"));
                self.extend(self.seq + 1, frame, body.unwrap())?;
            }
            Some("events") if wants == Wants::Fold => {
                self.extend(frame["from"].as_u64().unwrap(), frame, &frame["events"])?;
            }
            _ => return Err(format!("nobody asked for {frame}")),
        }
        Ok(())
    }

    fn extend(&mut self, from: u64, frame: &Value, body: &Value) -> Result<(), String> {
        let seq = frame["seq"].as_u64().unwrap();
        if from != self.seq + 1 || seq < from {
            return Err(format!("entry {} was expected: {frame}", self.seq + 1));
        }
        self.seq = seq;
        self.entries.push((seq, body.clone()));
        Ok(())
    }
}

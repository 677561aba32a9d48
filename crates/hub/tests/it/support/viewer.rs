//! A client at the protocol's level: it folds what it is sent and fails on anything the protocol rules out.

use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use threadcast_agui::event::Event;
use threadcast_hub::hub::Hub;
use threadcast_run_registry::conversation::Conversation;
use threadcast_thread_log::entry::{Body, NewEntry};
use threadcast_thread_log::position::Position;
use threadcast_wire::hub_frame::{HubFrame, Mode, Welcome};
use threadcast_wire::limits::JOINED_BYTES_MAX;
use threadcast_wire::part::PartJoiner;
use threadcast_wire::view::ThreadView;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, Role};

use super::SOON;
use super::line::Line;
use super::log::thread;

#[derive(Debug)]
pub(crate) struct Viewer {
    socket: WebSocketStream<Line>,
    joiners: HashMap<String, PartJoiner>,
    pub(crate) threads: HashMap<String, Replica>,
    /// The threads of the frames that came, in order; a part counts as one.
    pub(crate) order: Vec<(String, usize)>,
    pub(crate) close: Option<CloseFrame>,
    answers: VecDeque<HubFrame>,
    requests: u64,
}

/// What a viewer holds of one thread.
#[derive(Debug, Default)]
pub(crate) struct Replica {
    pub(crate) position: Position,
    pub(crate) mode: Option<Mode>,
    pub(crate) reason: Option<String>,
    /// Caught up when reached.
    pub(crate) head: u64,
    /// Entries that came by themselves.
    pub(crate) entries: Vec<(u64, String)>,
    pub(crate) conversation: Conversation,
    pub(crate) view: Option<ThreadView>,
    /// The last entry of the baseline, if it began with one.
    pub(crate) baseline: u64,
    /// What stood for several entries.
    pub(crate) ranges: Vec<(u64, u64)>,
    /// Words for what came: `subscribed`, `event`, …
    pub(crate) history: Vec<&'static str>,
    awaits_baseline: bool,
}

impl Replica {
    fn drop_all(&mut self) {
        let history = std::mem::take(&mut self.history);
        *self = Self {
            history,
            awaits_baseline: true,
            ..Self::default()
        };
    }

    fn take(&mut self, frame: &HubFrame) {
        match frame {
            HubFrame::Subscribed(subscribed) => self.subscribed(subscribed),
            HubFrame::Reset { .. } => {
                self.drop_all();
                self.history.push("reset");
            }
            HubFrame::Event { seq, event, .. } => {
                self.step(seq.get(), "event");
                self.entries.push((seq.get(), event.to_string()));
                self.apply(event.as_str());
            }
            HubFrame::Fact { seq, fact, .. } => {
                self.step(seq.get(), "fact");
                self.entries.push((seq.get(), fact.to_string()));
            }
            HubFrame::Events {
                from,
                seq,
                events,
                view,
                ..
            } => {
                if std::mem::take(&mut self.awaits_baseline) {
                    assert_eq!(from.get(), 1, "a baseline is for who holds nothing");
                    self.position.seq = *seq;
                    self.baseline = seq.get();
                    self.conversation = Conversation::new();
                    self.view.clone_from(view);
                    self.history.push("events");
                } else {
                    assert!(view.is_none(), "no fact is left out, so there is no need");
                    assert!(from <= seq, "a range of nothing");
                    self.step(from.get(), "range");
                    self.position.seq = *seq;
                    self.ranges.push((from.get(), seq.get()));
                }
                for event in events {
                    self.apply(event.as_str());
                }
            }
            HubFrame::Epoch { position, .. } => {
                assert_eq!(
                    position.seq, self.position.seq,
                    "an epoch begins after what was sent"
                );
                self.position.epoch = position.epoch.clone();
                self.history.push("epoch");
            }
            HubFrame::Unsubscribed { .. } => self.history.push("unsubscribed"),
            other => panic!("no frame of a thread: {other:?}"),
        }
    }

    fn subscribed(&mut self, subscribed: &threadcast_wire::hub_frame::Subscribed) {
        match subscribed.mode {
            Mode::Snapshot | Mode::Log => self.drop_all(),
            Mode::Tail => {
                self.drop_all();
                self.position.seq = subscribed.head.seq;
            }
            Mode::Resumed => {}
        }
        self.awaits_baseline = subscribed.mode == Mode::Snapshot && subscribed.head.seq.get() > 0;
        self.position.epoch = subscribed.head.epoch.clone();
        self.mode = Some(subscribed.mode);
        self.reason = subscribed.reason.as_deref().map(Into::into);
        self.head = subscribed.head.seq.get();
        self.history.push("subscribed");
    }

    /// As if the entry had been sent before.
    pub(crate) fn take_held(&mut self, entry: &NewEntry) {
        let json = match &entry.record.body {
            Body::Event { json, .. } => {
                self.apply(json.as_str());
                json
            }
            Body::Fact { public, .. } => public,
        };
        self.position.seq = self.position.seq.next();
        self.entries
            .push((self.position.seq.get(), json.to_string()));
    }

    fn apply(&mut self, event: &str) {
        self.conversation.apply(&Event::read(event).unwrap());
    }

    fn step(&mut self, seq: u64, kind: &'static str) {
        assert!(!self.awaits_baseline, "an entry came before the baseline");
        assert!(
            !self.position.epoch.is_none(),
            "an entry came before its epoch was told"
        );
        assert_eq!(
            seq,
            self.position.seq.get() + 1,
            "entries come without gap and once"
        );
        self.position.seq = self.position.seq.next();
        self.history.push(kind);
    }

    /// Fails unless this is all of the log, each entry once: by itself or, if it is no fact, within a range.
    ///
    /// That frames touch was seen to when they came.
    pub(crate) fn assert_tells(&self, told: &[(u64, String)]) {
        assert_eq!(self.position.seq.get(), told.len() as u64, "to its end");
        let mut entries = self.entries.iter();
        for entry in told.iter().filter(|(seq, _)| *seq > self.baseline) {
            let within = |(from, to): &(u64, u64)| (*from..=*to).contains(&entry.0);
            if self.ranges.iter().any(within) {
                assert!(!is_fact(&entry.1), "a fact went into a range: {entry:?}");
            } else {
                assert_eq!(entries.next(), Some(entry));
            }
        }
        assert_eq!(entries.next(), None);
    }

    /// Messages and state, to be compared.
    pub(crate) fn held(&self) -> String {
        held(&self.conversation)
    }
}

/// Facts have a dotted type, and it stands first.
fn is_fact(json: &str) -> bool {
    let after = json.strip_prefix(r#"{"type":""#).unwrap_or_default();
    after.split('"').next().unwrap().contains('.')
}

pub(crate) fn held(conversation: &Conversation) -> String {
    let messages: Vec<String> = conversation
        .messages()
        .map(|message| message.to_json().to_string())
        .collect();
    format!(
        "{}|{}|{:?}|{:?}",
        messages.join("\n"),
        conversation.state(),
        conversation.pending_interrupts(),
        conversation.pending_tool_calls(),
    )
}

/// What the hub's fold holds.
pub(crate) async fn held_by_hub(hub: &Hub, id: &str) -> String {
    hub.live(&thread(id))
        .await
        .unwrap()
        .with_fold(|fold| held(fold.conversation()))
}

impl Viewer {
    pub(crate) async fn of(socket: Line) -> Self {
        Self {
            socket: WebSocketStream::from_raw_socket(socket, Role::Client, None).await,
            joiners: HashMap::new(),
            threads: HashMap::new(),
            order: Vec::new(),
            close: None,
            answers: VecDeque::new(),
            requests: 0,
        }
    }

    pub(crate) async fn send_message(&mut self, message: Message) {
        timeout(SOON, self.socket.send(message))
            .await
            .unwrap()
            .unwrap();
    }

    pub(crate) async fn send(&mut self, frame: Value) {
        self.send_message(Message::text(frame.to_string())).await;
    }

    /// From now on only so many bytes a second come through to it.
    pub(crate) fn slow_down(&mut self, bytes_per_second: usize) {
        self.socket.get_mut().slow_down(bytes_per_second);
    }

    /// The next message, taken in; `None` when the hub has closed.
    pub(crate) async fn next(&mut self) -> Option<HubFrame> {
        loop {
            match timeout(SOON, self.socket.next())
                .await
                .expect("nothing comes")
            {
                Some(Ok(Message::Text(text))) => {
                    let frame = read(&text);
                    if let Some(thread) = frame_thread(&frame) {
                        self.order.push((thread, text.len()));
                    }
                    if let Some(frame) = self.take(frame) {
                        return Some(frame);
                    }
                }
                Some(Ok(Message::Close(close))) => self.close = close,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(other)) => panic!("the hub sends text: {other:?}"),
                Some(Err(_)) | None => return None,
            }
        }
    }

    /// Takes in a frame; parts give theirs when the last has come.
    fn take(&mut self, frame: HubFrame) -> Option<HubFrame> {
        let Some(id) = frame_thread(&frame) else {
            match &frame {
                HubFrame::Ok { .. } | HubFrame::Error { .. } => {
                    self.answers.push_back(frame.clone())
                }
                _ => {}
            }
            return Some(frame);
        };
        if let HubFrame::Part { n, last, text, .. } = &frame {
            let joiner = self
                .joiners
                .entry(id)
                .or_insert_with(|| PartJoiner::new(JOINED_BYTES_MAX));
            let whole = joiner.push(*n, *last, text).unwrap()?;
            return self.take(read(&whole));
        }
        if let HubFrame::Subscribed(_) | HubFrame::Reset { .. } = &frame {
            self.joiners.remove(&id);
        }
        self.threads.entry(id).or_default().take(&frame);
        Some(frame)
    }

    pub(crate) async fn welcome(&mut self) -> Welcome {
        match self.next().await {
            Some(HubFrame::Welcome(welcome)) => welcome,
            other => panic!("the first frame is welcome, found {other:?}"),
        }
    }

    pub(crate) fn replica(&self, id: &str) -> &Replica {
        &self.threads[id]
    }

    /// Sends a request and gives its answer: `ok`, `error` or `subscribed`.
    pub(crate) async fn ask(&mut self, mut request: Value) -> HubFrame {
        self.requests += 1;
        let id = self.requests;
        request["id"] = json!(id);
        self.send(request).await;
        self.answer(id).await
    }

    /// Reads until the answer to request `id` comes.
    pub(crate) async fn answer(&mut self, id: u64) -> HubFrame {
        loop {
            let frame = self.next().await.expect("the hub closed without an answer");
            let answered = match &frame {
                HubFrame::Ok { id, .. } => Some(id),
                HubFrame::Error { id, .. } => id.as_ref(),
                HubFrame::Subscribed(subscribed) => subscribed.id.as_ref(),
                _ => None,
            };
            if answered.is_some_and(|answered| serde_json::to_value(answered).unwrap() == json!(id))
            {
                return frame;
            }
        }
    }

    /// Asks for what will be refused; gives the code.
    pub(crate) async fn refused(&mut self, request: Value) -> String {
        match self.ask(request).await {
            HubFrame::Error { error, .. } => error.code.into(),
            other => panic!("expected an error, found {other:?}"),
        }
    }

    pub(crate) async fn subscribe(&mut self, id: &str) {
        self.subscribe_with(id, json!({})).await;
    }

    pub(crate) async fn subscribe_with(&mut self, id: &str, more: Value) {
        let mut request = json!({ "op": "subscribe", "threadId": id });
        request
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let answer = self.ask(request).await;
        assert!(matches!(answer, HubFrame::Subscribed(_)), "{answer:?}");
    }

    /// Begins with the position of another viewer, and with what it holds.
    pub(crate) async fn resume(&mut self, id: &str, held: Replica) {
        let position = json!({ "after": held.position.seq, "epoch": held.position.epoch });
        self.threads.insert(id.into(), held);
        self.subscribe_with(id, position).await;
    }

    /// Reads until what `subscribed` announced has come.
    pub(crate) async fn catch_up(&mut self, id: &str) {
        let head = self.replica(id).head;
        self.read_to(id, head).await;
    }

    pub(crate) async fn read_to(&mut self, id: &str, seq: u64) {
        while self
            .threads
            .get(id)
            .is_none_or(|replica| replica.position.seq.get() < seq)
        {
            self.next().await.expect("the hub closed");
        }
    }

    pub(crate) async fn next_error(&mut self) -> String {
        loop {
            if let HubFrame::Error { error, .. } = self.next().await.expect("the hub closed") {
                return error.code.into();
            }
        }
    }

    /// Reads to the end; gives the close code.
    pub(crate) async fn closed(&mut self) -> u16 {
        while self.next().await.is_some() {}
        self.close
            .as_ref()
            .expect("the hub says why it closes")
            .code
            .into()
    }

    pub(crate) fn into_replica(mut self, id: &str) -> Replica {
        self.threads.remove(id).unwrap()
    }
}

fn read(text: &str) -> HubFrame {
    HubFrame::read(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn frame_thread(frame: &HubFrame) -> Option<String> {
    let id = match frame {
        HubFrame::Subscribed(subscribed) => &subscribed.thread,
        HubFrame::Epoch { thread, .. }
        | HubFrame::Event { thread, .. }
        | HubFrame::Events { thread, .. }
        | HubFrame::Fact { thread, .. }
        | HubFrame::Part { thread, .. }
        | HubFrame::Reset { thread, .. }
        | HubFrame::Unsubscribed { thread, .. } => thread,
        HubFrame::Draining { .. }
        | HubFrame::Error { .. }
        | HubFrame::Ok { .. }
        | HubFrame::Unknown { .. }
        | HubFrame::Welcome(_) => return None,
    };
    Some(id.to_string())
}

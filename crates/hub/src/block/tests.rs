use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::{Body, Class, Millis, Origin, Record};
use threadcast_wire::hub_frame::HubFrame;

use super::*;

fn seq(seq: u64) -> Seq {
    Seq::new(seq).unwrap()
}

/// Entries after `after`: a text of so many bytes, or a fact.
fn entries(after: u64, texts: &[Option<usize>]) -> Vec<Entry> {
    let entry = |(at, text): (u64, &Option<usize>)| {
        let body = match text {
            Some(bytes) => Body::Event {
                json: RawJson::from_value(&json!({
                    "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "x".repeat(*bytes),
                })),
                from_chunk: false,
            },
            None => Body::Fact {
                public: RawJson::from_value(&json!({ "type": "test.happened", "by": {} })),
                private: None,
            },
        };
        let record = Record {
            at: Millis(7),
            run: None,
            origin: Origin::Agent,
            body,
        };
        Entry {
            seq: seq(after + 1 + at),
            class: Class::NONE,
            record: Arc::new(record),
        }
    };
    (0..).zip(texts).map(entry).collect()
}

/// The frames in ready bytes.
fn payloads(mut bytes: &[u8]) -> Vec<String> {
    let mut payloads = Vec::new();
    while !bytes.is_empty() {
        let length = crate::frame::length(bytes);
        let payload = match bytes[1] {
            126 => 4,
            127 => 10,
            _ => 2,
        };
        payloads.push(String::from_utf8(bytes[payload..length].to_vec()).unwrap());
        bytes = &bytes[length..];
    }
    payloads
}

fn ranges(texts: &[String]) -> Vec<(u64, u64, usize)> {
    let range = |text: &String| match HubFrame::read(text).unwrap() {
        HubFrame::Event { seq, event, .. } => (seq.get(), seq.get(), delta(&event)),
        HubFrame::Fact { seq, .. } => (seq.get(), seq.get(), 0),
        HubFrame::Events {
            from, seq, events, ..
        } => (from.get(), seq.get(), events.iter().map(delta).sum()),
        other => panic!("{other:?}"),
    };
    texts.iter().map(range).collect()
}

fn delta(event: &RawJson) -> usize {
    event.to_value().unwrap()["delta"].as_str().unwrap().len()
}

/// What a viewer is told whose socket takes `some` frames of a block at a time, and then of the next one, made of what is
/// left.
fn taken(make: impl Fn(Seq) -> Block, after: Seq, last: Seq, some: usize) -> Vec<String> {
    let mut cursor = after;
    let mut texts = Vec::new();
    while cursor < last {
        let block = make(cursor);
        assert_eq!(block.after(), cursor);
        if let Some(text) = block.long() {
            assert_eq!(block.frames().count(), 0);
            assert_eq!(block.bytes(), text.len());
            texts.push(String::from_utf8(text.to_vec()).unwrap());
            cursor = block.last();
        } else {
            let frames: Vec<u8> = block.frames().flatten().collect();
            assert_eq!(block.bytes(), frames.len());
            let whole = payloads(&frames);
            assert_eq!(block.cursor_after(cursor, whole.len()), block.last());
            let some = whole.len().min(some);
            cursor = block.cursor_after(cursor, some);
            texts.extend(whole.into_iter().take(some));
        }
    }
    assert_eq!(cursor, last);
    texts
}

proptest! {
    #[test]
    fn blocks_are_told_in_any_pieces_without_gap_and_overlap(
        after in 0_u64..1000,
        texts in prop::collection::vec(prop_oneof![
            8 => (0_usize..300).prop_map(Some), 1 => Just(None), 1 => (2000_usize..9000).prop_map(Some),
        ], 1..60),
        some in 1_usize..10,
    ) {
        let tag = ThreadTag::new(&ThreadId::new("t").unwrap());
        let entries = entries(after, &texts);
        let all: usize = texts.iter().flatten().sum();
        let last = seq(after + texts.len() as u64);
        let following = |cursor: Seq| &entries[(cursor.get() - after) as usize..];
        let as_they_are = |cursor| Block::of_entries(&tag, cursor, following(cursor), 4000).cut();
        let compacted = |cursor| Block::compacted(&tag, cursor, following(cursor), 4000).cut();
        for told in [
            taken(as_they_are, seq(after), last, some),
            taken(compacted, seq(after), last, some),
        ] {
            let told = ranges(&told);
            let mut held = after;
            for (from, to, _) in &told {
                prop_assert_eq!(*from, held + 1);
                held = *to;
            }
            prop_assert_eq!(held, last.get());
            prop_assert_eq!(told.iter().map(|(_, _, text)| text).sum::<usize>(), all);
        }
    }
}

#[test]
fn what_is_merged_is_shorter_and_facts_stay() {
    let tag = ThreadTag::new(&ThreadId::new("t").unwrap());
    let mut texts = vec![Some(5); 63];
    texts[30] = None;
    let entries = entries(64, &texts);
    let raw = Block::of_entries(&tag, seq(64), &entries, 4000);
    let compacted = Block::compacted(&tag, seq(64), &entries, 4000);
    let frames: Vec<u8> = compacted.frames().flatten().collect();
    let told = ranges(&payloads(&frames));
    assert_eq!(told, [(65, 94, 150), (95, 95, 0), (96, 127, 160)]);
    assert!(compacted.bytes() * 8 < raw.bytes());
}

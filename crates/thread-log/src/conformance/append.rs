//! What an append writes, and what a refusal tells.

use std::sync::Arc;

use threadcast_agui::ids::RunId;
use threadcast_agui::json::RawJson;

use super::Factory;
use super::requests::{entry, request, texts};
use super::subject::{Subject, seq, seqs};
use crate::engine::{Append, Engine, Head, RECORD_BYTES_MAX, RefusedReason, Versions};
use crate::entry::{Body, Class, Millis, NewEntry, Origin, Record};
use crate::error::EngineError;
use crate::principal::Principal;

const BOTH: Class = Class {
    control: true,
    state: true,
};

pub async fn first_append_begins_the_log(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let appended = subject.appended(subject.plain(texts(3))).await;
    assert_eq!((appended.first, appended.last), (seq(1), seq(3)));
    assert!(!appended.epoch.is_none());
    assert_eq!(appended.lease, None);
    let head = subject.head().await;
    assert_eq!(head.epochs, [(appended.epoch.clone(), seq(1))]);
    assert_eq!((head.first, head.seq), (seq(1), seq(3)));
    let second = subject.appended(subject.plain(texts(2))).await;
    assert_eq!(
        (second.first, second.last, second.epoch),
        (seq(4), seq(5), appended.epoch)
    );
    assert_eq!(seqs(&subject.read_all().await), [1, 2, 3, 4, 5]);
}

pub async fn thread_without_a_log_has_the_default_head(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    assert_eq!(subject.head().await, Head::default());
    assert!(subject.read_all().await.is_empty());
    assert_eq!(subject.load_checkpoint().await, None);
}

pub async fn append_without_leave_to_create_is_refused(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let append = Append {
        may_create: false,
        ..subject.plain(texts(1))
    };
    let refused = subject.refused(append, RefusedReason::Gone).await;
    assert_eq!(refused.head, Head::default());
    assert!(refused.missed.is_empty());
    assert!(
        subject
            .engine
            .list(None, 10)
            .await
            .expect("the engine lists")
            .is_empty()
    );
}

pub async fn records_come_back_as_they_were_appended(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let raw = |json: &str| RawJson::parse(json).expect("the suite's JSON is JSON");
    let event = |json: &str, from_chunk| Body::Event {
        json: raw(json),
        from_chunk,
    };
    let bodies = [
        (
            event(
                r#"{ "type":"X", "n" : 1.50e3, "long":123456789012345678901234567890 }"#,
                false,
            ),
            Origin::Agent,
        ),
        (
            event(
                r#"{"type":"TEXT_MESSAGE_START","messageId":"é\u00e9\ud83d"}"#,
                true,
            ),
            Origin::Producer,
        ),
        (
            Body::Fact {
                public: raw(r#"{"type":"a","by":{"id":"hub"}}"#),
                private: None,
            },
            Origin::Hub,
        ),
        (
            Body::Fact {
                public: raw(r#"{"type":"b","by":null}"#),
                private: Some(raw(r#"{"attempt":"x"}"#)),
            },
            Origin::Principal(Principal {
                id: "ann".into(),
                name: Some("Ann \"A\"".into()),
            }),
        ),
    ];
    let classes = [Class::NONE, Class::CONTROL, Class::STATE, BOTH];
    let entries: Vec<NewEntry> = bodies
        .into_iter()
        .zip(classes)
        .zip(0..)
        .map(|(((body, origin), class), number)| {
            let run = (number % 2 == 0)
                .then(|| RunId::new("run \u{1F600}").expect("the suite's ids are ids"));
            NewEntry {
                class,
                record: Arc::new(Record {
                    at: Millis(number << 40),
                    run,
                    origin,
                    body,
                }),
            }
        })
        .collect();
    subject.appended(subject.plain(entries.clone())).await;
    let found = subject.read_all().await.into_iter();
    let found: Vec<NewEntry> = found
        .map(|entry| NewEntry {
            class: entry.class,
            record: entry.record,
        })
        .collect();
    assert_eq!(found, entries);
}

pub async fn thread_record_stays_until_another_is_given(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let bytes = b"\x00\xffone".to_vec();
    subject
        .appended(Append {
            record: Some(bytes.clone()),
            ..subject.plain(texts(1))
        })
        .await;
    subject.appended(subject.plain(texts(1))).await;
    assert_eq!(subject.head().await.record, Some(bytes));
    subject
        .appended(Append {
            record: Some(b"two".to_vec()),
            ..request(&subject.thread)
        })
        .await;
    let listed = subject
        .engine
        .list(None, 10)
        .await
        .expect("the engine lists");
    assert_eq!(
        (listed[0].seq, listed[0].record.as_deref()),
        (seq(2), Some(&b"two"[..]))
    );
}

pub async fn too_long_a_thread_record_writes_nothing(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let longest = Append {
        record: Some(vec![7; RECORD_BYTES_MAX]),
        ..subject.plain(texts(1))
    };
    subject.appended(longest).await;
    let too_long = Append {
        record: Some(vec![8; RECORD_BYTES_MAX + 1]),
        ..subject.plain(texts(1))
    };
    let error = subject
        .engine
        .append(too_long)
        .await
        .expect_err("a record over the limit is an error");
    assert!(
        matches!(
            error,
            EngineError::RecordTooLong {
                found: 4097,
                max: 4096
            }
        ),
        "{error}"
    );
    let head = subject.head().await;
    assert_eq!(
        (head.seq, head.record),
        (seq(1), Some(vec![7; RECORD_BYTES_MAX]))
    );
}

pub async fn versions_are_the_last_seqs_of_their_class(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let entries = vec![
        entry(Class::CONTROL, 1),
        entry(BOTH, 2),
        entry(Class::STATE, 3),
        entry(Class::NONE, 4),
    ];
    let appended = subject.appended(subject.plain(entries)).await;
    assert_eq!(
        appended.versions,
        Versions {
            control: seq(2),
            state: seq(3)
        }
    );
    let appended = subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 5)]))
        .await;
    assert_eq!(
        appended.versions,
        Versions {
            control: seq(5),
            state: seq(3)
        }
    );
    assert_eq!(subject.head().await.versions, appended.versions);
}

pub async fn what_is_held_becomes_durable_and_nothing_is_written(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let engine = &subject.engine;
    let make_durable = async || {
        let made = engine.make_durable(&subject.thread).await;
        made.expect("the engine is there");
    };
    make_durable().await;
    assert_eq!(subject.head().await, Head::default());
    subject.appended(subject.plain(texts(3))).await;
    let before = subject.head().await;
    for _ in 0..2 {
        make_durable().await;
    }
    assert_eq!(subject.head().await, before);
}

//! The bytes of a record.

use proptest::prelude::{Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use threadcast_agui::ids::RunId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::codec::{CodecError, class_bits, class_of_bits, decode, encode};
use threadcast_thread_log::conformance::histories::classes;
use threadcast_thread_log::entry::{Body, Millis, Origin, Record};
use threadcast_thread_log::principal::Principal;

fn raw(json: &str) -> RawJson {
    RawJson::parse(json).unwrap()
}

/// JSON texts as agents write them: odd spaces, long numbers, every escape, halves of surrogate
/// pairs.
fn json() -> impl Strategy<Value = RawJson> {
    let number = "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?";
    let string = "\"([ !#-\\[\\]-~é😀]|\\\\([\"\\\\/bfnrt]|u[0-9a-fA-F]{4})){0,12}\"";
    let leaf = prop_oneof![number, string, "true|false|null"];
    let value = leaf.prop_recursive(3, 24, 4, |inner| {
        let array = prop::collection::vec(inner.clone(), 0..4)
            .prop_map(|items| format!("[ {}]", items.join(" ,\t")));
        let object = prop::collection::vec(inner, 0..4).prop_map(|values| {
            let members = values
                .iter()
                .enumerate()
                .map(|(at, value)| format!("\"m{at}\" : {value}"));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        });
        prop_oneof![array, object]
    });
    value.prop_map(|value| raw(&value))
}

fn origins() -> impl Strategy<Value = Origin> {
    let principal = (any::<String>(), any::<Option<String>>()).prop_map(|(id, name)| {
        Origin::Principal(Principal {
            id: id.into(),
            name: name.map(Into::into),
        })
    });
    let plain = prop::sample::select(vec![Origin::Agent, Origin::Hub, Origin::Producer]);
    prop_oneof![plain, principal]
}

fn records() -> impl Strategy<Value = Record> {
    let run = prop::option::of("[^\\p{Cc}]{1,20}")
        .prop_map(|run| run.map(|run| RunId::new(run).unwrap()));
    let event =
        (json(), any::<bool>()).prop_map(|(json, from_chunk)| Body::Event { json, from_chunk });
    let fact = (json(), prop::option::of(json()))
        .prop_map(|(public, private)| Body::Fact { public, private });
    (any::<u64>(), run, origins(), prop_oneof![event, fact]).prop_map(|(at, run, origin, body)| {
        Record {
            at: Millis(at),
            run,
            origin,
            body,
        }
    })
}

proptest! {
    #[test]
    fn record_comes_back_byte_for_byte(record in records()) {
        let bytes = encode(&record);
        prop_assert_eq!(decode(&bytes).unwrap(), record);
        serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).unwrap();
    }

    #[test]
    fn class_comes_back(class in classes()) {
        prop_assert_eq!(class_of_bits(class_bits(class)), Some(class));
    }

    #[test]
    fn cut_record_is_no_record(record in records(), cut in any::<prop::sample::Index>()) {
        let bytes = encode(&record);
        assert!(decode(&bytes[..cut.index(bytes.len())]).is_err());
    }
}

#[test]
fn records_are_stored_in_this_form() {
    let record = |run: Option<&str>, origin, body| {
        let run = run.map(|run| RunId::new(run).unwrap());
        String::from_utf8(encode(&Record {
            at: Millis(7),
            run,
            origin,
            body,
        }))
        .unwrap()
    };
    let event = |from_chunk| Body::Event {
        json: raw(r#"{"type": "X"}"#),
        from_chunk,
    };
    assert_eq!(
        record(Some("r1"), Origin::Agent, event(false)),
        r#"{"at":7,"run":"r1","origin":"agent","event":{"type": "X"}}"#
    );
    assert_eq!(
        record(None, Origin::Producer, event(true)),
        r#"{"at":7,"origin":"producer","event":{"type": "X"},"chunk":true}"#
    );
    let fact = |private: Option<&str>| Body::Fact {
        public: raw(r#"{"type":"f"}"#),
        private: private.map(raw),
    };
    assert_eq!(
        record(None, Origin::Hub, fact(None)),
        r#"{"at":7,"origin":"hub","fact":{"type":"f"}}"#
    );
    let ann = Origin::Principal(Principal {
        id: "ann".into(),
        name: Some("Ann".into()),
    });
    assert_eq!(
        record(None, ann, fact(Some("null"))),
        r#"{"at":7,"origin":{"principal":{"id":"ann","name":"Ann"}},"fact":{"type":"f"},"private":null}"#
    );
}

#[test]
fn other_bytes_are_no_record() {
    let body = [
        r#"{"at":7,"origin":"hub"}"#,
        r#"{"at":7,"origin":"hub","event":{},"fact":{}}"#,
        r#"{"at":7,"origin":"hub","event":{},"private":{}}"#,
        r#"{"at":7,"origin":"hub","fact":{},"chunk":true}"#,
    ];
    for bytes in body {
        assert!(
            matches!(decode(bytes.as_bytes()), Err(CodecError::Body)),
            "{bytes}"
        );
    }
    let json = [
        "",
        "[]",
        r#"{"at":7,"origin":"me","event":{}}"#,
        r#"{"at":7,"origin":"hub","event":{},"more":1}"#,
    ];
    for bytes in json {
        assert!(
            matches!(decode(bytes.as_bytes()), Err(CodecError::Json(_))),
            "{bytes}"
        );
    }
    let line_break = "{\"at\":7,\"origin\":\"hub\",\"event\":{\n}}";
    assert!(matches!(
        decode(line_break.as_bytes()),
        Err(CodecError::LineBreak)
    ));
    assert_eq!(class_of_bits(4), None);
}

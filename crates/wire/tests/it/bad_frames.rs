//! Client frames that are refused: each with its code, the request it is told to, and a message
//! that says what is wrong.

use serde_json::{Map, Value, json};
use threadcast_wire::client_frame::{ClientFrame, RequestId};

use crate::fixtures;

/// Fixtures as `(name, frame)`; what is answered stands in the golden file.
const FRAMES: [(&str, &str); 44] = [
    ("empty", ""),
    ("not JSON", "hello"),
    ("cut off", r#"{"op":"ping","id":1"#),
    ("two values", r#"{"op":"ping"} {"op":"ping"}"#),
    ("an array", r#"[{"op":"ping"}]"#),
    ("a string", r#""ping""#),
    ("repeated member", r#"{"op":"ping","id":7,"op":"hello"}"#),
    (
        "repeated member deep inside",
        r#"{"id":7,"op":"resume","threadId":"t","of":"a","runId":"b","resume":[{"interruptId":"i","status":"resolved","payload":{"approved":true,"approved":false}}]}"#,
    ),
    ("repeated id", r#"{"id":7,"op":"ping","id":8}"#),
    ("without op", r#"{"id":7,"threadId":"t"}"#),
    ("op is no string", r#"{"id":7,"op":5}"#),
    ("unknown op", r#"{"id":7,"op":"dance"}"#),
    (
        "op of a later version",
        r#"{"id":7,"op":"publish","threadId":"t"}"#,
    ),
    ("op without a whole character", r#"{"id":7,"op":"\ud83d"}"#),
    ("id is an object", r#"{"id":{},"op":"ping"}"#),
    ("id is null", r#"{"id":null,"op":"ping"}"#),
    ("id is no integer", r#"{"id":1.5,"op":"ping"}"#),
    ("id is too large", r#"{"id":9007199254740992,"op":"ping"}"#),
    ("id is empty", r#"{"id":"","op":"ping"}"#),
    ("hello without client", r#"{"id":7,"op":"hello"}"#),
    (
        "hello of a nameless client",
        r#"{"id":7,"op":"hello","client":{"name":"","version":"1"}}"#,
    ),
    (
        "hello with a heartbeat as text",
        r#"{"id":7,"op":"hello","client":{"name":"a","version":"1"},"heartbeatMs":"30s"}"#,
    ),
    ("subscribe without thread", r#"{"id":7,"op":"subscribe"}"#),
    (
        "subscribe to null",
        r#"{"id":7,"op":"subscribe","threadId":null}"#,
    ),
    (
        "subscribe to the empty id",
        r#"{"id":7,"op":"subscribe","threadId":""}"#,
    ),
    (
        "subscribe to an id with a control",
        r#"{"id":7,"op":"subscribe","threadId":"a\nb"}"#,
    ),
    (
        "subscribe after a negative seq",
        r#"{"id":7,"op":"subscribe","threadId":"t","after":-1,"epoch":"e"}"#,
    ),
    (
        "subscribe after text",
        r#"{"id":7,"op":"subscribe","threadId":"t","after":"4","epoch":"e"}"#,
    ),
    (
        "subscribe without the epoch",
        r#"{"id":7,"op":"subscribe","threadId":"t","after":4}"#,
    ),
    (
        "subscribe without the seq",
        r#"{"id":7,"op":"subscribe","threadId":"t","epoch":"e"}"#,
    ),
    (
        "subscribe twice over",
        r#"{"id":7,"op":"subscribe","threadId":"t","epoch":"e","after":4,"start":"tail"}"#,
    ),
    (
        "subscribe from elsewhere",
        r#"{"id":7,"op":"subscribe","threadId":"t","start":"end"}"#,
    ),
    (
        "run without agent",
        r#"{"id":7,"op":"run","input":{"threadId":"t","runId":"r","messages":[]}}"#,
    ),
    ("run without input", r#"{"id":7,"op":"run","agent":"demo"}"#),
    (
        "run with text as input",
        r#"{"id":7,"op":"run","agent":"demo","input":"hi"}"#,
    ),
    (
        "run without run id",
        r#"{"id":7,"op":"run","agent":"demo","input":{"threadId":"t","messages":[]}}"#,
    ),
    (
        "run with a broken message",
        r#"{"id":7,"op":"run","agent":"demo","input":{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":5}]}}"#,
    ),
    (
        "run that would queue",
        r#"{"id":7,"op":"run","agent":"demo","onBusy":"queue","input":{"threadId":"t","runId":"r","messages":[]}}"#,
    ),
    (
        "run that would push in",
        r#"{"id":7,"op":"run","agent":"demo","onBusy":"now","input":{"threadId":"t","runId":"r","messages":[]}}"#,
    ),
    (
        "resume without of",
        r#"{"id":7,"op":"resume","threadId":"t","runId":"r","resume":[]}"#,
    ),
    (
        "resume with one entry",
        r#"{"id":7,"op":"resume","threadId":"t","of":"a","runId":"r","resume":{"interruptId":"i","status":"resolved"}}"#,
    ),
    (
        "resume with an unknown status",
        r#"{"id":7,"op":"resume","threadId":"t","of":"a","runId":"r","resume":[{"interruptId":"i","status":"resolved"},{"interruptId":"j","status":"approved"}]}"#,
    ),
    (
        "cancel without run",
        r#"{"id":7,"op":"cancel","threadId":"t"}"#,
    ),
    (
        "status of a run without name",
        r#"{"id":"s-1","op":"status","threadId":"t","runId":5}"#,
    ),
];

/// Frames too long to be written out.
fn long_frames() -> Vec<(&'static str, String)> {
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    vec![
        (
            "too deep",
            format!(r#"{{"id":7,"op":"ping","x":{}}}"#, deep(64)),
        ),
        (
            "thread id is too long",
            format!(
                r#"{{"id":7,"op":"unsubscribe","threadId":"{}"}}"#,
                "t".repeat(257)
            ),
        ),
        (
            "id is too long",
            format!(r#"{{"id":"{}","op":"ping"}}"#, "i".repeat(257)),
        ),
        (
            "run by an agent with a long name",
            format!(
                r#"{{"id":7,"op":"run","agent":"{}","input":{{"threadId":"t","runId":"r","messages":[]}}}}"#,
                "a".repeat(129)
            ),
        ),
        (
            "cancel with an essay",
            format!(
                r#"{{"id":7,"op":"cancel","threadId":"t","runId":"r","reason":"{}"}}"#,
                "because ".repeat(200)
            ),
        ),
    ]
}

fn answered(name: &str, text: &str) -> (String, String) {
    let error = ClientFrame::read(text).expect_err(name);
    let body = error.to_body();
    let mut line = Map::new();
    line.insert("frame".to_owned(), json!(text));
    line.insert("code".to_owned(), json!(body.code));
    line.insert("message".to_owned(), json!(body.message));
    match error.id {
        Some(RequestId::Number(id)) => line.insert("id".to_owned(), json!(id)),
        Some(RequestId::Text(id)) => line.insert("id".to_owned(), json!(id)),
        None => None,
    };
    (
        format!("{}.json", name.replace(' ', "-")),
        format!("{:#}", Value::Object(line)),
    )
}

#[test]
fn refused_frames_are_answered_as_the_golden_files_say() {
    let short = FRAMES.iter().map(|(name, text)| answered(name, text));
    let long = long_frames()
        .into_iter()
        .map(|(name, text)| answered(name, &text));
    let mut fixtures: Vec<_> = short.chain(long).collect();
    fixtures.sort();
    fixtures::check(&fixtures::folder("frames/bad"), &fixtures);
}

#[test]
fn a_frame_of_the_deepest_allowed_nesting_is_read() {
    let text = format!(
        r#"{{"op":"ping","x":{}1{}}}"#,
        "[".repeat(63),
        "]".repeat(63)
    );
    assert!(ClientFrame::read(&text).is_ok());
}

#[test]
fn every_cut_golden_frame_is_refused() {
    let folder = fixtures::folder("frames/client");
    for name in fixtures::names(&folder) {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let text = text.trim_end();
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert!(
                ClientFrame::read(&text[..end]).is_err(),
                "{name} cut at {end}"
            );
        }
    }
}

proptest::proptest! {
    #[test]
    fn reading_anything_ends_in_a_frame_or_a_refusal(text: String) {
        if let Err(error) = ClientFrame::read(&text) {
            proptest::prop_assert!(!error.to_body().message.is_empty());
        }
    }
}

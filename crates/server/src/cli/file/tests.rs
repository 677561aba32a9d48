use proptest::prelude::*;
use threadcast_thread_log::position::Seq;

use super::reader::Reader;
use super::*;

/// All items of the input, and why it stopped.
fn read(chunks: &[&[u8]]) -> (Vec<Item>, Option<FileError>) {
    let mut reader = Reader::new("in".to_owned(), None);
    let pushed = chunks.iter().try_for_each(|chunk| reader.push(chunk));
    let ended = pushed.and_then(|()| reader.end());
    let items = std::iter::from_fn(|| reader.next_item()).collect();
    (items, ended.err())
}

/// The lines and texts of events.
fn events(input: &str) -> Vec<(u64, String)> {
    let (items, error) = read(&[input.as_bytes()]);
    assert_eq!(error, None, "{input}");
    let event = |item: Item| match item.piece {
        Piece::Event { json } => (item.line, json.into()),
        Piece::NoText { beginning } => (item.line, format!("no text: {beginning}")),
        Piece::Done => (item.line, "done".to_owned()),
        other => panic!("{other:?}"),
    };
    items.into_iter().map(event).collect()
}

#[test]
fn an_event_knows_its_line_in_every_format() {
    let expected =
        |lines: [u64; 2]| vec![(lines[0], r#"{"type":"A"}"#), (lines[1], r#"{"type":"B"}"#)];
    for (input, lines) in [
        ("{\"type\":\"A\"}\n{\"type\":\"B\"}\n", [1, 2]),
        ("\u{feff}{\"type\":\"A\"}\r\n\r\n{\"type\":\"B\"}", [1, 3]),
        ("\n\n{\"type\":\"A\"}\n{\"type\":\"B\"}", [3, 4]),
        (
            "data: {\"type\":\"A\"}\n\ndata: {\"type\":\"B\"}\n\n",
            [1, 3],
        ),
        (
            ": hello\n\nid: 1\nevent: x\ndata:{\"type\":\"A\"}\n\n\ndata: {\"type\":\"B\"}",
            [5, 8],
        ),
        (
            "\u{feff}data: {\"type\":\"A\"}\r\n\r\ndata: {\"type\":\"B\"}\r\n\r\n",
            [1, 3],
        ),
        (
            "data: {\"type\":\"A\"}\r\rdata: {\"type\":\"B\"}\r\r",
            [1, 3],
        ),
        ("[{\"type\":\"A\"},{\"type\":\"B\"}]", [1, 1]),
        (
            "\n[\r\n {\"type\":\"A\"},\r\n\r\n {\"type\":\"B\"}\r\n]\r\n",
            [3, 5],
        ),
    ] {
        let found = events(input);
        let found: Vec<_> = found
            .iter()
            .map(|(line, json)| (*line, json.as_str()))
            .collect();
        assert_eq!(found, expected(lines), "{input:?}");
    }
    assert_eq!(
        events("data: {\"a\":\ndata: 1}\n\n"),
        [(1, "{\"a\":\n1}".to_owned())]
    );
}

#[test]
fn nothing_is_read_behind_done() {
    let found = events("data: {\"type\":\"A\"}\n\ndata: [DONE]\n\ndata: {\"type\":\"B\"}\n\n");
    assert_eq!(
        found,
        [(1, r#"{"type":"A"}"#.to_owned()), (3, "done".to_owned())]
    );
}

#[test]
fn what_breaks_off_was_never_said() {
    for (input, line) in [
        ("{\"type\":\"A\"}\n{\"type\":\"B", Some(2)),
        (
            "data: {\"type\":\"A\"}\n\n: x\ndata: {\"type\":\"B",
            Some(4),
        ),
        ("{\"type\":\"A\"}\n{\"type\":\"B\"}", None),
        ("data: {\"type\":\"A\"}\n\ndata: {\"type\":\"B\"}", None),
    ] {
        let mut reader = Reader::new("in".to_owned(), None);
        reader.push(input.as_bytes()).unwrap();
        reader.end().unwrap();
        let items = std::iter::from_fn(|| reader.next_item()).count();
        assert_eq!(reader.cut_off(), line, "{input}");
        assert_eq!(items, if line.is_some() { 1 } else { 2 }, "{input}");
    }
}

#[test]
fn what_cannot_be_read_is_told_with_its_line() {
    let told = |input: &[u8]| read(&[input]).1.map(|error| error.to_string());
    let cases: [(&[u8], &str); 13] = [
        (b"", "in: it is empty"),
        (b"\n \n", "in: it is empty"),
        (
            b"hello\n",
            "in:1: neither an event a line, nor an event stream (`data: …`), nor frames of a hub, \
             nor an array of events: `hello`",
        ),
        (
            b"HTTP/1.1 200 OK\r\n",
            "in:1: the head of an HTTP response; only its body is read (`curl` without `-i`)",
        ),
        (
            b"\xff\xfe{\0\n",
            "in:1: no text in UTF-8 but in UTF-16; save it as UTF-8",
        ),
        (
            b"\x1f\x8b\x08\0\0",
            "in:1: no text in UTF-8; compressed and binary input is not read",
        ),
        (
            b"{\"type\":\"A\"}\n{\"type\":\0}\n",
            "in:2: no JSON at column 9: expected value",
        ),
        (
            b"{\"type\":\"A\"}\n{\"type\" 1}\n",
            "in:2: no JSON at column 9: expected `:`",
        ),
        (
            b"{\n  \"type\": \"A\"\n}\n",
            "in:1: no JSON at column 1: EOF while parsing an object; one event a line is expected, \
             as `jq -c .` writes them",
        ),
        (
            b"[{\"type\":\"A\"}",
            "in: no array of events: EOF while parsing a list at line 2 column 0",
        ),
        (
            b"{\"seq\":1}\n",
            "in:1: no line of a hub: expected one of `event`, `fact` and `events` beside `seq`",
        ),
        (
            b"{\"op\":\"event\",\"threadId\":\"t\"}\n",
            "in:1: no line of a hub: the hub's frame is not as described: `seq` is missing",
        ),
        (
            b"{\"op\":\"part\",\"threadId\":\"t\",\"n\":2,\"text\":\"\"}\n",
            "in:1: a piece of a frame comes without the pieces before it",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(told(input).as_deref(), Some(expected));
    }
}

fn event_frame(thread: &str, seq: u64) -> String {
    format!(r#"{{"op":"event","threadId":"{thread}","seq":{seq},"at":1,"event":{{"type":"A"}}}}"#)
}

#[test]
fn frames_are_of_one_thread() {
    let input = format!("{}\n{}\n", event_frame("a", 1), event_frame("b", 1));
    let (items, error) = read(&[input.as_bytes()]);
    assert_eq!(items.len(), 1);
    let error = error.unwrap().to_string();
    assert_eq!(
        error,
        "in:2: a frame of thread `b` among those of `a`; give the lines of one"
    );
}

#[test]
fn parts_are_one_frame() {
    let frame = event_frame("t", 7);
    let (first, second) = frame.split_at(30);
    let part = |n: usize, last: &str, text: &str| {
        let text = serde_json::to_string(text).unwrap();
        format!(r#"{{"op":"part","threadId":"t","n":{n}{last},"text":{text}}}"#)
    };
    let input = [part(1, "", first), part(2, r#","last":true"#, second)].join("\n");
    let (items, error) = read(&[input.as_bytes()]);
    assert_eq!(error, None);
    let [
        Item {
            line: 2,
            piece: Piece::Entry { seq, text, .. },
        },
    ] = &items[..]
    else {
        panic!("{items:?}");
    };
    assert_eq!((seq.get(), &**text), (7, frame.as_str()));
}

#[test]
fn a_history_goes_on_from_its_head_alone() {
    let started = r#"{"seq":1,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r"}}"#;
    let custom = |seq: u64| format!(r#"{{"seq":{seq},"event":{{"type":"X"}}}}"#);
    let follow = |lines: &[&str]| {
        let lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
        let mut history = History::new("in".to_owned());
        follow_lines(&mut history, Format::Hub, &lines).map(|()| history.at())
    };
    let problem = |lines: &[&str]| match follow(lines) {
        Err(Stop::Unreadable(error)) => error.problem().1.clone(),
        other => panic!("{other:?}"),
    };
    let seq = |seq| Seq::new(seq).unwrap();
    assert_eq!(follow(&[started, &custom(2)]).ok(), Some(2));
    assert_eq!(problem(&[&custom(2)]), Problem::MidThread { found: seq(2) });
    let gap = Problem::Gap {
        expected: seq(2),
        found: seq(3),
    };
    assert_eq!(problem(&[started, &custom(3)]), gap);
    let again = Problem::Gap {
        expected: seq(2),
        found: seq(1),
    };
    assert_eq!(problem(&[started, started]), again);
    // What begins anew is no gap, and the run it begins no repetition.
    let reset = r#"{"op":"reset","threadId":"t","epoch":"e","seq":9,"reason":"lost"}"#;
    assert_eq!(follow(&[started, reset, started]).ok(), Some(1));
    let patched = r#"{"seq":2,"fact":{"type":"state.patched","by":{"id":"u"},"patch":[{"op":"add","path":"/a","value":1}]}}"#;
    let mut history = History::new("in".to_owned());
    let lines = [started.to_owned(), patched.to_owned()];
    follow_lines(&mut history, Format::Hub, &lines).unwrap();
    assert_eq!(*history.conversation().state(), serde_json::json!({"a": 1}));
}

/// Time for `count` deltas on a state of so many members.
fn time_of_deltas(members: usize, count: usize) -> std::time::Duration {
    let state: Vec<_> = (0..members).map(|n| format!(r#""m{n}":[{n}]"#)).collect();
    let snapshot = format!(
        r#"{{"type":"STATE_SNAPSHOT","snapshot":{{{}}}}}"#,
        state.join(",")
    );
    let started = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#.to_owned();
    let mut history = History::new("in".to_owned());
    follow_lines(&mut history, Format::Ndjson, &[started, snapshot]).unwrap();
    let delta = r#"{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/m1","value":1}]}"#;
    let deltas = vec![delta.to_owned(); count];
    let begun = std::time::Instant::now();
    follow_lines(&mut history, Format::Ndjson, &deltas).unwrap();
    begun.elapsed()
}

#[test]
fn a_delta_costs_the_same_on_a_large_state() {
    // The best of some, for the machine may be busy.
    let best = |members| (0..3).map(|_| time_of_deltas(members, 200)).min();
    let (small, large) = (best(10).unwrap(), best(20_000).unwrap());
    assert!(
        large < small * 20,
        "{large:?} on a large state, {small:?} on a small one"
    );
}

fn any_input() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just("data: {\"type\":\"A\"}".to_owned()),
        Just("data: {\"a\":".to_owned()),
        Just("data: 1}".to_owned()),
        Just("{\"type\":\"B\"}".to_owned()),
        Just("{\"seq\":1,\"event\":{\"type\":\"B\"}}".to_owned()),
        Just("[{\"type\":\"ü\"},".to_owned()),
        Just("{\"type\":\"A\"}]".to_owned()),
        Just(": x".to_owned()),
        Just("\u{feff}".to_owned()),
        Just(String::new()),
        "[ -~]{0,6}",
    ];
    let ending = prop::sample::select(&["\n", "\r\n", "\r", "\n\n", ""][..]);
    let lines = prop::collection::vec((line, ending), 0..8);
    lines.prop_map(|lines| {
        let text: String = lines
            .iter()
            .map(|(line, end)| format!("{line}{end}"))
            .collect();
        text.into_bytes()
    })
}

proptest! {
    #[test]
    fn how_bytes_are_cut_changes_nothing(input in any_input(), cut in any::<prop::sample::Index>()) {
        let whole = read(&[&input]);
        let cut = cut.index(input.len() + 1);
        prop_assert_eq!(read(&[&input[..cut], &input[cut..]]), whole.clone());
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        prop_assert_eq!(read(&bytes), whole);
    }
}

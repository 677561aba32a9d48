//! Streams that a published client was given by hand, and what it said of each.

use serde_json::Value;
use threadcast_agui::event::EventBody;
use threadcast_run_registry::stream_judge::{StreamJudge, Unfinished};
use threadcast_run_registry::verify::Rule;

use crate::support::fixtures;

/// What the hub says where it does not just agree that a stream is legal.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    /// Both refuse the stream, the hub at this event.
    Broken(u64, Rule),
    /// The reader of the client cannot read it, the hub's can: `docs/protocol.md` §14.7.
    OnlyUnreadable,
    /// The client takes it for whole, the hub does not: `docs/protocol.md` §14.7.
    OnlyUnfinished,
}

const CASES: [(&str, Expected); 10] = [
    ("midstream", Expected::Broken(1, Rule::FirstEvent)),
    ("done", Expected::OnlyUnreadable),
    ("crlf", Expected::OnlyUnreadable),
    ("openAtFinish", Expected::Broken(3, Rule::MessageLeftOpen)),
    ("noTerminal", Expected::OnlyUnfinished),
    ("truncatedNoRun", Expected::OnlyUnfinished),
    ("errorThenMore", Expected::Broken(3, Rule::AfterRunError)),
    ("dupMsgOpen", Expected::Broken(3, Rule::MessageAlreadyOpen)),
    ("floatTs", Expected::Broken(1, Rule::EventShape)),
    (
        "unclosedReasoning",
        Expected::Broken(3, Rule::ReasoningSpanLeftOpen),
    ),
];

#[test]
fn recorded_streams_get_the_recorded_verdicts() {
    let path = fixtures::folder("recordings").join("agui-client-strictness.jsonl");
    let text = fixtures::read(&path);
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut seen = 0;
    for case in lines.filter(|line| line["t"] == "case") {
        let name = case["name"].as_str().unwrap();
        let expected = CASES.iter().find(|(of, _)| *of == name);
        let expected = expected.map(|(_, expected)| *expected);
        check(&case, expected);
        seen += 1;
    }
    assert_eq!(seen, 26);
}

fn check(case: &Value, expected: Option<Expected>) {
    let name = &case["name"];
    let client = case["client_1.0.0"].as_str().unwrap();
    let mut judge = StreamJudge::new();
    let mut events = 0;
    for event in events_of(case["body"].as_str().unwrap()) {
        let taken = judge.take(&event).unwrap_or_default();
        let is_known = |body: &EventBody| !matches!(body, EventBody::Unknown { .. });
        events += taken.iter().filter(|one| is_known(&one.event.body)).count();
    }
    let broken = judge.broken().map(|broken| (broken.event, broken.rule));
    let messages = judge.conversation().messages().count();
    let ok = format!("ok events={events} msgs={messages}");
    match expected {
        None => {
            assert_eq!((broken, judge.finish()), (None, None), "{name}");
            assert_eq!(client, ok, "{name}");
        }
        Some(Expected::Broken(event, rule)) => {
            assert_eq!(broken, Some((event, rule)), "{name}");
            assert!(client.starts_with("ERR"), "{name}: {client}");
        }
        Some(Expected::OnlyUnreadable) => {
            assert_eq!((broken, judge.finish()), (None, None), "{name}");
            assert!(client.contains("JSON"), "{name}: {client}");
        }
        Some(Expected::OnlyUnfinished) => {
            let why = judge.finish();
            let is_empty = events == 0;
            assert_eq!(why == Some(Unfinished::Empty), is_empty, "{name}: {why:?}");
            assert!(why.is_some() && broken.is_none(), "{name}: {why:?}");
            assert_eq!(client, ok, "{name}");
        }
    }
}

/// The data of a body, as the hub's reader takes it (`docs/protocol.md` §14.1), which has its own
/// tests.
fn events_of(body: &str) -> Vec<String> {
    let body = body.replace("\r\n", "\n");
    let data = body.split("\n\n").map(|block| {
        let lines = block.lines().filter_map(|line| line.strip_prefix("data:"));
        lines
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect::<Vec<_>>()
            .join("\n")
    });
    data.take_while(|data| data != "[DONE]")
        .filter(|data| !data.is_empty())
        .collect()
}

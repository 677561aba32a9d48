use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::edit::append_member;

/// Text chunk of `id`, with more members as JSON.
fn text(id: &str, members: &str) -> String {
    chunk("TEXT_MESSAGE_CHUNK", "messageId", id, members)
}

fn tool(id: &str, members: &str) -> String {
    chunk("TOOL_CALL_CHUNK", "toolCallId", id, members)
}

fn reasoning(id: &str, members: &str) -> String {
    chunk("REASONING_MESSAGE_CHUNK", "messageId", id, members)
}

/// An empty `id` is an absent one.
fn chunk(event_type: &str, id_name: &str, id: &str, members: &str) -> String {
    let mut json = format!("{{\"type\":\"{event_type}\"");
    if !id.is_empty() {
        write!(json, ",\"{id_name}\":\"{id}\"").unwrap();
    }
    if !members.is_empty() {
        write!(json, ",{members}").unwrap();
    }
    json + "}"
}

const CUSTOM: &str = r#"{"type":"CUSTOM","name":"n","value":1}"#;
const FINISHED: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;
const RAW: &str = r#"{"type":"RAW","event":1}"#;
const STATE_DELTA: &str = r#"{"type":"STATE_DELTA","delta":[]}"#;

fn expand(events: &[&str]) -> Result<Vec<Expanded>, ChunkError> {
    let (mut lanes, mut expanded) = (Lanes::default(), Vec::new());
    for event in events {
        lanes.expand(Event::read(event).unwrap(), |one| expanded.push(one))?;
    }
    Ok(expanded)
}

/// What an event does to which item, such as `TEXT+ a`, `TEXT a "hi"`, `TEXT- a @x`; other events
/// by their type.
fn short(event: &Event) -> String {
    let fields = crate::fields::Fields::of(event.json.as_str()).unwrap();
    let id = fields
        .value("messageId")
        .or_else(|| fields.value("toolCallId"))
        .map(|id| id.trim_matches('"'));
    let kind = match event.type_name() {
        name if name.starts_with("TEXT_MESSAGE_") => "TEXT",
        name if name.starts_with("TOOL_CALL_") => "TOOL",
        name if name.starts_with("REASONING_MESSAGE_") => "REASONING",
        name => return name.to_owned(),
    };
    let mark = match event.type_name() {
        name if name.ends_with("_START") => "+",
        name if name.ends_with("_END") => "-",
        _ => "",
    };
    let mut short = format!("{kind}{mark} {}", id.unwrap_or_default());
    if let Some(delta) = fields.value("delta") {
        write!(short, " {delta}").unwrap();
    }
    if let Some(owner) = &event.owner {
        write!(short, " @{owner}").unwrap();
    }
    short
}

#[track_caller]
fn check(events: &[&str], expected: &[&str]) {
    let found: Vec<_> = expand(events)
        .unwrap()
        .iter()
        .map(|one| short(&one.event))
        .collect();
    assert_eq!(found, expected);
}

#[track_caller]
fn check_refused(events: &[&str], message: &str) {
    let (last, before) = events.split_last().unwrap();
    expand(before).expect("only the last chunk is refused");
    assert_eq!(
        expand(&[before, &[last]].concat()).unwrap_err().to_string(),
        message
    );
}

#[test]
fn chunks_become_start_content_and_end() {
    check(
        &[
            &text("a", r#""delta":"1""#),
            &text("", r#""delta":"2""#),
            FINISHED,
        ],
        &[
            "TEXT+ a",
            r#"TEXT a "1""#,
            r#"TEXT a "2""#,
            "TEXT- a",
            "RUN_FINISHED",
        ],
    );
    check(
        &[
            &tool("c", r#""toolCallName":"n","delta":"{""#),
            &tool("", r#""delta":"}""#),
            CUSTOM,
        ],
        &[
            "TOOL+ c",
            r#"TOOL c "{""#,
            r#"TOOL c "}""#,
            "TOOL- c",
            "CUSTOM",
        ],
    );
    check(
        &[
            &reasoning("m", ""),
            &reasoning("m", r#""delta":"x""#),
            CUSTOM,
        ],
        &[
            "REASONING+ m",
            r#"REASONING m "x""#,
            "REASONING- m",
            "CUSTOM",
        ],
    );
}

#[test]
fn a_chunk_that_says_nothing_adds_nothing_and_an_empty_delta_closes_nothing() {
    check(
        &[
            &text("a", ""),
            &text("", ""),
            &text("", r#""delta":"""#),
            FINISHED,
        ],
        &["TEXT+ a", r#"TEXT a """#, "TEXT- a", "RUN_FINISHED"],
    );
}

#[test]
fn another_item_ends_the_one_before_and_coming_back_opens_it_again() {
    check(
        &[
            &text("a", r#""delta":"1""#),
            &text("b", r#""delta":"2""#),
            &text("a", r#""delta":"3""#),
            FINISHED,
        ],
        &[
            "TEXT+ a",
            r#"TEXT a "1""#,
            "TEXT- a",
            "TEXT+ b",
            r#"TEXT b "2""#,
            "TEXT- b",
            "TEXT+ a",
            r#"TEXT a "3""#,
            "TEXT- a",
            "RUN_FINISHED",
        ],
    );
    check(
        &[
            &text("a", ""),
            &tool("a", r#""toolCallName":"n""#),
            &reasoning("a", ""),
        ],
        &["TEXT+ a", "TEXT- a", "TOOL+ a", "TOOL- a", "REASONING+ a"],
    );
}

#[test]
fn a_first_chunk_must_name_its_item() {
    check_refused(
        &[&text("", r#""delta":"1""#)],
        "first chunk of a text message names no id",
    );
    check_refused(
        &[&reasoning("", "")],
        "first chunk of a reasoning message names no id",
    );
    check_refused(
        &[&tool("", r#""toolCallName":"n""#)],
        "first chunk of a tool call names no id",
    );
    check_refused(
        &[&tool("c", r#""toolCallName":"n""#), &tool("d", "")],
        "first chunk of tool call `d` names no tool",
    );
    check_refused(
        &[&text("a", ""), CUSTOM, &text("", r#""delta":"2""#)],
        "first chunk of a text message names no id",
    );
}

#[test]
fn events_that_belong_to_no_item_end_nothing() {
    check(
        &[
            &text("a", ""),
            RAW,
            r#"{"type":"META"}"#,
            &text("", r#""delta":"2""#),
        ],
        &["TEXT+ a", "RAW", "META", r#"TEXT a "2""#],
    );
    for event in [
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{}}"#,
        r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[]}"#,
        r#"{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"v"}"#,
        r#"{"type":"SUBAGENT_STARTED","subagentRunId":"x","name":"n"}"#,
    ] {
        assert_eq!(
            expand(&[&text("a", ""), event]).unwrap().len(),
            2,
            "{event}"
        );
    }
}

#[test]
fn events_of_the_same_owner_end_an_item() {
    check(
        &[&text("a", ""), STATE_DELTA, &text("a", r#""delta":"2""#)],
        &[
            "TEXT+ a",
            "TEXT- a",
            "STATE_DELTA",
            "TEXT+ a",
            r#"TEXT a "2""#,
        ],
    );
    check(
        &[
            &text("a", ""),
            r#"{"type":"TEXT_MESSAGE_END","messageId":"a"}"#,
        ],
        &["TEXT+ a", "TEXT- a", "TEXT- a"],
    );
    for event in [
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":""}"#,
        r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"n"}"#,
        r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":""}"#,
        r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":""}"#,
        r#"{"type":"STATE_SNAPSHOT","snapshot":1}"#,
        r#"{"type":"STEP_STARTED","stepName":"s"}"#,
        r#"{"type":"STEP_FINISHED","stepName":"s"}"#,
        r#"{"type":"REASONING_START","messageId":"m"}"#,
        r#"{"type":"REASONING_END","messageId":"m"}"#,
        r#"{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}"#,
        r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":""}"#,
        r#"{"type":"REASONING_MESSAGE_END","messageId":"m"}"#,
    ] {
        let owned = append_member(event, "subagentRunId", "\"x\"");
        let expanded =
            expand(&[&text("a", ""), &text("b", r#""subagentRunId":"x""#), &owned]).unwrap();
        assert_eq!(short(&expanded[2].event), "TEXT- b @x", "{event}");
        assert_eq!(expanded.len(), 4, "{event}");
    }
}

#[test]
fn events_of_the_whole_run_end_every_item_in_opening_order() {
    for event in [
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
        FINISHED,
        r#"{"type":"RUN_ERROR","message":"m"}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[]}"#,
    ] {
        let [x, y] = ["x", "y"].map(|owner| format!(r#""subagentRunId":"{owner}""#));
        let expanded = expand(&[
            &text("a", &x),
            &text("b", &y),
            &reasoning("c", ""),
            &text("d", &x),
            event,
        ])
        .unwrap();
        let ends: Vec<_> = expanded[5..].iter().map(|one| short(&one.event)).collect();
        assert_eq!(
            ends[..3],
            ["TEXT- b @y", "REASONING- c", "TEXT- d @x"],
            "{event}"
        );
        assert_eq!(ends.len(), 4, "{event}");
    }
}

#[test]
fn every_owner_has_a_lane() {
    let tagged = |id: &str, owner: &str, delta: &str| {
        text(
            id,
            &format!(r#""subagentRunId":"{owner}","delta":"{delta}""#),
        )
    };
    check_refused(
        &[
            &tagged("a", "x", ""),
            &tagged("b", "y", ""),
            &text("", r#""delta":"3""#),
        ],
        "chunk names neither text message nor subagent, and 2 subagents have one open",
    );
    check(
        &[&tagged("a", "x", "1"), CUSTOM, &tagged("", "x", "2")],
        &[
            "TEXT+ a @x",
            r#"TEXT a "1" @x"#,
            "CUSTOM",
            r#"TEXT a "2" @x"#,
        ],
    );
    check(
        &[
            &tagged("a", "x", "1"),
            &tagged("b", "y", "2"),
            r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"x"}"#,
            &text("", r#""delta":"4""#),
        ],
        &[
            "TEXT+ a @x",
            r#"TEXT a "1" @x"#,
            "TEXT+ b @y",
            r#"TEXT b "2" @y"#,
            "TEXT- a @x",
            "SUBAGENT_FINISHED",
            r#"TEXT b "4" @y"#,
        ],
    );
    check(
        &[
            &tagged("a", "x", "1"),
            &text("b", ""),
            &text("", r#""delta":"2""#),
            &text("a", r#""delta":"3""#),
        ],
        &[
            "TEXT+ a @x",
            r#"TEXT a "1" @x"#,
            "TEXT+ b",
            r#"TEXT b "2""#,
            r#"TEXT a "3" @x"#,
        ],
    );
    check_refused(
        &[&tagged("a", "x", ""), &tagged("a", "y", "")],
        "chunk of text message `a` is tagged `y`, its owner is `x`",
    );
    check_refused(
        &[&text("a", ""), &tagged("a", "y", "")],
        "chunk of text message `a` is tagged `y`, its owner is the parent agent",
    );
}

#[test]
fn a_continuing_chunk_may_repeat_what_the_first_said_and_nothing_else() {
    let opener = text("a", r#""role":"user","name":"n""#);
    assert_eq!(expand(&[&opener, &opener]).unwrap().len(), 1);
    assert_eq!(
        expand(&[&text("a", ""), &text("", r#""role":"assistant""#)])
            .unwrap()
            .len(),
        1
    );
    check_refused(
        &[&text("a", r#""delta":"1""#), &text("", r#""role":"user""#)],
        "chunk of text message `a` has role `user`, its first chunk had `assistant`",
    );
    check_refused(
        &[&text("a", ""), &text("", r#""name":"n""#)],
        "chunk of text message `a` has name `n`, its first chunk had none",
    );
    let call = tool("c", r#""toolCallName":"n","parentMessageId":"p""#);
    assert_eq!(expand(&[&call, &call]).unwrap().len(), 1);
    check_refused(
        &[&call, &tool("c", r#""toolCallName":"o""#)],
        "chunk of tool call `c` has toolCallName `o`, its first chunk had `n`",
    );
    check_refused(
        &[
            &tool("c", r#""toolCallName":"n""#),
            &tool("c", r#""parentMessageId":"p""#),
        ],
        "chunk of tool call `c` has parentMessageId `p`, its first chunk had none",
    );
}

#[test]
fn the_end_of_the_stream_ends_nothing() {
    check(
        &[&text("a", r#""delta":"1""#)],
        &["TEXT+ a", r#"TEXT a "1""#],
    );
}

#[track_caller]
fn check_bytes(chunks: &[&str], expected: &[&str]) {
    let expanded = expand(chunks).unwrap();
    let found: Vec<_> = expanded.iter().map(|one| one.event.json.as_str()).collect();
    assert_eq!(found, expected);
}

#[test]
fn written_events_carry_what_the_chunk_said() {
    check_bytes(
        &[
            &text(
                "a",
                r#""delta":"\u00e9\ud83d","new":[1],"timestamp":1,"rawEvent":{"r":1},"metadata":{"k": 1},"subagentRunId":"x","name":"n""#,
            ),
            &text("", r#""subagentRunId":"x","metadata":{}"#),
            &text("", r#""subagentRunId":"x","rawEvent":2"#),
        ],
        &[
            r#"{"type":"TEXT_MESSAGE_START","messageId":"a","role":"assistant","name":"n","subagentRunId":"x","metadata":{"k": 1}}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"\u00e9\ud83d","subagentRunId":"x","metadata":{"k": 1},"rawEvent":{"r":1},"new":[1]}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"","subagentRunId":"x","metadata":{}}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"","subagentRunId":"x","rawEvent":2}"#,
        ],
    );
    check_bytes(
        &[
            &tool(
                "c\\\"",
                r#""toolCallName":"n","parentMessageId":"p","metadata":{},"new":1"#,
            ),
            CUSTOM,
        ],
        &[
            r#"{"type":"TOOL_CALL_START","toolCallId":"c\"","toolCallName":"n","parentMessageId":"p","metadata":{},"new":1}"#,
            r#"{"type":"TOOL_CALL_END","toolCallId":"c\""}"#,
            CUSTOM,
        ],
    );
    check_bytes(
        &[&reasoning("m", r#""role":"assistant""#)],
        &[r#"{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}"#],
    );
}

#[test]
fn a_refused_chunk_changes_nothing() {
    let mut lanes = Lanes::default();
    lanes
        .expand(Event::read(&text("a", "")).unwrap(), |_| {})
        .unwrap();
    let before = lanes.clone();
    let refused = Event::read(&tool("c", "")).unwrap();
    assert!(
        lanes
            .expand(refused, |one| panic!("{one:?} is emitted"))
            .is_err()
    );
    assert_eq!(lanes, before);
}

/// Chunks, and events that close or do not, over few ids and owners.
fn any_event() -> impl Strategy<Value = String> {
    let id = prop::sample::select(vec!["", "a", "b"]);
    let owner = prop::sample::select(vec![
        "",
        r#","subagentRunId":"x""#,
        r#","subagentRunId":"y""#,
    ]);
    let members = prop::sample::select(vec![
        r#""delta":"d""#,
        r#""delta":"""#,
        r#""metadata":{"k":1}"#,
        r#""new":1"#,
    ]);
    let kind = prop::sample::select(vec![text, tool, reasoning]);
    let chunk = (kind, id, members, owner.clone()).prop_map(|(kind, id, members, owner)| {
        let json = kind(id, &format!("{members}{owner}"));
        if json.contains("TOOL") && !id.is_empty() {
            append_member(&json, "toolCallName", "\"n\"")
        } else {
            json
        }
    });
    let other = prop::sample::select(vec![
        r#"{"type":"CUSTOM","name":"n","value":1}"#,
        r#"{"type":"TEXT_MESSAGE_START","messageId":"a"}"#,
        r#"{"type":"TEXT_MESSAGE_END","messageId":"a"}"#,
        r#"{"type":"TOOL_CALL_END","toolCallId":"b"}"#,
        r#"{"type":"RAW","event":1}"#,
    ]);
    let other = (other, owner).prop_map(|(json, owner)| json.replace('}', &format!("{owner}}}")));
    let of_the_run = Just(r#"{"type":"MESSAGES_SNAPSHOT","messages":[]}"#.to_owned());
    prop_oneof![8 => chunk, 3 => other, 1 => of_the_run]
}

proptest! {
    #[test]
    fn expansion_leaves_what_holds_no_chunks(events in prop::collection::vec(any_event(), 0..30)) {
        let (mut lanes, mut second, mut once, mut twice) = (Lanes::default(), Lanes::default(), Vec::new(), Vec::new());
        for event in &events {
            let _refused = lanes.expand(Event::read(event).unwrap(), |one| once.push(one.event));
        }
        for event in &once {
            prop_assert!(Chunk::of(event).is_none());
            second.expand(event.clone(), |one| twice.push(one)).unwrap();
        }
        prop_assert!(second.is_empty());
        prop_assert!(twice.iter().all(|one| !one.from_chunk));
        let twice: Vec<_> = twice.into_iter().map(|one| one.event).collect();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn following_the_expanded_log_gives_the_same_lanes(events in prop::collection::vec(any_event(), 0..30)) {
        let (mut lanes, mut follower) = (Lanes::default(), Lanes::default());
        for event in &events {
            let _refused = lanes.expand(Event::read(event).unwrap(), |one| follower.follow(&one.event, one.from_chunk));
            prop_assert_eq!(&follower, &lanes);
            let mut reopened = Lanes::default();
            lanes.openings().for_each(|opening| reopened.follow(&opening, true));
            prop_assert_eq!(&reopened, &lanes);
        }
    }

    #[test]
    fn written_events_read_back_as_they_are(events in prop::collection::vec(any_event(), 0..10)) {
        let mut lanes = Lanes::default();
        for event in &events {
            let mut expanded = Vec::new();
            let _refused = lanes.expand(Event::read(event).unwrap(), |one| expanded.push(one.event));
            for event in expanded {
                prop_assert_eq!(Event::read(event.json.as_str()), Ok(event));
            }
        }
    }
}

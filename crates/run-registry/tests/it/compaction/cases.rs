//! One case for every reason to merge or not, each tried as a range of its own and cut everywhere.
//!
//! Words as in the notation of streams; `#state` is the fact `state.diverged`, `#other` another
//! one; a `!` says that AG-UI's reference client does the patch. A word that came out of a merge is
//! followed by its delta: `T.m=mm`.

use std::collections::HashMap;

use serde_json::json;
use threadcast_agui::event::Event;
use threadcast_agui::json::RawJson;
use threadcast_run_registry::compaction::{Compacted, compact};
use threadcast_thread_log::entry::{Body, Entry};

use crate::compaction::logged::{entry, event_body};
use crate::compaction::{Subject, seq};
use crate::support::notation;

fn fact(word: &str) -> Option<Body> {
    let is_stricter = word.ends_with('!');
    let mut public = match word.trim_end_matches('!') {
        "#state" => json!({"type": "state.diverged", "by": {"id": "hub"}, "runId": "r",
            "operation": 0, "path": "", "reason": "no"}),
        "#activity" => json!({"type": "activity.diverged", "by": {"id": "hub"}, "runId": "r",
            "messageId": "m", "operation": 0, "path": "", "reason": "no"}),
        "#other" => json!({"type": "of.later", "by": {"id": "hub"}}),
        _ => return None,
    };
    if is_stricter {
        public["stricter"] = json!(true);
    }
    Some(Body::Fact {
        public: RawJson::from_value(&public),
        private: None,
    })
}

pub(crate) fn numbered(bodies: impl Iterator<Item = Body>) -> Vec<Entry> {
    let numbered = bodies.enumerate();
    numbered
        .map(|(at, body)| entry(seq(at + 1), body))
        .collect()
}

/// The words, and an entry for each.
fn logged(words: &str) -> (Vec<&str>, Vec<Entry>) {
    let all: Vec<_> = words.split_whitespace().collect();
    let is_event = |word: &&str| !word.starts_with('#');
    let events: Vec<_> = all.iter().copied().filter(is_event).collect();
    let mut events = notation::stream(&events.join(" ")).into_iter();
    let bodies = all
        .iter()
        .map(|word| fact(word).unwrap_or_else(|| event_body(events.next().unwrap().json)));
    let entries = numbered(bodies);
    (all, entries)
}

fn in_words(compacted: &[Compacted], words: &[&str], entries: &[Entry]) -> String {
    let bodies = entries.iter().map(|entry| match &entry.record.body {
        Body::Event { json, .. } => json.to_string(),
        Body::Fact { public, .. } => public.to_string(),
    });
    let known: HashMap<_, _> = bodies.zip(words).collect();
    let word = |json: &RawJson| match known.get(json.as_str()) {
        Some(word) => (**word).to_owned(),
        None => {
            let event = json.to_value().unwrap();
            let (kind, id) = match event["type"].as_str().unwrap() {
                "TEXT_MESSAGE_CONTENT" => ("T", "messageId"),
                "REASONING_MESSAGE_CONTENT" => ("G", "messageId"),
                "TOOL_CALL_ARGS" => ("C", "toolCallId"),
                other => return other.to_owned(),
            };
            format!(
                "{kind}.{}={}",
                event[id].as_str().unwrap(),
                event["delta"].as_str().unwrap()
            )
        }
    };
    let words = compacted.iter().flat_map(|piece| match piece {
        Compacted::Events { events, .. } => events.iter().map(word).collect(),
        Compacted::Fact(entry) => match &entry.record.body {
            Body::Fact { public, .. } => vec![word(public)],
            Body::Event { .. } => panic!("an event as a fact"),
        },
    });
    words.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(words: &str, expected: &str) {
    let (all, entries) = logged(words);
    let compacted = compact(&entries);
    assert_eq!(in_words(&compacted, &all, &entries), expected, "{words}");
    Subject::new(words.to_owned(), entries).check_all_ranges();
}

/// Deltas around `between` do not merge.
#[track_caller]
fn check_stays(words: &str) {
    check(words, words);
}

#[test]
fn deltas_join_the_first_of_their_item() {
    check("RUN:r T+m T.m T.m T-m FIN", "RUN:r T+m T.m=mm T-m FIN");
    check("RUN:r C+c C.c C.c C.c C-c FIN", "RUN:r C+c C.c=ccc C-c FIN");
    check(
        "RUN:r T+m C+c G+g T.m C.c G.g T.m G.g C.c T.m T-m ERR",
        "RUN:r T+m C+c G+g T.m=mmm C.c=cc G.g=gg T-m ERR",
    );
    check_stays("RUN:r T+m T.m T-m T+m T.m T-m FIN");
    check_stays("RUN:r T+m T.m ERR RUN:s T+m T.m T-m FIN");
    check_stays("RUN:r ACT:m ERR RUN:s ACT:m ERR");
}

#[test]
fn text_passes_over_what_touches_neither_its_message_nor_the_list() {
    for between in [
        "CUSTOM", "RAW", "STATE", "S+s", "A+x", "P+p", "P-q", "T+n", "G+n", "C+c", "C+c^n",
        "RES:q", "ENC:m", "ENC:c#", "ACT:n", "KEEP:n", "DEL:n", "C.d", "C-d",
    ] {
        let start = "RUN:r T+m P+q C+d C.d";
        check(
            &format!("{start} T.m {between} T.m ERR"),
            &match between {
                "C.d" => "RUN:r T+m P+q C+d C.d=dd T.m=mm ERR".to_owned(),
                _ => format!("{start} T.m=mm {between} ERR"),
            },
        );
    }
}

#[test]
fn text_does_not_pass_over_what_may_change_its_message_or_bring_one() {
    for between in [
        "LIST:m",
        "LIST:n",
        "NEW",
        "RES:m",
        "ACT:m",
        "KEEP:m",
        "DEL:m",
        "C+m",
        "C+c^m",
        "P+m",
        "G+m",
        "T-m T+m",
        "G+m G.m G-m",
    ] {
        check_stays(&format!("RUN:r T+m T.m {between} T.m ERR"));
    }
    // The two kinds have one message: the one that came first.
    check_stays("RUN:r T+m G+m T.m G.m T.m G.m ERR");
    // The message is gone, and comes again with the call.
    check_stays("RUN:r T+m LIST:n T.m C+c^m T.m ERR");
    check_stays("RUN:r T+m LIST:n T.m C+m T.m ERR");
    check_stays("RUN:r T+m LIST:n T.m G+m T.m ERR");
    check_stays("RUN:r G+m LIST:n G.m T+m G.m ERR");
}

#[test]
fn arguments_pass_over_what_cannot_take_their_call_away() {
    for between in [
        "CUSTOM", "RAW", "STATE", "S+s", "A+x", "P+c", "T+c", "G+c", "C+d", "C+d^c", "RES:c",
        "RES:q", "ENC:c", "ENC:c#", "KEEP:n", "DEL:n", "T.z",
    ] {
        let start = "RUN:r T+z C+c";
        check(
            &format!("{start} C.c {between} C.c ERR"),
            &format!("{start} C.c=cc {between} ERR"),
        );
    }
}

#[test]
fn arguments_do_not_pass_over_what_may_take_their_call_away() {
    for between in ["LIST:n", "NEW", "ACT:c", "ACT:n", "C-c C+c"] {
        check_stays(&format!("RUN:r C+c C.c {between} C.c ERR"));
    }
}

#[test]
fn deltas_that_name_other_owners_stay_apart() {
    check_stays("RUN:r A+x T+m@x T.m@x T.m T.m@x ERR");
    check(
        "RUN:r A+x C+c@x C.c@x C.c@x C.c C.c ERR",
        "RUN:r A+x C+c@x C.c=cc C.c=cc ERR",
    );
}

#[test]
fn facts_stay_in_their_place() {
    check(
        "#other RUN:r T+m T.m T.m #other #other T.m T.m T-m FIN #other",
        "#other RUN:r T+m T.m=mm #other #other T.m=mm T-m FIN #other",
    );
}

#[test]
fn a_piece_may_amount_to_nothing() {
    let failed = r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/no"}]}"#;
    let bodies = [
        event_body(RawJson::parse(failed).unwrap()),
        fact("#state").unwrap(),
    ];
    let entries = numbered(bodies.into_iter());
    let compacted = compact(&entries);
    let events = Vec::new();
    let (first, last) = (seq(1), seq(1));
    let expected = [
        Compacted::Events {
            first,
            last,
            events,
        },
        Compacted::Fact(entries[1].clone()),
    ];
    assert_eq!(compacted, expected);
    assert_eq!(compact(&[]), []);
}

/// Lines of JSON inside a run, and what they become; a line may be a fact's word.
#[track_caller]
fn check_lines(lines: &str, expected: &str) {
    let trimmed = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(ToOwned::to_owned).collect()
    };
    let run = [r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#.to_owned()];
    let end = [r#"{"type":"RUN_ERROR","message":"broke"}"#.to_owned()];
    let all = [&run[..], &trimmed(lines), &end[..]].concat();
    let bodies = all
        .iter()
        .map(|line| fact(line).unwrap_or_else(|| event_body(Event::read(line).unwrap().json)));
    let entries = numbered(bodies);
    let compacted = compact(&entries);
    let found = compacted.iter().flat_map(|piece| match piece {
        Compacted::Events { events, .. } => events.iter().map(ToString::to_string).collect(),
        Compacted::Fact(entry) => vec![all[entry.seq.get() as usize - 1].clone()],
    });
    let found: Vec<_> = found.collect();
    let expected = [&run[..], &trimmed(expected), &end[..]].concat();
    assert_eq!(found, expected);
    Subject::new(lines.to_owned(), entries).check_all_ranges();
}

#[test]
fn what_deltas_carry_is_kept() {
    check_lines(
        r#"
        {"type":"TEXT_MESSAGE_START","messageId":"m"}
        { "delta":"\ud83e", "type":"TEXT_MESSAGE_CONTENT","messageId":"m","timestamp":5,"metadata":{"a":1,"b":{"c":1.50}}}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\udd80\n","timestamp":6}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"","metadata":{"\u0061":2,"\"":12345678901234567890}}
        "#,
        r#"
        {"type":"TEXT_MESSAGE_START","messageId":"m"}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ud83e\udd80\n","timestamp":5,"metadata":{"a":2,"b":{"c":1.50},"\"":12345678901234567890}}
        "#,
    );
}

/// What another version of a hub made of it is unknown.
#[test]
fn nothing_passes_over_an_event_that_cannot_be_read() {
    let delta = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"}"#;
    let state = r#"{"type":"STATE_SNAPSHOT","snapshot":1}"#;
    for odd in [
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"n"}"#,
        r#"{"type":"THINKING_START"}"#,
        "[]",
    ] {
        let lines = [delta, state, odd, delta, state];
        let bodies = lines.map(|line| event_body(RawJson::parse(line).unwrap()));
        let compacted = compact(&numbered(bodies.into_iter()));
        let [Compacted::Events { events, .. }] = &compacted[..] else {
            panic!("one piece")
        };
        assert!(events.iter().map(RawJson::as_str).eq(lines), "{events:?}");
    }
}

/// Whoever reads them must find them where they were.
#[test]
fn an_event_that_holds_more_is_left_as_it_is() {
    for more in [r#""rawEvent":{"native":1}"#, r#""newer":1"#] {
        for (start, delta) in [
            (
                r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
                r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"}"#,
            ),
            (
                r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"n"}"#,
                r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"a"}"#,
            ),
            (
                r#"{"type":"STATE_SNAPSHOT","snapshot":{"n":0}}"#,
                r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/n","value":1}]}"#,
            ),
            (
                r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"P","content":{}}"#,
                r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"P","content":{"n":1}}"#,
            ),
        ] {
            let odd = delta.replacen('{', &format!("{{{more},"), 1);
            let lines = format!("{start}\n{odd}\n{delta}\n{odd}\n{delta}");
            check_lines(&lines, &lines);
        }
    }
}

#[test]
fn changes_of_state_become_one() {
    check_lines(
        r#"
        {"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1}],"timestamp":1}
        {"type":"STATE_SNAPSHOT","snapshot":{"n":1.0},"metadata":{"k":1}}
        {"type":"TEXT_MESSAGE_START","messageId":"m"}
        {"type":"STATE_DELTA","delta":[{"op":"add","path":"/b","value":2}],"metadata":{"k":2}}
        "#,
        r#"
        {"type":"STATE_SNAPSHOT","snapshot":{"n":1.0,"b":2},"timestamp":1,"metadata":{"k":2}}
        {"type":"TEXT_MESSAGE_START","messageId":"m"}
        "#,
    );
    check_lines(
        r#"
        {"type":"STATE_DELTA","delta":[ {"op":"add","path":"/a","value":1.50} ]}
        {"type":"STATE_DELTA","delta":[]}
        {"type":"STATE_DELTA","delta":[{"op":"of.later"},{"op":"test","path":"/a","value":1.5}]}
        "#,
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1.50},{"op":"of.later"},{"op":"test","path":"/a","value":1.5}]}"#,
    );
}

#[test]
fn changes_of_state_stay_apart_where_someone_may_look() {
    let delta = r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1}]}"#;
    for between in [
        r#"{"type":"CUSTOM","name":"n","value":null}"#,
        r#"{"type":"RAW","event":null}"#,
        r#"{"type":"FROM_LATER"}"#,
        r#"{"type":"STATE_DELTA","delta":[],"subagentRunId":"s"}"#,
        "{\"type\":\"RUN_ERROR\",\"message\":\"no\"}\n{\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"s\"}",
    ] {
        let lines = format!("{delta}\n{between}\n{delta}");
        check_lines(&lines, &lines);
    }
}

/// One that fails within a joined patch would take the others with it.
#[test]
fn a_delta_that_failed_is_left_out_and_fails_no_other() {
    check_lines(
        r#"
        {"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1}]}
        {"type":"STATE_DELTA","delta":[{"op":"add","path":"/b","value":1}]}
        {"type":"STATE_DELTA","delta":[{"op":"remove","path":"/none"}]}
        #state
        {"type":"STATE_DELTA","delta":[{"op":"add","path":"/c","value":1}]}
        {"type":"STATE_DELTA","delta":[{"op":"add","path":"/d","value":1}]}
        "#,
        r#"
        {"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1},{"op":"add","path":"/b","value":1}]}
        #state
        {"type":"STATE_DELTA","delta":[{"op":"add","path":"/c","value":1},{"op":"add","path":"/d","value":1}]}
        "#,
    );
}

#[test]
fn the_last_delta_of_a_range_stands_alone_as_it_may_have_failed() {
    let deltas = ["/a", "/b", "/none/c"].map(|path| {
        let json =
            json!({"type": "STATE_DELTA", "delta": [{"op": "add", "path": path, "value": 1}]});
        event_body(RawJson::from_value(&json))
    });
    let entries = numbered(deltas.into_iter());
    let Compacted::Events { events, .. } = &compact(&entries)[0] else {
        panic!("events")
    };
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events[0].as_str().contains("/b") && events[1].as_str().contains("/none/c"));
}

#[test]
fn patches_that_copy_stand_alone_without_a_snapshot() {
    let lines = r#"
        {"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1}]}
        {"type":"STATE_DELTA","delta":[{"op":"copy","from":"/a","path":"/b"}]}
        {"type":"STATE_DELTA","delta":[{"op":"add","path":"/c","value":1}]}
        "#;
    check_lines(lines, lines);
}

#[test]
fn a_joined_patch_has_no_more_operations_than_one_may_have() {
    let operation = r#"{"op":"add","path":"/a","value":1}"#;
    let delta = |count: usize| {
        let operations = vec![operation; count].join(",");
        format!(r#"{{"type":"STATE_DELTA","delta":[{operations}]}}"#)
    };
    check_lines(
        &[delta(200), delta(300), delta(1), delta(1)].join("\n"),
        &[delta(500), delta(2)].join("\n"),
    );
}

#[test]
fn what_would_grow_stays_as_it_is() {
    let long = "x".repeat(300);
    let lines = format!(
        "{{\"type\":\"STATE_SNAPSHOT\",\"snapshot\":{{\"a\":\"{long}\"}}}}\n\
        {{\"type\":\"STATE_DELTA\",\"delta\":[{{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}}]}}\n\
        {{\"type\":\"ACTIVITY_SNAPSHOT\",\"messageId\":\"m\",\"activityType\":\"P\",\"content\":{{\"a\":\"{long}\"}}}}\n\
        {{\"type\":\"ACTIVITY_DELTA\",\"messageId\":\"m\",\"activityType\":\"P\",\"patch\":[{{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}}]}}"
    );
    check_lines(&lines, &lines);
}

#[test]
fn changes_of_an_activity_become_a_snapshot_in_the_place_of_the_first() {
    check_lines(
        r#"
        {"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"P","content":{"n":1},"timestamp":1,"metadata":{"a":1}}
        {"type":"ACTIVITY_DELTA","messageId":"m","activityType":"P","patch":[{"op":"remove","path":"/none"}],"metadata":{"b":1}}
        {"type":"TEXT_MESSAGE_START","messageId":"n"}
        {"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"P","content":{"n":2},"replace":true}
        {"type":"ACTIVITY_DELTA","messageId":"m","activityType":"Q","patch":[{"op":"add","path":"/k","value":1.0}],"metadata":{"a":2}}
        "#,
        r#"
        {"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"Q","content":{"n":2,"k":1.0},"timestamp":1,"metadata":{"a":2,"b":1}}
        {"type":"TEXT_MESSAGE_START","messageId":"n"}
        "#,
    );
}

#[test]
fn changes_of_an_activity_stay_apart_where_its_message_may_be_another() {
    let snapshot =
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"P","content":{}}"#;
    let delta = r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"P","patch":[]}"#;
    for between in [
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[]}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":""}"#,
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
        r#"{"type":"TOOL_CALL_START","toolCallId":"m","toolCallName":"n"}"#,
        r#"{"type":"FROM_LATER"}"#,
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"P","content":{},"replace":false}"#,
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"P","content":{},"subagentRunId":"s"}"#,
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"P","content":{},"newer":1}"#,
    ] {
        for later in [snapshot, delta] {
            let lines = format!("{snapshot}\n{between}\n{later}");
            let is_legal = !(between.contains("subagentRunId") && later == delta);
            if is_legal {
                check_lines(&lines, &lines);
            }
        }
    }
    // No snapshot says what there is to patch, or where it stands.
    check_lines(
        &format!("{delta}\n{delta}\n{snapshot}"),
        &format!("{delta}\n{delta}\n{snapshot}"),
    );
}

#[test]
fn a_delta_that_does_not_fit_its_activity_stands_and_nothing_passes_it() {
    for bad in [
        r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"P","patch":[{"op":"remove","path":"/none"}],"metadata":{"k":1}}"#,
        r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"P","patch":[{"op":"replace","path":"","value":[]}]}"#,
    ] {
        let good = r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"P","patch":[{"op":"add","path":"/a","value":1}]}"#;
        check_lines(
            &format!(
                "{{\"type\":\"ACTIVITY_SNAPSHOT\",\"messageId\":\"m\",\"activityType\":\"P\",\"content\":{{}}}}\n{good}\n{bad}\n{good}"
            ),
            &format!(
                "{{\"type\":\"ACTIVITY_SNAPSHOT\",\"messageId\":\"m\",\"activityType\":\"P\",\"content\":{{\"a\":1}}}}\n{bad}\n{good}"
            ),
        );
    }
}

#[test]
fn a_delta_that_failed_on_an_activity_is_left_out_unless_it_has_metadata() {
    let failed = r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"P","patch":[{"op":"remove","path":"/none"}]}"#;
    let with_metadata = failed.replacen('{', r#"{"metadata":{"k":1},"#, 1);
    check_lines(&format!("{failed}\n#activity"), "#activity");
    let lines = format!("{with_metadata}\n#activity");
    check_lines(&lines, &lines);
}

#[test]
fn a_delta_that_failed_stays_if_it_holds_more() {
    for more in [
        r#""rawEvent":{"native":1}"#,
        r#""newer":1"#,
        r#""metadata":{"k":1}"#,
    ] {
        for (failed, fact) in [
            (
                r#""type":"STATE_DELTA","delta":[{"op":"remove","path":"/none"}]"#,
                "#state",
            ),
            (
                r#""type":"ACTIVITY_DELTA","messageId":"m","activityType":"P","patch":[{"op":"remove","path":"/none"}]"#,
                "#activity",
            ),
        ] {
            check_lines(&format!("{{{failed}}}\n{fact}"), fact);
            let lines = format!("{{{more},{failed}}}\n{fact}");
            check_lines(&lines, &lines);
        }
    }
}

/// Whoever reads with it holds the same, compacted or not.
#[test]
fn a_delta_that_only_the_reference_client_does_stays() {
    for lines in [
        "{\"type\":\"STATE_SNAPSHOT\",\"snapshot\":{\"n\":1}}\n\
        {\"type\":\"STATE_DELTA\",\"delta\":[{\"op\":\"remove\",\"path\":\"/toString\"}]}\n\
        #state!",
        "{\"type\":\"ACTIVITY_SNAPSHOT\",\"messageId\":\"m\",\"activityType\":\"P\",\"content\":{}}\n\
        {\"type\":\"ACTIVITY_DELTA\",\"messageId\":\"m\",\"activityType\":\"P\",\"patch\":[{\"op\":\"add\",\"path\":\"\",\"value\":[]}]}\n\
        #activity!",
    ] {
        check_lines(lines, lines);
    }
}

/// Agents count microseconds, too, and what is whole may be written with a point.
#[test]
fn deltas_of_any_time_are_merged() {
    for time in ["1700000000000000", "9007199254740991", "-5", "5.0", "17e11"] {
        let start = r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#;
        let delta = |text: &str| {
            format!(
                r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"{text}","timestamp":{time}}}"#
            )
        };
        check_lines(
            &[start, &delta("a"), &delta("b")].join("\n"),
            &[start, &delta("ab")].join("\n"),
        );
    }
}

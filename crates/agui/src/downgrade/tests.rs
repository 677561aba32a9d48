use super::*;

const STARTED: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
const FINISHED: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;

fn event(json: &str) -> Event {
    Event::read(json).unwrap()
}

/// Each event with what is told of it: its text, `-` for nothing, `end` where the stream ends.
fn told(events: &[&str]) -> Vec<String> {
    let mut downgrade = Downgrade::default();
    let told = events
        .iter()
        .map(|json| match downgrade.take(&event(json)) {
            Downgraded::Event(json) => json.as_str().to_owned(),
            Downgraded::LeftOut => "-".to_owned(),
            Downgraded::StreamEnds => "end".to_owned(),
        });
    told.collect()
}

/// One event and what is told of it.
#[track_caller]
fn check(json: &str, expected: &str) {
    assert_eq!(told(&[json]), [expected]);
}

#[test]
fn versions_are_older_by_their_first_number() {
    for (version, expected) in [
        (None, true),
        (Some("0.0"), true),
        (Some("0.0.59"), true),
        (Some("0"), true),
        (Some("1.0"), false),
        (Some("1.12"), false),
        (Some("10.0"), false),
        (Some("2.0"), false),
        (Some(""), false),
        (Some(".5"), false),
        (Some("latest"), false),
    ] {
        assert_eq!(is_before_1_0(version), expected, "{version:?}");
    }
}

#[test]
fn what_older_clients_know_keeps_its_bytes() {
    for json in [
        r#"{"type":"TEXT_MESSAGE_CONTENT" , "messageId":"m","delta":"\ud83e","own":1}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"a":1},"usage":[{"model":"m"}]}"#,
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":{"subagentRunId":"s"}}]}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"text"}"#,
        r#"{"type":"CUSTOM","name":"n","value":{"subagentRunId":"s"}}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":[{"type":"text","text":"x","id":"p"}]}]}"#,
    ] {
        check(json, json);
    }
}

#[test]
fn unknown_types_and_subagents_are_left_out() {
    for json in [
        r#"{"type":"FUTURE","x":1}"#,
        r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}"#,
        r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}"#,
        r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"m"}"#,
    ] {
        check(json, "-");
    }
}

#[test]
fn owners_are_taken_off_events_messages_and_interrupts() {
    check(
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":"s"}"#,
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
    );
    check(
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":"x","subagentRunId":"s"},{"id":"x","role":"wizard"}]}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":"x"}]}"#,
    );
    check(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","new":1,"interrupts":[{"id":"i","reason":"x","subagentRunId":"s"}]}}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x"}]}}"#,
    );
}

#[test]
fn an_input_is_given_the_lists_that_had_to_be_there() {
    check(
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"hi","subagentRunId":"s"}]}}"#,
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"hi"}],"tools":[],"context":[]}}"#,
    );
    let whole = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[]}}"#;
    check(whole, whole);
}

#[test]
fn outcomes_keep_what_there_was_before() {
    check(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c"]}}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}"#,
    );
    check(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"future"}}"#,
        FINISHED,
    );
}

#[test]
fn a_cancelled_run_has_failed_and_a_late_failure_of_it_says_nothing_new() {
    let cancelled = r#"{"type":"RUN_FINISHED","timestamp":5,"threadId":"t","runId":"r","outcome":{"type":"cancelled"},"usage":[{"inputTokens":1}]}"#;
    let late = r#"{"type":"RUN_ERROR","message":"late"}"#;
    let failed = r#"{"type":"RUN_ERROR","timestamp":5,"usage":[{"inputTokens":1}],"message":"the run was cancelled","code":"abort"}"#;
    assert_eq!(
        told(&[STARTED, cancelled, late, STARTED]),
        [STARTED, failed, "-", "end"]
    );
}

#[test]
fn nothing_follows_a_run_that_failed() {
    let error = r#"{"type":"RUN_ERROR","message":"m"}"#;
    assert_eq!(told(&[STARTED, error, STARTED]), [STARTED, error, "end"]);
    assert_eq!(
        told(&[STARTED, FINISHED, error, STARTED]),
        [STARTED, FINISHED, error, "end"]
    );
    assert_eq!(
        told(&[STARTED, FINISHED, STARTED]),
        [STARTED, FINISHED, STARTED]
    );
}

#[test]
fn steps_of_several_owners_are_one_step() {
    let step =
        |kind: &str, owner: &str| format!(r#"{{"type":"STEP_{kind}","stepName":"a"{owner}}}"#);
    let (start, end) = (step("STARTED", ""), step("FINISHED", ""));
    let (start_of_s, end_of_s) = (
        step("STARTED", r#","subagentRunId":"s""#),
        step("FINISHED", r#","subagentRunId":"s""#),
    );
    assert_eq!(
        told(&[&start_of_s, &start, &end_of_s, &end, &start, &end]),
        [&start, "-", "-", &end, &start, &end]
    );
}

#[test]
fn steps_that_a_failed_run_left_open_are_none_of_the_next() {
    let step = r#"{"type":"STEP_STARTED","stepName":"a"}"#;
    let mut downgrade = Downgrade::default();
    for json in [STARTED, step] {
        downgrade.take(&event(json));
    }
    downgrade.take(&event(STARTED));
    assert_eq!(
        downgrade.take(&event(step)),
        Downgraded::Event(event(step).json)
    );
}

#[test]
fn a_stream_goes_on_with_the_steps_that_are_open_there() {
    let step = |kind: &str| event(&format!(r#"{{"type":"STEP_{kind}","stepName":"a"}}"#));
    let (start, end) = (step("STARTED"), step("FINISHED"));
    let steps = HashMap::from([(StepName::new("a").unwrap(), 2)]);
    let mut downgrade = Downgrade::within_run(steps);
    for (event, is_told) in [
        (&start, false),
        (&end, false),
        (&end, false),
        (&end, true),
        (&start, true),
    ] {
        let expected = if is_told {
            Downgraded::Event(event.json.clone())
        } else {
            Downgraded::LeftOut
        };
        assert_eq!(downgrade.take(event), expected);
    }
}

#[test]
fn a_late_failure_of_a_cancelled_run_is_left_out_on_the_next_stream_too() {
    let error = event(r#"{"type":"RUN_ERROR","message":"late"}"#);
    let mut downgrade = Downgrade::behind_cancelled();
    assert_eq!(downgrade.take(&error), Downgraded::LeftOut);
    for event in [event(STARTED), error] {
        let told = Downgraded::Event(event.json.clone());
        assert_eq!(downgrade.take(&event), told, "it is of the next run");
    }
    let mut downgrade = Downgrade::behind_cancelled();
    let started = event(STARTED);
    assert_eq!(
        downgrade.take(&started),
        Downgraded::Event(started.json.clone()),
        "this stream told no failure"
    );
}

#[test]
fn results_are_text_and_files_are_left_out() {
    check(
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"a\ud83e"},{"type":"image","source":{"type":"url","value":"u"}},{"type":"text","text":"\udd80b"}]}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"a\ud83e\udd80b"}"#,
    );
    check(
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"t","role":"tool","toolCallId":"c","content":[]},{"id":"u","role":"user","content":[{"type":"future"},{"type":"image","source":{"type":"file","value":"f"}},{"type":"image","source":{"type":"url","value":"u"}}]}]}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"t","role":"tool","toolCallId":"c","content":""},{"id":"u","role":"user","content":[{"type":"image","source":{"type":"url","value":"u"}}]}]}"#,
    );
}

#[test]
fn unknown_operations_are_left_out_of_patches() {
    check(
        r#"{"type":"STATE_DELTA","delta":[{"op":"future","path":"/a"},{"op":"add","path":"/b","value":1}]}"#,
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/b","value":1}]}"#,
    );
    check(
        r#"{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"x","patch":[{"path":"/a"}]}"#,
        r#"{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"x","patch":[]}"#,
    );
}

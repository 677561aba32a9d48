use std::time::Duration;

use expect_test::{Expect, expect};
use threadcast_client::{Epoch, Position};
use threadcast_run_registry::compaction::compact_events;

use super::recorded::updates;
use super::*;

fn seq(number: u64) -> Seq {
    Seq::new(number).unwrap()
}

fn subscribed(mode: Mode, head: u64) -> Update {
    let head = Position {
        epoch: Epoch::new("e"),
        seq: seq(head),
    };
    Update::Subscribed {
        mode,
        head,
        reason: None,
    }
}

fn render(renderer: &mut Renderer, updates: &[Update]) -> String {
    let mut segments: Vec<Segment> = updates
        .iter()
        .flat_map(|update| renderer.update(update))
        .collect();
    segments.extend(renderer.finish());
    segments.into_iter().map(|segment| segment.text).collect()
}

#[track_caller]
fn check(lines: &str, expected: &Expect) {
    expected.assert_eq(&render(&mut Renderer::new("th_1"), &updates(lines)));
}

/// A viewer that is behind gets what entries amount to; on paper it reads as if it had not been.
#[test]
fn a_range_reads_as_its_entries_do() {
    let lines = r#"
        {"type":"RUN_STARTED","threadId":"th_1","runId":"r1"}
        {"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant"}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"I will "}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"look.\nTwo "}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"things"}
        {"type":"TEXT_MESSAGE_END","messageId":"m1"}
        {"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"find_order","parentMessageId":"m1"}
        {"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"id\":"}
        {"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"42}"}
        {"type":"TOOL_CALL_END","toolCallId":"c1"}
        {"type":"RUN_FINISHED","threadId":"th_1","runId":"r1"}
        "#;
    let all = updates(lines);
    let expected = render(&mut Renderer::new("th_1"), &all);
    for cut in 0..all.len() {
        let (before, behind) = all.split_at(cut);
        let events = behind.iter().map(|update| match update {
            Update::Event { event, .. } => Event::from_raw(event.clone()).unwrap(),
            other => panic!("{other:?}"),
        });
        let events = compact_events(events.collect()).into_iter();
        let range = Update::Compacted {
            from: seq(cut as u64 + 1),
            seq: seq(all.len() as u64),
            events: events.map(|event| event.json).collect(),
            view: None,
        };
        let updates = [before, &[range]].concat();
        assert_eq!(
            render(&mut Renderer::new("th_1"), &updates),
            expected,
            "{cut}"
        );
    }
}

#[test]
fn a_run_that_asks_and_goes_on() {
    check(
        r#"
        {"type":"run.accepted","by":{"id":"anonymous"},"runId":"r1","agent":"demo","messages":[{"id":"u1","role":"user","content":"Refund order 42,\nplease"}]}
        {"type":"run.dispatched","by":{"id":"hub"},"runId":"r1"}
        {"type":"RUN_STARTED","threadId":"th_1","runId":"r1","input":{"threadId":"th_1","runId":"r1","messages":[{"id":"u1","role":"user","content":"Refund order 42,\nplease"}]}}
        {"type":"STEP_STARTED","stepName":"plan"}
        {"type":"REASONING_START","messageId":"t1"}
        {"type":"REASONING_MESSAGE_START","messageId":"t1","role":"reasoning"}
        {"type":"REASONING_MESSAGE_CONTENT","messageId":"t1","delta":"The customer "}
        {"type":"REASONING_MESSAGE_CONTENT","messageId":"t1","delta":"wants money."}
        {"type":"REASONING_MESSAGE_END","messageId":"t1"}
        {"type":"REASONING_END","messageId":"t1"}
        {"type":"STEP_FINISHED","stepName":"plan"}
        {"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant"}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"I will look.\n"}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Two things\n\n"}
        {"type":"TEXT_MESSAGE_END","messageId":"m1"}
        {"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"find_order","parentMessageId":"m1"}
        {"type":"TOOL_CALL_START","toolCallId":"c2","toolCallName":"find_customer","parentMessageId":"m1"}
        {"type":"TOOL_CALL_ARGS","toolCallId":"c2","delta":"{\"of\":"}
        {"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"id\":42}"}
        {"type":"TOOL_CALL_ARGS","toolCallId":"c2","delta":"42}"}
        {"type":"TOOL_CALL_END","toolCallId":"c1"}
        {"type":"TOOL_CALL_END","toolCallId":"c2"}
        {"type":"TOOL_CALL_RESULT","messageId":"o1","toolCallId":"c1","content":"12 EUR"}
        {"type":"STATE_SNAPSHOT","snapshot":{"order":{"id":42}}}
        {"type":"STATE_DELTA","delta":[{"op":"add","path":"/order/total","value":12},{"op":"remove","path":"/order/id"}]}
        {"type":"ACTIVITY_SNAPSHOT","messageId":"a1","activityType":"PLAN","content":{"steps":["look","pay"]}}
        {"type":"ACTIVITY_DELTA","messageId":"a1","activityType":"PLAN","patch":[{"op":"replace","path":"/steps/0","value":"done"}]}
        {"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u1","role":"user","content":"Refund order 42,\nplease"},{"id":"m1","role":"assistant","content":"I will look.","toolCalls":[{"id":"c1","type":"function","function":{"name":"find_order","arguments":"{}"}}]}]}
        {"type":"RUN_FINISHED","threadId":"th_1","runId":"r1","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"tool_call","message":"Refund 12 EUR?","toolCallId":"c3","expiresAt":"2030-01-01T00:00:00Z"}]}}
        {"type":"interrupt.resolved","by":{"id":"u7","name":"Ada"},"of":"r1","interruptId":"i1","status":"resolved","payload":{"approved":true},"runId":"r2"}
        {"type":"run.accepted","by":{"id":"u7","name":"Ada"},"runId":"r2","agent":"demo","messages":[]}
        {"type":"RUN_STARTED","threadId":"th_1","runId":"r2"}
        {"type":"RUN_FINISHED","threadId":"th_1","runId":"r2"}
        "#,
        &expect![[r#"
            ── run r1 accepted for demo, by anonymous
            user      Refund order 42,
                      please
            ── run r1 started
            step      plan …
            thinking  The customer wants money.
            step      plan done
            assistant I will look.
                      Two things
            call      find_order({"id":42})
            call      find_customer({"of":42})
            result    find_order: 12 EUR
            state     {"order":{"id":42}}
            state     /order/total = 12
                      /order/id is removed
            activity  PLAN {"steps":["look","pay"]}
            activity  PLAN
                      /steps/0 = "done"
            ── run r1 stopped to ask
            ask       Refund 12 EUR?
                      i1 (tool_call, call c3)
                      until 2030-01-01T00:00:00Z
                      threadcast approve th_1
            decision  Ada: i1 resolved {"approved":true}, run r2 takes it
            ── run r2 accepted for demo, by Ada
            ── run r2 started
            ── run r2 finished
        "#]],
    );
}

#[test]
fn speakers_at_the_same_time_are_told_apart() {
    check(
        r#"
        {"type":"RUN_STARTED","threadId":"th_1","runId":"r1"}
        {"type":"SUBAGENT_STARTED","subagentRunId":"s1","name":"researcher","description":"reads"}
        {"type":"TEXT_MESSAGE_START","messageId":"m1"}
        {"type":"TEXT_MESSAGE_START","messageId":"m2","subagentRunId":"s1"}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"one "}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":"uno ","subagentRunId":"s1"}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"two"}
        {"type":"TEXT_MESSAGE_END","messageId":"m2","subagentRunId":"s1"}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":" three"}
        {"type":"TEXT_MESSAGE_END","messageId":"m1"}
        {"type":"SUBAGENT_FINISHED","subagentRunId":"s1"}
        {"type":"RUN_ERROR","message":"the model is gone","code":"AGENT_TRUNCATED"}
        "#,
        &expect![[r#"
            ── run r1 started
            agent     researcher started: reads
            assistant one 
            assistant (researcher) uno 
            assistant two three
            agent     researcher finished
            ── run r1 failed: the model is gone (AGENT_TRUNCATED)
        "#]],
    );
}

#[test]
fn other_facts_and_events_have_their_line() {
    check(
        r#"
        {"type":"run.cancel_requested","by":{"id":"u7","name":"Ada"},"runId":"r1","reason":"enough"}
        {"type":"run.trailing","by":{"id":"hub"},"runId":"r1","eventType":"RUN_ERROR"}
        {"type":"interrupt.reopened","by":{"id":"hub"},"of":"r1","interruptIds":["i1"],"runId":"r2"}
        {"type":"state.patched","by":{"id":"u7"},"patch":[{"op":"move","from":"/a","path":"/b"}]}
        {"type":"state.diverged","by":{"id":"hub"},"runId":"r1","operation":0,"path":"/x","reason":"no such member"}
        {"type":"moon.risen","by":{"id":"hub"}}
        {"type":"CUSTOM","name":"app:ping","value":{"n":1}}
        {"type":"RAW","event":{},"source":"openai"}
        {"type":"AURORA","green":true}
        {"type":"TEXT_MESSAGE_CONTENT","messageId":5,"delta":""}
        "#,
        &expect![[r#"
            ── Ada asked run r1 to stop: enough
            late      RUN_ERROR of run r1 came after its end
            decision  run r2 did not reach its agent; what it answered is open again
            state     by u7
                      /a moves to /b
            state     the change of /x does not apply: no such member
            fact      moon.risen, by hub
            custom    app:ping {"n":1}
            raw       openai
            event     AURORA
            ── an event cannot be read: `messageId` must be a string, found a number
        "#]],
    );
}

#[test]
fn nothing_of_an_agents_text_is_obeyed_by_the_terminal() {
    let text = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\u001b[2J\rboo\u0007"}"#;
    let shown = render(&mut Renderer::new("th_1"), &updates(text));
    assert_eq!(shown, "assistant \u{fffd}[2J\u{fffd}boo\u{fffd}\n");
}

#[test]
fn text_cannot_be_turned_round() {
    let text =
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"pay \u202e12\u2066 1\u2069"}"#;
    let shown = render(&mut Renderer::new("th_1"), &updates(text));
    assert_eq!(shown, "assistant pay \u{fffd}12\u{fffd} 1\u{fffd}\n");
}

#[test]
fn calls_that_a_baseline_begins_in_front_of_its_list_show_their_arguments() {
    let events = [
        r#"{"type":"RUN_STARTED","threadId":"th_1","runId":"r1"}"#,
        r#"{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"pay"}"#,
        r#"{"type":"TOOL_CALL_END","toolCallId":"c1"}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m1","role":"assistant","content":"Hello","toolCalls":[{"id":"c1","type":"function","function":{"name":"pay","arguments":"{\"eur\":12}"}}]}]}"#,
    ];
    let update = Update::Baseline {
        seq: seq(9),
        events: events
            .iter()
            .map(|event| RawJson::parse(event).unwrap())
            .collect(),
        view: None,
    };
    let shown = render(&mut Renderer::new("th_1"), &[update]);
    expect![[r#"
        ── thread th_1 up to 9
        ── run r1 started
        assistant Hello
        call      pay({"eur":12})
    "#]]
    .assert_eq(&shown);
}

#[test]
fn long_json_is_cut_and_says_so() {
    let text = format!(
        r#"{{"type":"STATE_SNAPSHOT","snapshot":"{}"}}"#,
        "x".repeat(1000)
    );
    let shown = render(&mut Renderer::new("th_1"), &updates(&text));
    assert!(shown.ends_with("xxx… (1002 bytes)\n"), "{shown}");
    assert!(shown.len() < 400);
}

fn baseline() -> Update {
    let events = [
        r#"{"type":"RUN_STARTED","threadId":"th_1","runId":"r1"}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u1","role":"user","content":"hi"},{"id":"t1","role":"reasoning","content":"hm"},{"id":"m1","role":"assistant","content":"Hello","toolCalls":[{"id":"c1","type":"function","function":{"name":"pay","arguments":"{}"}}]},{"id":"o1","role":"tool","toolCallId":"c1","content":"","error":"no money"},{"id":"a1","role":"activity","activityType":"PLAN","content":{}}]}"#,
        r#"{"type":"STATE_SNAPSHOT","snapshot":{"a":1}}"#,
        r#"{"type":"RUN_FINISHED","threadId":"th_1","runId":"r1","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"confirmation"}]}}"#,
    ];
    let events = events
        .iter()
        .map(|event| RawJson::parse(event).unwrap())
        .collect();
    let view = serde_json::from_str(
        r#"{"status":"interrupted","runs":[],"interrupts":[{"of":"r1","interrupt":{"id":"i1","reason":"confirmation","expiresAt":"2020-01-01T00:00:00Z"},"expired":true}]}"#,
    );
    Update::Baseline {
        seq: seq(57),
        events,
        view: Some(view.unwrap()),
    }
}

#[test]
fn a_baseline_shows_the_conversation_and_open_questions_once() {
    let mut renderer = Renderer::new("th_1");
    let shown = render(&mut renderer, &[subscribed(Mode::Snapshot, 57), baseline()]);
    expect![[r#"
        ── thread th_1 up to 57
        ── run r1 started
        user      hi
        thinking  hm
        assistant Hello
        call      pay({})
        result    pay:  (failed: no money)
        activity  PLAN {}
        state     {"a":1}
        ── run r1 stopped to ask
        ── interrupted, one question open
        ask       The agent waits for an answer.
                  i1 (confirmation)
                  expired: it can only be cancelled
                  threadcast approve th_1 --cancel
    "#]]
    .assert_eq(&shown);
}

#[test]
fn what_a_baseline_holds_half_goes_on_below() {
    let mut renderer = Renderer::new("th_1");
    let shown = render(
        &mut renderer,
        &updates(
            r#"
            {"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m1","role":"assistant","content":"I will ","toolCalls":[{"id":"c1","type":"function","function":{"name":"pay","arguments":"{\"eur\":"}}]}]}
            {"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant"}
            {"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"pay"}
            {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"pay."}
            {"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"12}"}
            {"type":"TOOL_CALL_END","toolCallId":"c1"}
            {"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"pay"}
            {"type":"TOOL_CALL_END","toolCallId":"c1"}
            "#,
        ),
    );
    expect![[r#"
        assistant I will 
        call      pay({"eur":)
        assistant pay.
        call      pay({"eur":12})
    "#]]
    .assert_eq(&shown);
}

#[test]
fn breaks_and_resets_are_said() {
    let mut renderer = Renderer::new("th_1");
    let lost = Update::Lost {
        error: some_error(),
        retry_in: Duration::from_millis(1250),
    };
    let reset = Update::Reset {
        reason: "lost".into(),
    };
    let shown = render(
        &mut renderer,
        &[
            subscribed(Mode::Tail, 0),
            lost,
            subscribed(Mode::Resumed, 3),
            reset,
            subscribed(Mode::Snapshot, 57),
        ],
    );
    expect![[r#"
        ── thread th_1 is empty; waiting
        ── connection lost: hub address `x:` is no ws:// URL: its scheme is another; trying again in 1.2 s
        ── connected again
        ── what is above is void (lost); starting over
    "#]]
    .assert_eq(&shown);
}

/// Any error of the client: this one needs no socket.
fn some_error() -> threadcast_client::Error {
    threadcast_client::Client::connect_in_background("x:", threadcast_client::Options::default())
        .unwrap_err()
}

#[test]
fn status_lists_runs_and_questions() {
    let answer = serde_json::from_str(
        r#"{"threadId":"th_1","epoch":"e","seq":9,"status":"interrupted","thread":{"status":"interrupted","runs":[
            {"runId":"r0","status":"error","agent":"demo","by":{"id":"anonymous"},"seq":1,"at":1,"endSeq":4,"error":{"code":"AGENT_LOST","message":"its node died"},"inDoubt":true},
            {"runId":"r1","status":"interrupted","agent":"demo","by":{"id":"u7","name":"Ada"},"seq":5,"at":1,"endSeq":9}],
            "interrupts":[{"of":"r1","interrupt":{"id":"i1","reason":"confirmation","message":"Go on?"}}]}}"#,
    );
    let shown: String = thread_lines(&answer.unwrap())
        .into_iter()
        .map(|segment| segment.text)
        .collect();
    expect![[r#"
        ── thread th_1 at 9: interrupted, one question open
        run       r0 error (demo, by anonymous) from 1 to 4
                  its node died (AGENT_LOST)
                  whether its agent acted is in doubt
        run       r1 interrupted (demo, by Ada) from 5 to 9
        ask       Go on?
                  i1 (confirmation)
                  threadcast approve th_1
    "#]]
    .assert_eq(&shown);
}

//! What a client holds after the events of a thread.
//!
//! Most facts stand in `proto-fixtures/histories`, where other implementations can read them too.

use serde_json::{Value, json};
use threadcast_agui::event::Event;
use threadcast_run_registry::conversation::Conversation;

use crate::support::notation::stream;
use crate::support::{event, events, fixtures, fold, judge, messages};

/// What `.fold.json` files hold.
fn folded(conversation: &Conversation) -> Value {
    let interrupts = conversation.pending_interrupts().iter();
    let interrupts: Vec<Value> = interrupts
        .map(|interrupt| interrupt.json.to_value().unwrap())
        .collect();
    json!({
        "messages": messages(conversation),
        "state": conversation.state(),
        "pendingInterrupts": interrupts,
        "pendingToolCalls": conversation.pending_tool_calls(),
    })
}

#[test]
fn golden_histories_fold_to_their_golden_folds() {
    let histories = fixtures::files("histories", ".jsonl");
    assert!(histories.len() >= 10, "{histories:?}");
    for path in histories {
        let history = events(&fixtures::read(&path));
        let conversation = match judge(&history) {
            Ok(conversation) => conversation,
            Err((at, violation)) => panic!("{} line {}: {violation}", path.display(), at + 1),
        };
        let text = serde_json::to_string_pretty(&folded(&conversation)).unwrap();
        fixtures::check(&path.with_extension("fold.json"), &format!("{text}\n"));
    }
}

#[track_caller]
fn ids(conversation: &Conversation, expected: &str) {
    let ids: Vec<_> = conversation
        .messages()
        .map(|message| message.id.as_str())
        .collect();
    assert_eq!(ids.join(" "), expected);
}

#[test]
fn a_result_stands_behind_its_call_and_the_results_before_it() {
    ids(
        &fold(&stream("RUN C+c C-c T+m T-m RES:a RES:b FIN")),
        "c a b m",
    );
    ids(
        &fold(&stream(
            "RUN T+m C+c^m C-c T-m T+n T-n FIN RUN:2 RES:a T+o T-o RES:a",
        )),
        "m a a n o",
    );
    ids(&fold(&stream("RUN T+m T-m RES:a FIN")), "m a");
}

#[test]
fn a_repeated_id_means_the_first_message_that_has_it() {
    let conversation = fold(&stream("RUN C+c C-c T+a RES:a"));
    ids(&conversation, "c a a");
    let first = conversation.message(&"a".parse().unwrap()).unwrap();
    assert_eq!(first.role(), "tool");
    let conversation = fold(&stream("RUN C+c C-c T+a RES:a T.a"));
    assert_eq!(messages(&conversation)[1]["content"], "oka");
    assert_eq!(messages(&conversation)[2]["content"], "");
}

#[test]
fn an_activity_in_place_of_a_holder_takes_its_calls_along() {
    let conversation = fold(&stream("RUN T+m C+c^m C-c T-m ACT:m C+c C.c C-c FIN"));
    ids(&conversation, "m c");
    assert_eq!(
        messages(&conversation)[1]["toolCalls"][0]["function"]["arguments"],
        "c"
    );
    // Where the call stood twice, the other one is the first now.
    let list = json!({"type": "MESSAGES_SNAPSHOT", "messages": [
        {"id": "a", "role": "assistant", "toolCalls": [{"id": "c", "type": "function", "function": {"name": "n", "arguments": ""}}]},
        {"id": "b", "role": "assistant", "toolCalls": [{"id": "c", "type": "function", "function": {"name": "n", "arguments": ""}}]},
    ]});
    let mut history = stream("RUN");
    history.push(event(&list.to_string()));
    history.extend(stream("ACT:a C+c C.c C-c FIN"));
    let conversation = fold(&history);
    ids(&conversation, "a b");
    assert_eq!(
        messages(&conversation)[1]["toolCalls"][0]["function"]["arguments"],
        "c"
    );
}

#[test]
fn text_over_parts_begins_anew() {
    let mut history = vec![event(
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1","input":{"threadId":"t","runId":"r1","messages":[{"id":"m","role":"user","content":[{"type":"text","text":"lost"}]}]}}"#,
    )];
    history.extend(stream("T+m T.m T.m"));
    assert_eq!(
        messages(&fold(&history)),
        json!([{"id": "m", "role": "user", "content": "mm"}])
    );
}

#[test]
fn members_nobody_describes_stay_with_messages_taken_whole() {
    let list = r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"","newer":{"big":12345678901234567890.10}}]}"#;
    let mut history = stream("RUN");
    history.push(event(list));
    history.extend(stream("T+m T.m"));
    let text = fold(&history).messages().next().unwrap().to_json();
    assert_eq!(
        text.as_str(),
        r#"{"id":"m","role":"assistant","content":"m","newer":{"big":12345678901234567890.10}}"#
    );
}

#[test]
fn an_activity_has_an_object_as_content_whatever_a_patch_says() {
    let delta = json!({"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "Q", "patch": [{"op": "replace", "path": "", "value": [1]}]});
    let mut history = stream("RUN ACT:a");
    history.push(event(&delta.to_string()));
    assert_eq!(
        messages(&fold(&history)),
        json!([{"id": "a", "role": "activity", "activityType": "P", "content": {}}])
    );
}

#[test]
fn a_patch_of_a_person_applies_between_runs() {
    let mut conversation = fold(&stream("RUN FIN"));
    let threadcast_agui::event::EventBody::StateDelta { delta } =
        event(r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1}]}"#).body
    else {
        panic!("a delta")
    };
    conversation.patch_state(&delta).unwrap();
    assert_eq!(conversation.state(), &json!({"a": 1}));
}

/// Whatever stands in a log, in whatever order, folds.
#[test]
fn events_in_any_order_fold() {
    let mut random = threadcast_run_registry::histories::Random::new(7);
    let all: Vec<Event> = (0..40)
        .flat_map(threadcast_run_registry::histories::history)
        .collect();
    for _ in 0..300 {
        let shuffled: Vec<&Event> = (0..60).map(|_| random.pick(&all)).collect();
        let conversation = fold(shuffled);
        for message in conversation.messages() {
            assert!(conversation.message(&message.id).is_some());
        }
        let joined = fold(&threadcast_run_registry::snapshot::snapshot(&conversation));
        assert_eq!(
            joined.verifier().active_run(),
            conversation.verifier().active_run()
        );
    }
}

/// A thread of many calls whose results come last grows in a straight line: this would take minutes
/// otherwise.
#[test]
fn many_results_in_the_middle_are_cheap() {
    let calls = 20_000;
    let mut history = stream("RUN");
    for call in 0..calls {
        history.extend(stream(&format!("C+{call} C-{call}")));
    }
    let mut conversation = fold(&history);
    for call in 0..calls {
        conversation.apply(&event(&format!(
            r#"{{"type":"TOOL_CALL_RESULT","messageId":"t{call}","toolCallId":"{call}","content":""}}"#
        )));
    }
    let ids: Vec<_> = conversation
        .messages()
        .map(|message| message.id.as_str())
        .take(4)
        .collect();
    assert_eq!(ids, ["0", "t0", "1", "t1"]);
    assert_eq!(conversation.messages().count(), 2 * calls);
    assert!(conversation.pending_tool_calls().is_empty());
}

/// As many results of one call: finding the end of the row anew for each would take minutes.
#[test]
fn many_results_of_one_call_are_cheap() {
    let results = 40_000;
    let mut conversation = fold(&stream("RUN T+m C+c^m C-c T-m T+n T-n"));
    for result in 0..results {
        conversation.apply(&event(&format!(
            r#"{{"type":"TOOL_CALL_RESULT","messageId":"t{result}","toolCallId":"c","content":""}}"#
        )));
    }
    let ids: Vec<_> = conversation
        .messages()
        .map(|message| message.id.as_str())
        .collect();
    assert_eq!(ids.len(), results + 2);
    assert_eq!(
        (&ids[..3], &ids[results..]),
        (&["m", "t0", "t1"][..], &["t39999", "n"][..])
    );
}

#[test]
fn a_row_of_results_ends_where_an_activity_took_ones_place() {
    let conversation = "RUN T+m C+c^m C-c T-m T+n T-n RES:a RES:b RES:d ACT:b RES:e";
    ids(&fold(&stream(conversation)), "m a e b d n");
}

//! Which streams are legal, and which rule the others break.

use threadcast_run_registry::verify::Rule;

use crate::support::notation::stream;
use crate::support::{event, judge};

#[track_caller]
fn legal(notation: &str) {
    if let Err((at, violation)) = judge(&stream(notation)) {
        panic!("{notation}: word {at} breaks {violation}");
    }
}

/// The last word breaks `rule`, and none before it breaks any.
#[track_caller]
fn breaks(rule: Rule, notation: &str) {
    let stream = stream(notation);
    match judge(&stream) {
        Ok(_) => panic!("{notation} is legal"),
        Err((at, violation)) => assert_eq!(
            (at + 1, violation.rule),
            (stream.len(), rule),
            "{notation}: {violation}"
        ),
    }
}

#[test]
fn runs_come_one_after_the_other() {
    legal("RUN FIN");
    legal("ERR");
    legal("ERR RUN FIN");
    legal("RUN:a FIN RUN:b FIN");
    legal("RUN FIN ERR");
    legal("RUN ERR RUN:b FIN");
    legal("RUN FIN ERR RUN:b FIN");
    legal("NEW RUN NEW FIN NEW");
    breaks(Rule::FirstEvent, "FIN");
    breaks(Rule::FirstEvent, "CUSTOM");
    breaks(Rule::NestedRun, "RUN:a RUN:b");
    breaks(Rule::AfterRunFinished, "RUN FIN FIN");
    breaks(Rule::AfterRunFinished, "RUN FIN CUSTOM");
    breaks(Rule::AfterRunFinished, "RUN FIN STATE");
    breaks(Rule::AfterRunError, "RUN FIN ERR FIN");
    breaks(Rule::AfterRunError, "RUN ERR ERR");
    breaks(Rule::AfterRunError, "RUN ERR FIN");
    breaks(Rule::AfterRunError, "ERR RAW");
}

#[test]
fn a_stream_is_of_its_own_run_and_thread() {
    breaks(Rule::RunIdMismatch, "RUN:a FIN:b");
    let foreign = [
        r#"{"type":"RUN_STARTED","threadId":"other","runId":"r1"}"#,
        r#"{"type":"RUN_FINISHED","threadId":"other","runId":"r1"}"#,
    ];
    let (at, violation) = judge(&[event(foreign[0])]).unwrap_err();
    assert_eq!((at, violation.rule), (0, Rule::ThreadIdMismatch));
    let mut stream = stream("RUN");
    stream.push(event(foreign[1]));
    let (at, violation) = judge(&stream).unwrap_err();
    assert_eq!((at, violation.rule), (1, Rule::ThreadIdMismatch));
    assert_eq!(
        violation.to_string(),
        "thread-id-mismatch: RUN_FINISHED names thread `other`, expected `t`"
    );
}

#[test]
fn interrupt_ids_are_unique_within_their_run() {
    let mut stream = stream("RUN");
    stream.push(event(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r1","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"a"},{"id":"i","reason":"b"}]}}"#,
    ));
    let (_, violation) = judge(&stream).unwrap_err();
    assert_eq!(
        violation.to_string(),
        "interrupt-id-repeated: RUN_FINISHED raises interrupt `i` twice"
    );
}

#[test]
fn text_goes_into_an_open_message() {
    legal("RUN T+m T.m T-m T+m T.m T-m FIN");
    legal("RUN T+a T+b T.a T-b T-a FIN");
    legal("RUN T+m ERR");
    legal("RUN T+m");
    breaks(Rule::MessageAlreadyOpen, "RUN T+m T+m");
    breaks(Rule::MessageNotOpen, "RUN T.m");
    breaks(Rule::MessageNotOpen, "RUN T+m T-m T-m");
    breaks(Rule::MessageLeftOpen, "RUN T+m FIN");
    breaks(Rule::MessageNotOpen, "RUN T+m ERR RUN:b T.m");
}

#[test]
fn arguments_go_into_an_open_call_and_results_anywhere() {
    legal("RUN RES:m FIN");
    legal("RUN C+c RES:m C-c FIN");
    legal("RUN C+c C-c RES:m RES:m FIN");
    breaks(Rule::ToolCallAlreadyOpen, "RUN C+c C+c");
    breaks(Rule::ToolCallNotOpen, "RUN C.c");
    breaks(Rule::ToolCallNotOpen, "RUN C-c");
    breaks(Rule::ToolCallLeftOpen, "RUN C+c ASK");
}

#[test]
fn reasoning_spans_and_messages_are_two_things() {
    legal("RUN G+m G-m FIN");
    legal("RUN P+m G+m P-m G-m FIN");
    breaks(Rule::ReasoningMessageNotOpen, "RUN P+m G.m");
    breaks(Rule::ReasoningSpanLeftOpen, "RUN P+m FIN");
    breaks(Rule::ReasoningMessageLeftOpen, "RUN G+m FIN");
    breaks(Rule::ReasoningSpanAlreadyOpen, "RUN P+m P+m");
    breaks(Rule::ReasoningMessageAlreadyOpen, "RUN G+m G+m");
    breaks(Rule::ReasoningSpanNotOpen, "RUN P-m");
    breaks(Rule::OwnerMismatch, "RUN P+m@x G+m@y");
}

#[test]
fn steps_overlap_and_belong_to_who_started_them() {
    legal("RUN S+a S+b S-a S-b FIN");
    legal("RUN S+a S+a@x S-a@x S-a FIN");
    breaks(Rule::StepAlreadyOpen, "RUN S+a S+a");
    breaks(Rule::StepNotOpen, "RUN S-a");
    breaks(Rule::StepNotOpen, "RUN S+a S-a@x");
    breaks(Rule::StepLeftOpen, "RUN S+a@x FIN");
    // An empty id is an id, and not the parent agent.
    breaks(Rule::StepNotOpen, "RUN S+a S-a@");
}

#[test]
fn a_subagent_runs_once_in_a_run() {
    legal("RUN A+x A-x FIN RUN:b A+x A!x FIN");
    legal("RUN A+x A+y^x A-y A-x FIN");
    legal("RUN A+x A-x A+y^x A-y FIN");
    legal("RUN A+x T+m@x A-x T.m@x T-m FIN");
    breaks(Rule::SubagentLeftOpen, "RUN A+x FIN");
    breaks(Rule::SubagentAlreadyStarted, "RUN A+x A+x");
    breaks(Rule::SubagentAlreadyStarted, "RUN A+x A-x A+x");
    breaks(Rule::SubagentNotActive, "RUN A-x");
    breaks(Rule::SubagentNotActive, "RUN A+x A-x A!x");
    breaks(Rule::SubagentParentUnknown, "RUN A+x^p");
    breaks(Rule::SubagentParentUnknown, "RUN A+x^x");
}

#[test]
fn an_item_stays_with_the_subagent_that_began_it() {
    legal("RUN T+m@x T.m T-m@x FIN");
    legal("RUN T+m@x T-m T+m T.m@x T-m FIN");
    legal("RUN ENC:nobody@x ENC:nobody#@x DEL:nobody@x FIN");
    legal("RUN T+m@x ERR RUN:b T+m@y T-m FIN");
    breaks(Rule::OwnerMismatch, "RUN T+m@x T.m@y");
    breaks(Rule::OwnerMismatch, "RUN T+m T.m@y");
    breaks(Rule::OwnerMismatch, "RUN T+m@x T-m T+m@y");
    breaks(Rule::OwnerMismatch, "RUN LIST:m@x T+m@y");
    breaks(Rule::OwnerMismatch, "RUN T+m@x T-m LIST:m T+m@x");
    breaks(Rule::OwnerMismatch, "RUN RES:m@x T+m@y");
    breaks(Rule::OwnerMismatch, "RUN C+c@x C.c@y");
    breaks(Rule::OwnerMismatch, "RUN C+c@x C-c ENC:c#@y");
    breaks(Rule::OwnerMismatch, "RUN G+m@x ENC:m@y");
    breaks(Rule::OwnerMismatch, "RUN ACT:m@x DEL:m@y");
    breaks(Rule::OwnerMismatch, "RUN ACT:m@x KEEP:m@y DEL:m@y");
    legal("RUN ACT:m@x ACT:m@y DEL:m@y FIN");
}

#[test]
fn a_call_stays_with_the_message_that_holds_it() {
    legal("RUN T+m@x C+c^m C.c@x C-c T-m FIN");
    legal("RUN C+c^later@x T+later@y C-c T-later FIN");
    breaks(Rule::ParentOwnerMismatch, "RUN T+m T-m C+c^m@x");
    breaks(Rule::ParentOwnerMismatch, "RUN T+m@x T+n@y C+c^m C-c C+c^n");
    breaks(Rule::OwnerMismatch, "RUN T+m@x C+c^m C.c@y");
}

#[test]
fn a_repeated_history_names_owners_that_nobody_named() {
    let mut stream = stream("RUN");
    stream[0] = event(
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1","input":{"threadId":"t","runId":"r1","messages":[{"id":"m","role":"assistant","content":"","subagentRunId":"x"}]}}"#,
    );
    let rest = crate::support::notation::stream("T+m@y");
    stream.extend(rest);
    let (_, violation) = judge(&stream).unwrap_err();
    assert_eq!(
        violation.to_string(),
        "owner-mismatch: TEXT_MESSAGE_START of subagent `y` continues text message `m` of subagent `x`"
    );
}

#[test]
fn what_is_left_open_is_named_in_part() {
    let (_, violation) = judge(&stream("RUN T+a T+b T+c T+d T+e T+f T+g FIN")).unwrap_err();
    let named =
        "text message `a`, text message `b`, text message `c`, text message `d`, text message `e`";
    assert_eq!(
        violation.message,
        format!("RUN_FINISHED comes while there is open: {named} and 2 more")
    );
}

#[test]
fn every_rule_has_its_own_name() {
    let names: std::collections::BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
    assert!(
        names
            .iter()
            .all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
    );
}

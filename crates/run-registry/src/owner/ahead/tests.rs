use threadcast_agui::event::Event;
use threadcast_agui::ids::RunId;
use threadcast_thread_log::entry::Origin;

use super::*;
use crate::conversation::Conversation;
use crate::histories::{colliding, history};

fn group(event: &Event) -> Group {
    let run = RunId::new("r").unwrap();
    let mut group = Group::default();
    group.push(&run, Millis(0), Origin::Agent, event.clone(), false);
    group
}

/// The estimate of each event that has one, and what the event adds.
fn growths(history: &[Event], mut each: impl FnMut(&Event, usize, usize)) {
    let mut conversation = Conversation::new();
    for event in history {
        let before = conversation.messages_bytes();
        conversation.apply(event);
        let grown = conversation.messages_bytes().saturating_sub(before);
        if let Some(most) = growth_at_most(&group(event)) {
            each(event, most, grown);
        }
    }
}

#[test]
fn no_event_lengthens_messages_by_more_than_is_reckoned() {
    let mut added = 0;
    for seed in 0..400 {
        for history in [history(seed), colliding(seed)] {
            growths(&history, |event, most, grown| {
                assert!(
                    grown <= most,
                    "seed {seed}: {grown} > {most}: {}",
                    event.json
                );
                added += usize::from(grown > 0);
            });
        }
    }
    assert!(added > 1_000, "{added} events added something");
}

/// What is far longer where it is kept than where it is said.
#[test]
fn what_is_kept_at_length_is_reckoned() {
    let numbers = format!("[{}1e15]", "1e15,".repeat(20_000));
    let copies: Vec<_> = (0..400)
        .map(|at| format!(r#"{{"op":"copy","from":"/v","path":"/c{at}"}}"#))
        .collect();
    let id = "i".repeat(256);
    let events = [
        format!(r#"{{"type":"TOOL_CALL_START","toolCallId":"{id}","toolCallName":"n"}}"#),
        format!(
            r#"{{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"t","content":{{"n":{numbers}}}}}"#
        ),
        r#"{"type":"ACTIVITY_DELTA","messageId":"p","activityType":"t","patch":[{"op":"replace","path":"","value":{}}]}"#.to_owned(),
        format!(
            r#"{{"type":"ACTIVITY_DELTA","messageId":"p","activityType":"t","patch":[{{"op":"add","path":"/v","value":"{}"}}]}}"#,
            "x".repeat(1_000)
        ),
        format!(
            r#"{{"type":"ACTIVITY_DELTA","messageId":"p","activityType":"t","patch":[{}]}}"#,
            copies.join(",")
        ),
        format!(r#"{{"type":"TEXT_MESSAGE_START","messageId":"m","metadata":{{"n":{numbers}}}}}"#),
    ];
    let events: Vec<_> = events
        .iter()
        .map(|json| Event::read(json).unwrap())
        .collect();
    let mut longer = 0;
    growths(&events, |event, most, grown| {
        assert!(grown <= most, "{grown} > {most}");
        longer += usize::from(grown > event.json.as_str().len());
    });
    assert!(longer >= 3, "{longer} events add more than they say");
}

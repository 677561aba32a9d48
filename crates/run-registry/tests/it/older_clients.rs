//! What clients from before AG-UI 1.0 are told, over generated histories. What the published ones
//! make of it is tested with them.

use proptest::prelude::*;
use threadcast_agui::content::{Content, PartBody, Source};
use threadcast_agui::downgrade::{Downgrade, Downgraded};
use threadcast_agui::event::{Event, EventBody, Outcome};
use threadcast_agui::message::{Message, MessageBody};
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::histories::{history, streams_into_parts};
use threadcast_run_registry::snapshot::snapshot_for_older;

use crate::support::{event, fold, judge};

/// All that a reader is told who comes back whenever its stream ends.
fn told(events: &[Event]) -> Vec<Event> {
    let mut downgrade = Downgrade::default();
    let mut told = Vec::new();
    for original in events {
        let mut one = downgrade.take(original);
        if one == Downgraded::StreamEnds {
            downgrade = Downgrade::default();
            one = downgrade.take(original);
        }
        match one {
            Downgraded::Event(json) => told.push(event(json.as_str())),
            Downgraded::LeftOut => {}
            Downgraded::StreamEnds => panic!("a new stream takes a run: {original:?}"),
        }
    }
    told
}

/// Messages without what older clients have no words for.
fn in_older_words(conversation: &Conversation) -> Vec<Message> {
    let in_older_words = |message: &Message| {
        let mut message = message.clone();
        message.owner = None;
        match &mut message.body {
            MessageBody::Tool { content, .. } => *content = Content::Text(content.text()),
            MessageBody::User {
                content: Content::Parts(parts),
                ..
            } => parts.retain(|part| !is_file(&part.body)),
            _ => {}
        }
        message
    };
    conversation.messages().map(in_older_words).collect()
}

fn is_file(part: &PartBody) -> bool {
    let PartBody::Media { source, .. } = part else {
        return false;
    };
    matches!(source, Source::File { .. })
}

fn is_cancelled(event: &Event) -> bool {
    let EventBody::RunFinished { outcome, .. } = &event.body else {
        return false;
    };
    *outcome == Outcome::Cancelled
}

proptest! {
    #[test]
    fn what_older_clients_are_told_is_legal_and_amounts_to_the_same(seed: u64) {
        let events = history(seed);
        prop_assume!(!streams_into_parts(&events));
        let told = told(&events);
        let (whole, held) = (fold(&events), judge(&told));
        prop_assert!(held.is_ok(), "{:?}", held.err());
        let held = held.unwrap();
        prop_assert!(held.messages().all(|message| message.owner.is_none()));
        prop_assert_eq!(held.messages().cloned().collect::<Vec<_>>(), in_older_words(&whole));
        prop_assert_eq!(held.state(), whole.state());
        if !events.iter().any(is_cancelled) {
            let ids = |conversation: &Conversation| -> Vec<_> {
                conversation.pending_interrupts().iter().map(|asked| asked.id.clone()).collect()
            };
            prop_assert_eq!(ids(&held), ids(&whole));
        }
    }

    #[test]
    fn an_older_client_that_joins_anywhere_ends_equal(seed: u64, cut: prop::sample::Index) {
        let events = history(seed);
        prop_assume!(!streams_into_parts(&events));
        let cut = 1 + cut.index(events.len());
        let mut joined = snapshot_for_older(&fold(&events[..cut]));
        joined.extend_from_slice(&events[cut..]);
        let (whole, held) = (fold(&events), fold(&told(&joined)));
        prop_assert_eq!(held.messages().cloned().collect::<Vec<_>>(), in_older_words(&whole));
        prop_assert_eq!(held.state(), whole.state());
    }
}

/// The exception that docs/protocol.md §13.8 names, and that there are such histories.
#[test]
fn text_behind_parts_is_a_sort_of_its_own() {
    assert!(streams_into_parts(&history(117_899_036_779_369_675)));
    let count = (0..500)
        .filter(|seed| streams_into_parts(&history(*seed)))
        .count();
    assert!(count < 50, "{count} of 500");
}

//! What rules demand of one event, each with its violation.

use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;

use threadcast_agui::event::{Event, Outcome};
use threadcast_agui::ids::{RunId, ThreadId};

use crate::verify::open::Open;
use crate::verify::owners::{Named, Owner};
use crate::verify::{Rule, Violation};

/// A kind of item that opens and closes, in words and rules.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    already_open: Rule,
    not_open: Rule,
}

pub(super) const MESSAGE: Kind = Kind {
    name: "text message",
    already_open: Rule::MessageAlreadyOpen,
    not_open: Rule::MessageNotOpen,
};
pub(super) const REASONING: Kind = Kind {
    name: "reasoning message",
    already_open: Rule::ReasoningMessageAlreadyOpen,
    not_open: Rule::ReasoningMessageNotOpen,
};
pub(super) const SPAN: Kind = Kind {
    name: "reasoning span",
    already_open: Rule::ReasoningSpanAlreadyOpen,
    not_open: Rule::ReasoningSpanNotOpen,
};
pub(super) const TOOL_CALL: Kind = Kind {
    name: "tool call",
    already_open: Rule::ToolCallAlreadyOpen,
    not_open: Rule::ToolCallNotOpen,
};

pub(super) fn must_be_closed<K: Eq + Hash + fmt::Display>(
    event: &Event,
    open: &Open<K>,
    id: &K,
    kind: Kind,
) -> Result<(), Violation> {
    if !open.contains(id) {
        return Ok(());
    }
    Err(Violation::new(
        kind.already_open,
        event,
        format_args!("starts {} `{id}`, which is open already", kind.name),
    ))
}

pub(super) fn must_be_open<K: Eq + Hash + fmt::Display>(
    event: &Event,
    open: &Open<K>,
    id: &K,
    kind: Kind,
) -> Result<(), Violation> {
    if open.contains(id) {
        return Ok(());
    }
    Err(Violation::new(
        kind.not_open,
        event,
        format_args!("names {} `{id}`, which is not open", kind.name),
    ))
}

/// An event without a tag agrees with every owner, an item nobody recorded with every tag.
pub(super) fn must_own(
    event: &Event,
    recorded: Option<&Owner>,
    kind: &str,
    id: &dyn fmt::Display,
) -> Result<(), Violation> {
    match (&event.owner, recorded) {
        (Some(_), Some(recorded)) if *recorded != event.owner => {
            let (claimed, recorded) = (Named(event.owner.as_ref()), Named(recorded.as_ref()));
            let problem = format_args!("of {claimed} continues {kind} `{id}` of {recorded}");
            Err(Violation::new(Rule::OwnerMismatch, event, problem))
        }
        _ => Ok(()),
    }
}

pub(super) fn must_be_empty<K: Eq + Hash>(
    event: &Event,
    open: &Open<K>,
    rule: Rule,
    name: impl Fn(&K) -> String,
) -> Result<(), Violation> {
    if open.is_empty() {
        Ok(())
    } else {
        Err(left_open(
            event,
            rule,
            open.in_order().into_iter().map(name).collect(),
        ))
    }
}

/// So many of what was left open are named.
const LEFT_OPEN_NAMED_MAX: usize = 5;

pub(super) fn left_open(event: &Event, rule: Rule, mut items: Vec<String>) -> Violation {
    let more = items.len().saturating_sub(LEFT_OPEN_NAMED_MAX);
    items.truncate(LEFT_OPEN_NAMED_MAX);
    let named = items.join(", ");
    match more {
        0 => Violation::new(
            rule,
            event,
            format_args!("comes while there is open: {named}"),
        ),
        more => Violation::new(
            rule,
            event,
            format_args!("comes while there is open: {named} and {more} more"),
        ),
    }
}

/// Whether RUN_STARTED or RUN_FINISHED names the run it must.
pub(super) fn must_name(
    event: &Event,
    (thread, run): (&str, &str),
    expected_thread: &ThreadId,
    expected_run: &RunId,
) -> Result<(), Violation> {
    if thread != expected_thread.as_str() {
        let problem = format_args!("names thread `{thread}`, expected `{expected_thread}`");
        return Err(Violation::new(Rule::ThreadIdMismatch, event, problem));
    }
    if run != expected_run.as_str() {
        let problem = format_args!("names run `{run}`, expected `{expected_run}`");
        return Err(Violation::new(Rule::RunIdMismatch, event, problem));
    }
    Ok(())
}

pub(super) fn must_be_unique(event: &Event, outcome: &Outcome) -> Result<(), Violation> {
    let Outcome::Interrupt { interrupts } = outcome else {
        return Ok(());
    };
    let mut seen = HashSet::new();
    match interrupts
        .iter()
        .find(|interrupt| !seen.insert(&interrupt.id))
    {
        None => Ok(()),
        Some(repeated) => {
            let problem = format_args!("raises interrupt `{}` twice", repeated.id);
            Err(Violation::new(Rule::InterruptIdRepeated, event, problem))
        }
    }
}

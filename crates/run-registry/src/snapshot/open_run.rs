//! The snapshot while a run is open: a client must hold to what this run has told, and to nothing
//! else.
//!
//! What a run tells of an item is its owner, until the next run starts. Three things tell it
//! without streaming: a list, a run's input (of messages that are there already, so that it adds
//! none), and beginning an item again. Only a list takes a message away.

use std::borrow::Cow;
use std::collections::HashSet;

use threadcast_agui::event::RunStartedInput;
use threadcast_agui::ids::RunId;
use threadcast_agui::make;
use threadcast_agui::message::{Message, MessageBody};

use crate::conversation::{Conversation, RunEvents};
use crate::snapshot::gone::Gone;
use crate::snapshot::reopen::Reopening;
use crate::snapshot::results::Results;
use crate::snapshot::{List, Told, free_id, pending_before, push_end, stand_in};
use crate::verify::{Owners, RunScope};

pub(super) fn telling<'a>(
    conversation: &'a Conversation,
    latest: &RunEvents,
    scope: &RunScope,
) -> Vec<Told<'a>> {
    let reopening = Reopening::of(conversation, scope);
    let results = Results::of(conversation, scope);
    let list = results.list();
    let mut told = Owners::default();
    told.seed_all(list.iter().map(AsRef::as_ref));
    results.tell(&mut told);
    if !results.is_complete(conversation) || !reopening.completes(&told, &results) {
        return in_two_runs(conversation, latest, &reopening, results);
    }
    let mut events = Vec::new();
    if let Some(before) = pending_before(conversation) {
        events.push(before.started.clone().into());
        push_end(&mut events, before);
    }
    events.push(latest.started.clone().into());
    events.push(Told::Messages(list));
    events.push(make::state_snapshot(conversation.state()).into());
    let mut open = Vec::new();
    open.extend(results.events());
    reopening.push_calls(&mut open, &told, &results, None);
    reopening.push_present(&mut open, &told);
    events.extend(open.into_iter().map(Told::from));
    events
}

/// The list goes into the run before.
///
/// If something must be told of what is gone, that list has stand-ins for it, and a second list in
/// the open run takes them away. It leaves out activities and reasoning, and so leaves them alone,
/// unless ids are repeated: those a list brings in, but cannot keep apart once they are there.
fn in_two_runs<'a>(
    conversation: &'a Conversation,
    latest: &RunEvents,
    reopening: &Reopening<'_>,
    results: Results<'a>,
) -> Vec<Told<'a>> {
    let scope = reopening.scope();
    let gone = Gone::of(conversation, reopening);
    let all = Results::none(conversation);
    let mut second = all.list();
    let has_repeated = has_repeated_ids(&second);
    if !has_repeated {
        second.retain(|message| is_streamed(message));
    }
    let is_lacking = !gone.is_empty() || !results.is_complete(conversation);
    let takes_away = gone.is_begun()
        || reopening.miscounts(&results)
        || (is_lacking && reopening.has_told_all_of(&second));
    let holder = free_id(conversation, Some(scope));
    let (results, list) = if takes_away {
        let mut list = if has_repeated { Vec::new() } else { all.list() };
        list.extend(gone.stand_ins().map(Cow::Owned));
        (all, list)
    } else {
        let list = results.list();
        (results, list)
    };
    let input = stand_in::input(&scope.owners, &list);
    let mut told = Owners::default();
    told.seed_unknown(&input);
    results.tell(&mut told);

    let mut open = vec![if input.is_empty() {
        latest.started.clone()
    } else {
        let input = RunStartedInput::new(&scope.thread, &scope.run, input);
        make::run_started_with_input(&latest.started, input)
    }];
    open.extend(results.events());
    let parent = takes_away.then_some(&holder);
    reopening.push_calls(&mut open, &told, &results, parent);
    let mut events = before(conversation, scope, list);
    if takes_away {
        reopening.push_gone(&mut open);
        let answered = conversation.runs().answered();
        open.extend(answered.map(|call| stand_in::result(&holder, call)));
        told.seed_all(second.iter().map(AsRef::as_ref));
        events.extend(open.drain(..).map(Told::from));
        events.push(Told::Messages(second));
    }
    reopening.push_present(&mut open, &told);
    open.push(make::state_snapshot(conversation.state()));
    events.extend(open.into_iter().map(Told::from));
    events
}

/// The run that takes the list: the one that says which interrupts are pending, or else a run of
/// the hub's own.
fn before<'a>(conversation: &Conversation, scope: &RunScope, list: List<'a>) -> Vec<Told<'a>> {
    let list = Told::Messages(list);
    if let Some(before) = conversation.runs().before() {
        let mut events = vec![before.started.clone().into(), list];
        push_end(&mut events, before);
        return events;
    }
    let run = RunId::new("threadcast:before").expect("the id is short");
    vec![
        make::run_started(&scope.thread, &run, None, None, None).into(),
        list,
        make::run_finished(&scope.thread, &run).into(),
    ]
}

fn has_repeated_ids(messages: &List<'_>) -> bool {
    let mut ids = HashSet::new();
    !messages.iter().all(|message| ids.insert(&message.id))
}

/// Whether a list must name the message, or takes it away.
fn is_streamed(message: &Message) -> bool {
    !matches!(
        message.body,
        MessageBody::Activity { .. } | MessageBody::Reasoning { .. }
    )
}

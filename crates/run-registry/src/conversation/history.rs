//! MESSAGES_SNAPSHOT: the agent restates the whole list.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use threadcast_agui::event::Event;
use threadcast_agui::message::{Message, MessageBody};

use crate::conversation::held::Held;
use crate::conversation::messages::Messages;

/// Messages that are restated keep their place, the others go, new ones come behind.
///
/// Activities and reasoning stay when the agent does not seem to keep them: when it restates none
/// of that role. The reference client's own metadata can claim the activities outright.
pub(super) fn restate(messages: &mut Messages, event: &Event, restated: &[Message]) {
    // One of each, shared: however many of its id are held, they are in memory once.
    let restated_held: Vec<_> = restated.iter().cloned().map(Held::from).collect();
    let by_id: HashMap<_, _> = restated_held
        .iter()
        .map(|held| (&held.message().id, held))
        .collect();
    let activities = ActivityClaim::of(event, restated);
    let has_reasoning = restated
        .iter()
        .any(|message| matches!(message.body, MessageBody::Reasoning { .. }));
    let kept = messages.iter_held().filter_map(|held| {
        if let Some(restated) = by_id.get(&held.message().id) {
            return Some(Held::clone(restated));
        }
        let is_kept = match &held.message().body {
            MessageBody::Activity { activity_type, .. } => !activities.covers(activity_type),
            MessageBody::Reasoning { .. } => !has_reasoning,
            _ => false,
        };
        is_kept.then(|| held.clone())
    });
    let kept: Vec<_> = kept.collect();
    let ids: HashSet<_> = kept.iter().map(|message| &message.message().id).collect();
    // Ids repeated within the snapshot stay repeated, as in the reference client.
    let new: Vec<_> = restated_held
        .iter()
        .filter(|held| !ids.contains(&held.message().id))
        .cloned()
        .collect();
    *messages = Messages::of(kept.into_iter().chain(new));
}

/// Which activities a snapshot speaks for, so that those it leaves out are gone.
enum ActivityClaim<'a> {
    All,
    None,
    Types(Vec<&'a str>),
}

impl<'a> ActivityClaim<'a> {
    fn of(event: &'a Event, restated: &[Message]) -> Self {
        let inferred = || {
            let has_activity = restated
                .iter()
                .any(|message| matches!(message.body, MessageBody::Activity { .. }));
            if has_activity { Self::All } else { Self::None }
        };
        let Some(own) = event
            .metadata
            .as_ref()
            .and_then(|metadata| metadata.get("@ag-ui/client"))
        else {
            return inferred();
        };
        match own
            .as_object()
            .map(|own| own.get("authoritativeActivityTypes"))
        {
            Some(None) => inferred(),
            Some(Some(Value::Null)) => Self::All,
            Some(Some(Value::Array(types))) => {
                let types: Option<Vec<_>> = types.iter().map(Value::as_str).collect();
                types.map_or(Self::None, Self::Types)
            }
            Some(Some(_)) | None => Self::None,
        }
    }

    fn covers(&self, activity_type: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Types(types) => types.contains(&activity_type),
        }
    }
}

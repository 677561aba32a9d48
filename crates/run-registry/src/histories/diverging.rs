//! What a hub logs beside events.

use threadcast_agui::event::{Event, EventBody};
use threadcast_agui::ids::RunId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Body;
use threadcast_thread_log::principal::Principal;

use crate::conversation::Conversation;
use crate::fact::{ActivityDiverged, Fact, FailedOperation, StateDiverged};
use crate::patch::{StateLimits, apply_patch};

/// The fact that a hub logs right behind `event`, if that is a patch which does not apply to what
/// the events before it amount to.
pub fn diverged(held: &Conversation, event: &Event) -> Option<RawJson> {
    let run_id = held.verifier().active_run()?;
    let fact = failure(held, event, run_id)?;
    match fact.to_body() {
        Body::Fact { public, .. } => Some(public),
        Body::Event { .. } => None,
    }
}

fn failure(held: &Conversation, event: &Event, run_id: &RunId) -> Option<Fact> {
    let (by, run_id) = (Principal::hub(), run_id.clone());
    match &event.body {
        EventBody::ActivityDelta { message, patch, .. } => {
            let failure = held.activity_failure(message, patch)?;
            Some(Fact::ActivityDiverged(ActivityDiverged {
                by,
                run_id,
                message_id: message.clone(),
                failure: FailedOperation::new(&failure),
            }))
        }
        EventBody::StateDelta { delta } => {
            let failure = apply_patch(held.state(), delta, &StateLimits::default()).err()?;
            Some(Fact::StateDiverged(StateDiverged {
                by,
                run_id,
                failure: FailedOperation::new(&failure),
            }))
        }
        _ => None,
    }
}

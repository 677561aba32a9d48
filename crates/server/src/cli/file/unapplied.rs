//! Patches that change nothing: legal, and most likely not what their agent meant.

use threadcast_agui::chunk::Expanded;
use threadcast_agui::event::EventBody;
use threadcast_agui::message::MessageBody;
use threadcast_run_registry::stream_judge::StreamJudge;

/// Why the event that `judge` took last changed nothing, if it is a patch that did not.
pub(super) fn unapplied(judge: &StreamJudge, became: &[Expanded]) -> Option<String> {
    let event = &became.last()?.event;
    if let Some(failure) = judge.unapplied() {
        return Some(format!("{} does not apply: {failure}", event.type_name()));
    }
    let EventBody::ActivityDelta { message, .. } = &event.body else {
        return None;
    };
    let held = judge.conversation().message(message).map(|held| &held.body);
    let is_there = matches!(held, Some(MessageBody::Activity { .. }));
    (!is_there).then(|| format!("ACTIVITY_DELTA names activity `{message}`, which is not there"))
}

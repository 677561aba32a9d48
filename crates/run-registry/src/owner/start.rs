//! What an owner is given: the run it is to own, and what its agent is allowed.

use threadcast_agui::event::Event;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::message::Message;
use threadcast_thread_log::lease::LeaseToken;

use crate::fact::RunAccepted;

/// What an owner begins with.
#[derive(Clone, Debug)]
pub struct OwnerStart {
    pub thread: ThreadId,
    /// The public part of the run's `run.accepted`.
    pub accepted: RunAccepted,
    /// The lease under which the run was accepted.
    pub lease: LeaseToken,
    pub policy: AgentPolicy,
}

/// What an agent's configuration says about its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentPolicy {
    /// Whether RAW events and `rawEvent` members enter the log: they are bulky and may hold
    /// prompts.
    pub keep_raw: bool,
    /// Whether a stream that leaves something open before RUN_FINISHED breaks a rule; otherwise the
    /// hub closes it, but for tool calls.
    pub strict: bool,
}

impl AgentPolicy {
    /// What of an event may enter the log; `None` if nothing.
    pub(super) fn keep(self, event: Event) -> Option<Event> {
        if self.keep_raw {
            Some(event)
        } else {
            event.without_raw()
        }
    }
}

/// The messages of a fact; what cannot be read was never accepted.
pub(super) fn read_messages(list: &str) -> Vec<Message> {
    let raw: Vec<&serde_json::value::RawValue> = serde_json::from_str(list).unwrap_or_default();
    raw.into_iter()
        .filter_map(|json| Message::read(json.get()).ok().flatten())
        .collect()
}

//! The subagent invocations of one run, open and closed.

use std::collections::HashMap;

use threadcast_agui::event::Event;
use threadcast_agui::ids::SubagentRunId;

/// One invocation: how it began, and how it ended if it did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Invocation {
    pub(crate) started: Event,
    pub(crate) ended: Option<Event>,
}

/// Every invocation of a run, in the order they began; so parents stand before their children.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Subagents {
    invocations: Vec<Invocation>,
    places: HashMap<SubagentRunId, usize>,
    active_count: usize,
}

impl Subagents {
    pub(crate) fn start(&mut self, subagent: &SubagentRunId, event: &Event) {
        if !self.is_known(subagent) {
            self.places.insert(subagent.clone(), self.invocations.len());
            self.invocations.push(Invocation {
                started: event.clone(),
                ended: None,
            });
            self.active_count += 1;
        }
    }

    pub(crate) fn end(&mut self, subagent: &SubagentRunId, event: &Event) {
        if self.is_active(subagent)
            && let Some(invocation) = self
                .places
                .get(subagent)
                .and_then(|place| self.invocations.get_mut(*place))
        {
            invocation.ended = Some(event.clone());
            self.active_count -= 1;
        }
    }

    pub(super) fn is_known(&self, subagent: &SubagentRunId) -> bool {
        self.places.contains_key(subagent)
    }

    pub(crate) fn is_active(&self, subagent: &SubagentRunId) -> bool {
        let invocation = self
            .places
            .get(subagent)
            .and_then(|place| self.invocations.get(*place));
        invocation.is_some_and(|invocation| invocation.ended.is_none())
    }

    pub(crate) fn active_count(&self) -> usize {
        self.active_count
    }

    pub(super) fn is_any_active(&self) -> bool {
        self.active_count > 0
    }

    pub(crate) fn invocations(&self) -> &[Invocation] {
        &self.invocations
    }
}

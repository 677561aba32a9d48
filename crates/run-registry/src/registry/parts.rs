//! What of a registry a checkpoint keeps; places are made anew.

use std::collections::{HashMap, HashSet};

use threadcast_agui::ids::RunId;

use super::{Interrupts, Registry, RunRecord};
use crate::fingerprint::Fingerprint;

impl Registry {
    /// Of its parts, as a checkpoint keeps them; `None` if two runs have one id, or if `active` is
    /// none of them.
    pub(crate) fn of(
        runs: Vec<RunRecord>,
        active: Option<usize>,
        interrupts: Interrupts,
        states: HashSet<Fingerprint>,
        unasked: HashSet<RunId>,
    ) -> Option<Self> {
        let places: HashMap<_, _> = runs.iter().map(|run| run.id.clone()).zip(0..).collect();
        let is_whole = places.len() == runs.len() && active.is_none_or(|place| place < runs.len());
        is_whole.then_some(Self {
            runs,
            places,
            active,
            interrupts,
            states,
            unasked,
        })
    }

    /// The place of the active run among all.
    pub(crate) fn active_place(&self) -> Option<usize> {
        self.active
    }

    /// The shared states at the end of every run so far, in no order.
    pub(crate) fn states(&self) -> &HashSet<Fingerprint> {
        &self.states
    }

    /// All runs that stand in the log without having been asked for, in no order.
    pub(crate) fn unasked(&self) -> &HashSet<RunId> {
        &self.unasked
    }
}

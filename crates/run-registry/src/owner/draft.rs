//! An append being put together: its entries, and the shared state after them.

use threadcast_thread_log::entry::NewEntry;
use threadcast_thread_log::position::Seq;

use crate::fold::Fold;
use crate::patch::Document;

/// Invariant: `state`, if it is there, is that of `fold` after `entries`.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    fold: &'a Fold,
    pub(super) entries: Vec<NewEntry>,
    /// The shared state after the entries, once one of them was to change it.
    pub(super) state: Option<Document>,
    pub(super) reopens: bool,
}

impl<'a> Batch<'a> {
    pub(super) fn new(fold: &'a Fold) -> Self {
        Self {
            fold,
            entries: Vec::new(),
            state: None,
            reopens: false,
        }
    }

    /// One copy serves the whole batch.
    pub(super) fn state_mut(&mut self) -> &mut Document {
        self.state
            .get_or_insert_with(|| self.fold.conversation().state_document().clone())
    }

    pub(super) fn state_guard(&self) -> Option<Seq> {
        self.state.is_some().then(|| self.fold.versions().state)
    }
}

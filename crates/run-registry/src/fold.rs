//! What a thread's log amounts to at its head.
//!
//! Two folds side by side: the conversation as AG-UI clients hold it, and the registry of runs and
//! questions. Nothing in it is decided; an entry that cannot be read changes nothing but the head
//! and the versions.
//!
//! Invariant: after the entries up to `head`, `versions` are those the engine keeps beside the log.

use threadcast_agui::chunk::Lanes;
use threadcast_agui::event::Event;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_agui::patch::Patch;
use threadcast_thread_log::engine::Versions;
use threadcast_thread_log::entry::{Body, Entry};
use threadcast_thread_log::position::{Epoch, Position, Seq};

use crate::conversation::Conversation;
use crate::fact::Fact;
use crate::registry::Registry;

/// The fold of one thread's log.
#[derive(Clone, Debug)]
pub struct Fold {
    thread: ThreadId,
    position: Position,
    versions: Versions,
    conversation: Conversation,
    registry: Registry,
    lanes: Lanes,
}

impl Fold {
    /// Of an empty log.
    pub fn new(thread: ThreadId) -> Self {
        Self {
            thread,
            position: Position::default(),
            versions: Versions::default(),
            conversation: Conversation::default(),
            registry: Registry::default(),
            lanes: Lanes::default(),
        }
    }

    /// Of its parts, as a checkpoint keeps them.
    pub(crate) fn of(
        thread: ThreadId,
        position: Position,
        versions: Versions,
        (conversation, registry, lanes): (Conversation, Registry, Lanes),
    ) -> Self {
        Self {
            thread,
            position,
            versions,
            conversation,
            registry,
            lanes,
        }
    }

    pub fn thread(&self) -> &ThreadId {
        &self.thread
    }

    /// The seq of the last entry taken in.
    pub fn head(&self) -> Seq {
        self.position.seq
    }

    /// The last epoch it was told and its head: names this fold.
    pub fn position(&self) -> &Position {
        &self.position
    }

    pub fn versions(&self) -> Versions {
        self.versions
    }

    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The items that chunks opened and nothing closed yet: where expansion goes on.
    pub fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// Says under which epoch the entries at and after the head stand.
    pub fn enter_epoch(&mut self, epoch: Epoch) {
        self.position.epoch = epoch;
    }

    /// Takes in the next entry.
    pub fn apply(&mut self, entry: &Entry) {
        debug_assert_eq!(
            entry.seq,
            self.head().next(),
            "entries are folded without a gap"
        );
        self.position.seq = entry.seq;
        if entry.class.control {
            self.versions.control = entry.seq;
        }
        if entry.class.state {
            self.versions.state = entry.seq;
        }
        match &entry.record.body {
            Body::Event { json, from_chunk } => self.apply_event(entry, json, *from_chunk),
            Body::Fact { public, private } => self.apply_fact(entry, public, private.as_ref()),
        }
    }

    fn apply_event(&mut self, entry: &Entry, json: &RawJson, from_chunk: bool) {
        let Ok(event) = Event::from_raw(json.clone()) else {
            return;
        };
        self.lanes.follow(&event, from_chunk);
        self.conversation.apply(&event);
        self.registry
            .apply_event(entry, &event, self.conversation.state());
    }

    fn apply_fact(&mut self, entry: &Entry, public: &RawJson, private: Option<&RawJson>) {
        let Ok(Some(fact)) = Fact::read(public, private) else {
            return;
        };
        if let Fact::StatePatched(fact) = &fact
            && let Ok(patch) = Patch::read(fact.patch.as_str())
        {
            // Decided against the state it changes; a log that says otherwise changes nothing.
            let _ = self.conversation.patch_state(&patch);
        }
        self.registry.apply_fact(entry, &fact);
    }
}

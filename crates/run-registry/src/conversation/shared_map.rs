//! A map whose copies are cheap: what they have in common is there once.
//!
//! Writing to a map that shares its entries with a copy goes beside them, as long as it is little;
//! a map that has them for itself is written to as any other.
//!
//! Invariant: what `own` says of a key, `None` for gone, goes before what `shared` says.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Most entries beside the shared ones: what a copy costs.
const OWN_MAX: usize = 256;

#[derive(Clone, Debug)]
pub(super) struct SharedMap<K, V> {
    shared: Arc<HashMap<K, V>>,
    own: HashMap<K, Option<V>>,
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self {
            shared: Arc::default(),
            own: HashMap::new(),
        }
    }
}

impl<K: Clone + Eq + Hash, V: Copy> SharedMap<K, V> {
    pub(super) fn get(&self, key: &K) -> Option<V> {
        match self.own.get(key) {
            Some(own) => *own,
            None => self.shared.get(key).copied(),
        }
    }

    /// Makes room for `more` entries in a map that has its entries for itself.
    pub(super) fn reserve(&mut self, more: usize) {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.reserve(more);
        }
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        self.write(key, Some(value));
    }

    pub(super) fn remove(&mut self, key: &K) {
        self.write(key.clone(), None);
    }

    fn write(&mut self, key: K, value: Option<V>) {
        if Arc::get_mut(&mut self.shared).is_none() {
            self.own.insert(key, value);
            if self.own.len() <= OWN_MAX {
                return;
            }
            self.settle();
        } else {
            self.settle();
            set(Arc::make_mut(&mut self.shared), key, value);
        }
    }

    /// Makes the entries its own, and puts those beside them among them.
    fn settle(&mut self) {
        if self.own.is_empty() {
            return;
        }
        let shared = Arc::make_mut(&mut self.shared);
        for (key, value) in self.own.drain() {
            set(shared, key, value);
        }
    }
}

fn set<K: Eq + Hash, V>(map: &mut HashMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => drop(map.insert(key, value)),
        None => drop(map.remove(&key)),
    }
}

#[cfg(test)]
mod tests;

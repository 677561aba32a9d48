//! What is open, in the order in which it was opened.

use std::collections::HashMap;
use std::hash::Hash;

/// Keys that were opened and not closed yet.
#[derive(Clone, Debug)]
pub(crate) struct Open<K> {
    /// Each with its place in the order of opening.
    places: HashMap<K, u64>,
    opened_count: u64,
}

impl<K> Default for Open<K> {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
            opened_count: 0,
        }
    }
}

/// The same keys in the same order.
impl<K: Eq + Hash> PartialEq for Open<K> {
    fn eq(&self, other: &Self) -> bool {
        self.in_order() == other.in_order()
    }
}

/// Opened one after the other.
impl<K: Eq + Hash> FromIterator<K> for Open<K> {
    fn from_iter<T: IntoIterator<Item = K>>(keys: T) -> Self {
        let mut open = Self::default();
        keys.into_iter().for_each(|key| open.insert(key));
        open
    }
}

impl<K: Eq + Hash> Open<K> {
    pub(super) fn insert(&mut self, key: K) {
        self.places.entry(key).or_insert(self.opened_count);
        self.opened_count += 1;
    }

    pub(super) fn remove(&mut self, key: &K) {
        self.places.remove(key);
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.places.contains_key(key)
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// All, the first opened first.
    pub(crate) fn in_order(&self) -> Vec<&K> {
        let mut keys: Vec<_> = self.places.iter().collect();
        keys.sort_unstable_by_key(|(_, place)| **place);
        keys.into_iter().map(|(key, _)| key).collect()
    }
}

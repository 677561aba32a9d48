//! What is legal and worth a look, each kind once with its first place and a count.

use serde::Serialize;

use crate::cli::file::Place;

/// Most kinds that are kept; more are only counted.
const KINDS_MAX: usize = 50;

/// One kind of thing that is worth a look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Warning {
    /// Of the first.
    pub(super) line: u64,
    /// Where the first stands; absent for what concerns the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<String>,
    pub(super) message: String,
    pub(super) count: u64,
}

/// The warnings of a stream, in the order of their first places.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    pub(super) kept: Vec<Warning>,
    /// Those of kinds that are not kept.
    pub(super) more: u64,
}

impl Warnings {
    /// Something about an event.
    pub(super) fn add(&mut self, line: u64, place: Place, message: String) {
        self.push(line, Some(place), message);
    }

    /// Something about the input.
    pub(super) fn note(&mut self, line: u64, message: &str) {
        self.push(line, None, message.to_owned());
    }

    fn push(&mut self, line: u64, place: Option<Place>, message: String) {
        if let Some(same) = self.kept.iter_mut().find(|kept| kept.message == message) {
            same.count += 1;
        } else if self.kept.len() == KINDS_MAX {
            self.more += 1;
        } else {
            self.kept.push(Warning {
                line,
                place: place.map(|place| place.to_string()),
                message,
                count: 1,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_once_and_kinds_are_bounded() {
        let mut warnings = Warnings::default();
        for event in 1..=200 {
            warnings.add(event, Place::Event(event), format!("kind {}", event % 60));
        }
        warnings.note(7, "kind 1");
        assert_eq!(warnings.kept.len(), KINDS_MAX);
        let first = &warnings.kept[0];
        assert_eq!(
            (first.line, first.place.as_deref(), first.count),
            (1, Some("event 1"), 5)
        );
        let kept: u64 = warnings.kept.iter().map(|kept| kept.count).sum();
        assert_eq!(kept + warnings.more, 201);
    }
}

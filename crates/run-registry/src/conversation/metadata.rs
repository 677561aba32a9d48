//! Merging an event's metadata into what the event builds.

use threadcast_agui::json::Metadata;

/// Key by key, the last write wins, values are replaced whole.
pub(super) fn merge(target: &mut Option<Metadata>, event: Option<&Metadata>) {
    let Some(event) = event else { return };
    let target = target.get_or_insert_default();
    for (key, value) in event {
        target.insert(key.clone(), value.clone());
    }
}

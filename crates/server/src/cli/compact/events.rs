//! A bare stream: events in, events out.

use threadcast_run_registry::compaction::compact_events;

use super::proof::{Differs, must_amount_to_the_same};
use super::{Compacted, Refusal, Size};
use crate::cli::file::{Format, History, Input, Item, follow_lines};

/// The rest of the input behind `first`, compacted.
pub(super) fn compact(
    first: Item,
    input: &mut Input,
    history: &mut History,
) -> Result<Compacted, Refusal> {
    let mut events = Vec::new();
    let mut before = Size::default();
    let mut next = Some(first);
    while let Some(item) = next {
        history.take(&item, |taken| {
            for piece in taken.became {
                before.add(piece.event.json.as_str());
                events.push(piece.event);
            }
        })?;
        next = input.next()?;
    }
    let mut after = Size::default();
    let mut lines = Vec::new();
    for event in compact_events(events) {
        after.add(event.json.as_str());
        lines.push(event.json.as_str().to_owned());
    }
    let mut followed = History::new("compacted".to_owned());
    follow_lines(&mut followed, Format::Ndjson, &lines).map_err(Differs::from)?;
    must_amount_to_the_same(history, &followed)?;
    Ok(Compacted {
        lines,
        before,
        after,
    })
}

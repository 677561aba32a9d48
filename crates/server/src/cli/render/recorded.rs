//! Recorded lines as updates, for tests.

use threadcast_agui::json::RawJson;
use threadcast_client::{Millis, Seq, Update};

/// Recorded lines: events begin with `{"type":"UPPER`, facts have a dotted type.
pub(crate) fn updates(lines: &str) -> Vec<Update> {
    let lines = lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .enumerate();
    lines
        .map(|(at, line)| {
            let (seq, at, json) = (
                Seq::new(at as u64 + 1).unwrap(),
                Millis(1),
                RawJson::parse(line).unwrap(),
            );
            let kind = json.to_value().unwrap()["type"]
                .as_str()
                .unwrap()
                .to_owned();
            if kind.contains('.') {
                Update::Fact {
                    seq,
                    at,
                    fact: json,
                }
            } else {
                Update::Event {
                    seq,
                    at,
                    event: json,
                }
            }
        })
        .collect()
}

//! Events written from members of others, value by value as they stood.

use std::borrow::Cow;
use std::collections::HashMap;

use threadcast_agui::json::{self, RawJson};
use threadcast_agui::text::Escaped;

/// An event of the members that are there; values are JSON text.
pub(super) fn event(event_type: &str, members: &[(&str, Option<&str>)]) -> RawJson {
    let present = members
        .iter()
        .filter_map(|(name, value)| Some((name, (*value)?)));
    let bytes = present
        .clone()
        .map(|(name, value)| name.len() + value.len() + 4);
    let mut text = String::with_capacity(bytes.sum::<usize>() + event_type.len() + 12);
    text.push_str("{\"type\":\"");
    text.push_str(event_type);
    text.push('"');
    for (name, value) in present {
        text.push_str(",\"");
        text.push_str(name);
        text.push_str("\":");
        text.push_str(value);
    }
    text.push('}');
    RawJson::from_trusted(text)
}

/// What metadata of several events amounts to: key by key, the last write wins in the place of the
/// first.
pub(super) fn metadata<'a>(all: impl IntoIterator<Item = &'a str>) -> Option<Cow<'a, str>> {
    let mut all = all.into_iter();
    let first = all.next()?;
    let Some(second) = all.next() else {
        return Some(Cow::Borrowed(first));
    };
    let mut members: Vec<(Cow<'a, str>, &'a str)> = Vec::new();
    let mut places: HashMap<Cow<'a, str>, usize> = HashMap::new();
    for (name, value) in [first, second]
        .into_iter()
        .chain(all)
        .flat_map(json::members)
    {
        match places.get(&name) {
            Some(place) => members[*place].1 = value,
            None => {
                places.insert(name.clone(), members.len());
                members.push((name, value));
            }
        }
    }
    let mut text = String::from("{");
    for (at, (name, value)) in members.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        Escaped::from_plain(name).write(&mut text);
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    Some(Cow::Owned(text))
}

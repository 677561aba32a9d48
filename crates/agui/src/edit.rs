//! Changes single members or elements of JSON text and leaves every other byte as it was.

use crate::scan;
use crate::text::decode_token;

/// What becomes of one value.
#[derive(Debug)]
pub(crate) enum Edit {
    Keep,
    Drop,
    Set(String),
}

impl Edit {
    pub(crate) fn drop_if(is_dropped: bool) -> Self {
        if is_dropped { Self::Drop } else { Self::Keep }
    }

    /// Sets what `changed` holds, if anything.
    pub(crate) fn if_some(changed: Option<String>) -> Self {
        changed.map_or(Self::Keep, Self::Set)
    }
}

/// The object with its members edited; `None` if all were kept or the value is no object.
pub(crate) fn edit_object(
    object: &str,
    mut edit: impl FnMut(&str, &str) -> Edit,
) -> Option<String> {
    if !object.starts_with('{') {
        return None;
    }
    let parts = scan::members(object).map(|member| {
        let change = edit(&decode_token(member.name), member.value);
        (
            member.start..member.end - member.value.len(),
            member.value,
            change,
        )
    });
    join(object, parts.collect())
}

/// The array with its elements edited; `None` if all were kept or the value is no array.
pub(crate) fn edit_array<'a>(
    array: &'a str,
    mut edit: impl FnMut(&'a str) -> Edit,
) -> Option<String> {
    if !array.starts_with('[') {
        return None;
    }
    let parts = scan::elements(array).map(|element| {
        let change = edit(element.value);
        (element.start..element.start, element.value, change)
    });
    join(array, parts.collect())
}

/// The object with one more member at its end; `value` is JSON text.
pub(crate) fn append_member(object: &str, name: &str, value: &str) -> String {
    let last = scan::members(object).last();
    let end = last.map_or(1, |member| member.end);
    let comma = if last.is_some() { "," } else { "" };
    format!(
        "{}{comma}\"{name}\":{value}{}",
        &object[..end],
        &object[end..]
    )
}

type Part<'a> = (std::ops::Range<usize>, &'a str, Edit);

/// Each part keeps the bytes in front of it; the first one kept loses the comma of those dropped
/// before it.
fn join(json: &str, parts: Vec<Part<'_>>) -> Option<String> {
    if parts
        .iter()
        .all(|(_, _, change)| matches!(change, Edit::Keep))
    {
        return None;
    }
    let first = parts.first().map_or(1, |(head, _, _)| head.start);
    let mut out = String::with_capacity(json.len());
    out.push_str(&json[..first]);
    let (mut behind, mut is_first) = (first, true);
    for (head, value, change) in parts {
        let gap = std::mem::replace(&mut behind, head.end + value.len())..head.start;
        let value = match &change {
            Edit::Keep => value,
            Edit::Drop => continue,
            Edit::Set(new) => new,
        };
        if !std::mem::take(&mut is_first) {
            out.push_str(&json[gap]);
        }
        out.push_str(&json[head]);
        out.push_str(value);
    }
    out.push_str(&json[behind..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(object: &str, dropped: &[&str], expected: Option<&str>) {
        let found = edit_object(object, |name, _| Edit::drop_if(dropped.contains(&name)));
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn dropping_keeps_the_other_bytes() {
        let object = r#"{ "a" : 1 , "b":2,  "c": 3 }"#;
        check(object, &[], None);
        check(object, &["x"], None);
        check(object, &["a"], Some(r#"{ "b":2,  "c": 3 }"#));
        check(object, &["b"], Some(r#"{ "a" : 1,  "c": 3 }"#));
        check(object, &["c"], Some(r#"{ "a" : 1 , "b":2 }"#));
        check(object, &["a", "b"], Some(r#"{ "c": 3 }"#));
        check(object, &["a", "b", "c"], Some(r#"{  }"#));
    }

    #[test]
    fn a_name_is_compared_without_its_escapes() {
        check(r#"{"\u0061":1,"b":2}"#, &["a"], Some(r#"{"b":2}"#));
    }

    #[test]
    fn elements_are_set_and_dropped() {
        let edited = edit_array("[1, 2 ,3]", |element| match element {
            "1" => Edit::Drop,
            "2" => Edit::Set("[]".to_owned()),
            _ => Edit::Keep,
        });
        assert_eq!(edited.as_deref(), Some("[[] ,3]"));
    }

    #[test]
    fn other_values_are_left() {
        for json in ["null", "5", "\"{\\\"a\\\":1}\""] {
            assert_eq!(edit_object(json, |_, _| Edit::Drop), None);
            assert_eq!(edit_array(json, |_| Edit::Drop), None);
        }
    }

    #[test]
    fn a_member_is_appended_behind_the_last() {
        assert_eq!(append_member("{ }", "a", "1"), r#"{"a":1 }"#);
        assert_eq!(append_member(r#"{"b":2 }"#, "a", "1"), r#"{"b":2,"a":1 }"#);
    }
}

//! How deep values nest: none for a scalar, one for an empty array or object.

use serde_json::Value;

pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => depth_around(elements),
        Value::Object(members) => depth_around(members.values()),
        _ => 0,
    }
}

/// Of an array or object that holds `inner`.
pub(crate) fn depth_around<'a>(inner: impl IntoIterator<Item = &'a Value>) -> usize {
    1 + inner.into_iter().map(depth).max().unwrap_or_default()
}

/// Of JSON text that was checked.
pub(crate) fn depth_of_text(json: &str) -> usize {
    let (mut depth, mut deepest, mut is_string, mut is_escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => is_string = !is_string,
            b'{' | b'[' if !is_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_as_deep_as_its_value() {
        let texts = [
            "1",
            "[]",
            r#"{"a":[1,{"b":null}]}"#,
            r#"["}\\",{"\"[[{":"]"}]"#,
            r#"[[],[[]],[]]"#,
            r#""[[[""#,
        ];
        for text in texts {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(depth_of_text(text), depth(&value), "{text}");
        }
    }
}

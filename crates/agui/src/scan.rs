//! Walks JSON text that is known to be valid: finds where values end, and splits objects and
//! arrays.
//!
//! It is no parser: syntax is `serde_json`'s business and was checked before. On text that is not
//! valid the answers are useless but every function still returns.

/// One member of an object, with where it stands in the object's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    /// The name with its quotes, still escaped.
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    /// Offset of the name's opening quote.
    pub(crate) start: usize,
    /// Offset behind the value.
    pub(crate) end: usize,
}

/// One element of an array, with where it stands in the array's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    pub(crate) value: &'a str,
    pub(crate) start: usize,
}

/// The members of `object` in their order.
pub(crate) fn members(object: &str) -> impl Iterator<Item = Member<'_>> {
    let mut at = 1;
    std::iter::from_fn(move || {
        let bytes = object.as_bytes();
        let start = skip_separators(bytes, at);
        if bytes.get(start) != Some(&b'"') {
            return None;
        }
        let name_end = string_end(bytes, start);
        let value_start = skip_separators(bytes, name_end);
        let end = value_end(bytes, value_start);
        at = end;
        Some(Member {
            name: object.get(start..name_end)?,
            value: object.get(value_start..end)?,
            start,
            end,
        })
    })
}

/// The elements of `array` in their order.
pub(crate) fn elements(array: &str) -> impl Iterator<Item = Element<'_>> {
    let mut at = 1;
    std::iter::from_fn(move || {
        let bytes = array.as_bytes();
        let start = skip_separators(bytes, at);
        if matches!(bytes.get(start), None | Some(b']')) {
            return None;
        }
        let end = value_end(bytes, start);
        at = end;
        Some(Element {
            value: array.get(start..end)?,
            start,
        })
    })
}

/// Offset behind the string whose opening quote stands at `start`.
pub(crate) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        at += plain_bytes(bytes.get(at..).unwrap_or_default());
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

/// How many bytes at least stand before the first quote or backslash, counted in blocks that the
/// processor compares at once.
fn plain_bytes(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<16>();
    let is_plain = |block: &&[u8; 16]| {
        !block
            .iter()
            .fold(false, |found, byte| found | matches!(byte, b'"' | b'\\'))
    };
    16 * blocks.iter().take_while(is_plain).count()
}

/// Offset behind the value that begins at `start`.
fn value_end(bytes: &[u8], start: usize) -> usize {
    match bytes.get(start) {
        Some(b'"') => string_end(bytes, start),
        Some(b'{' | b'[') => container_end(bytes, start),
        _ => {
            let is_end =
                |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
            let rest = bytes.get(start..).unwrap_or_default();
            // At least one byte, so that a walk over anything ends.
            (start + rest.iter().position(is_end).unwrap_or(rest.len()).max(1)).min(bytes.len())
        }
    }
}

fn container_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn skip_separators(bytes: &[u8], start: usize) -> usize {
    let is_separator = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':');
    let rest = bytes.get(start..).unwrap_or_default();
    start
        + rest
            .iter()
            .position(|byte| !is_separator(byte))
            .unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_order_with_their_raw_text() {
        let json = r#"{ "a" : [1, {"b":"]}"}] ,"c\"":"x\\", "d":-1.5e3 }"#;
        let found: Vec<_> = members(json)
            .map(|member| (member.name, member.value))
            .collect();
        assert_eq!(
            found,
            [
                (r#""a""#, r#"[1, {"b":"]}"}]"#),
                (r#""c\"""#, r#""x\\""#),
                (r#""d""#, "-1.5e3")
            ]
        );
        assert!(
            members(json).all(|member| json[member.start..member.end].starts_with(member.name))
        );
    }

    #[test]
    fn elements_come_in_order_with_their_raw_text() {
        let found: Vec<_> = elements(r#"[ 1,"a,b" , [ ],{"x":[]}, null]"#)
            .map(|element| element.value)
            .collect();
        assert_eq!(found, ["1", r#""a,b""#, "[ ]", r#"{"x":[]}"#, "null"]);
        assert_eq!(
            elements("[]").count() + elements("[ ]").count() + members("{ }").count(),
            0
        );
    }

    proptest::proptest! {
        #[test]
        fn a_walk_over_anything_ends(text: String) {
            let steps = members(&text).count() + elements(&text).count();
            proptest::prop_assert!(steps <= 2 * text.len());
        }
    }
}

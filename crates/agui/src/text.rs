//! Text as the inside of a JSON string, still escaped.

use std::borrow::Cow;

/// The bytes between the quotes of a JSON string, joined without decoding.
///
/// So two halves of a surrogate pair that came in two deltas join to one character, and writing
/// text out again is a copy. Comparison is by bytes: two spellings of one text differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Escaped(String);

impl Escaped {
    /// No text.
    pub const fn new() -> Self {
        Self(String::new())
    }

    /// Takes a JSON string with its quotes, from text that was checked.
    pub fn from_token(token: &str) -> Self {
        debug_assert!(
            token.len() >= 2 && token.starts_with('"') && token.ends_with('"'),
            "a string token: {token}"
        );
        Self(inside(token).to_owned())
    }

    /// Escapes what must be escaped and nothing else.
    pub fn from_plain(text: &str) -> Self {
        let token = serde_json::to_string(text).expect("a string always has a JSON form");
        Self::from_token(&token)
    }

    /// Appends `more` as it is.
    pub fn push(&mut self, more: &Self) {
        self.0.push_str(&more.0);
    }

    /// The text with its escapes, without quotes.
    pub fn as_escaped(&self) -> &str {
        &self.0
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Length in bytes, escapes as they are written.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The text itself; half a surrogate pair without its other half becomes U+FFFD.
    pub fn decode_lossy(&self) -> String {
        decode(&self.0).into_owned()
    }

    /// Writes the JSON string with its quotes.
    pub fn write(&self, out: &mut String) {
        out.push('"');
        out.push_str(&self.0);
        out.push('"');
    }
}

/// The text of a JSON string token; half a surrogate pair becomes U+FFFD.
pub(crate) fn decode_token(token: &str) -> Cow<'_, str> {
    decode(inside(token))
}

fn inside(token: &str) -> &str {
    token
        .get(1..token.len().saturating_sub(1))
        .unwrap_or_default()
}

fn decode(escaped: &str) -> Cow<'_, str> {
    let Some(first) = escaped.find('\\') else {
        return Cow::Borrowed(escaped);
    };
    let mut text = String::with_capacity(escaped.len());
    text.push_str(&escaped[..first]);
    let mut rest = &escaped[first..];
    while let Some(escape) = rest.strip_prefix('\\') {
        let (decoded, behind) = decode_escape(escape);
        text.push(decoded);
        let next = behind.find('\\').unwrap_or(behind.len());
        text.push_str(&behind[..next]);
        rest = &behind[next..];
    }
    Cow::Owned(text)
}

/// Decodes one escape whose backslash is gone; gives what stands behind it.
fn decode_escape(escape: &str) -> (char, &str) {
    let mut rest = escape.chars();
    let decoded = match rest.next() {
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => return decode_unit(rest.as_str()),
        Some(itself) => itself,
        None => char::REPLACEMENT_CHARACTER,
    };
    (decoded, rest.as_str())
}

/// Decodes the four digits behind `\u`, and the low half behind a high one.
fn decode_unit(digits: &str) -> (char, &str) {
    let (unit, rest) = hex_unit(digits);
    if let Some(low) = rest
        .strip_prefix("\\u")
        .filter(|_| (0xd800..0xdc00).contains(&unit))
    {
        let (low, behind) = hex_unit(low);
        if let Some(Ok(joined)) = char::decode_utf16([unit, low]).next() {
            return (joined, behind);
        }
    }
    (
        char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER),
        rest,
    )
}

fn hex_unit(digits: &str) -> (u16, &str) {
    let unit = digits
        .get(..4)
        .and_then(|hex| u16::from_str_radix(hex, 16).ok());
    (unit.unwrap_or(0xfffd), digits.get(4..).unwrap_or_default())
}

#[cfg(test)]
mod tests;

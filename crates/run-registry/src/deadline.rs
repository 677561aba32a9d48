//! When an interrupt expires: the free text of `expiresAt` as a point in time.
//!
//! AG-UI: `expiresAt` is ISO 8601 by convention, and what is no date never expires. Read are the
//! forms that clients read as dates too: RFC 3339, ISO 8601 with separators (in the date `/` as
//! well), with or without time and offset (UTC where none is given), RFC 2822.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::tz::TimeZone;
use threadcast_thread_log::entry::Millis;

static RFC2822: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

/// The point in time, `None` for text that is no date; dates before 1970 are over since the
/// beginning.
pub fn parse(expires_at: &str) -> Option<Millis> {
    let text = expires_at.trim();
    let at = match with_hyphens(text) {
        Some(text) => iso8601(&text),
        None => RFC2822.parse_timestamp(text).ok(),
    }?;
    Some(Millis(u64::try_from(at.as_millisecond()).unwrap_or(0)))
}

/// Text that begins as `2026-01-01` or `2026/01/01`, with hyphens; a time behind it has colons, and
/// nothing stands behind that: the parser reads more than clients do.
fn with_hyphens(text: &str) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let separator = *bytes.get(4).filter(|byte| b"-/".contains(byte))?;
    let is_read = bytes.get(7) == Some(&separator)
        && bytes.get(13).is_none_or(|byte| *byte == b':')
        && !text.contains('[');
    is_read.then(|| match separator {
        b'/' => Cow::Owned(text.replace('/', "-")),
        _ => Cow::Borrowed(text),
    })
}

fn iso8601(text: &str) -> Option<Timestamp> {
    let timestamp = text.parse::<Timestamp>().ok();
    let date_time = || in_utc(text.parse::<DateTime>().ok()?);
    let date = || in_utc(text.parse::<Date>().ok()?.at(0, 0, 0, 0));
    timestamp.or_else(date_time).or_else(date)
}

fn in_utc(at: DateTime) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(at).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<u64>) {
        assert_eq!(parse(text), expected.map(Millis), "{text}");
    }

    #[test]
    fn dates_that_clients_read_are_deadlines() {
        check("2026-01-01T00:00:00Z", Some(1_767_225_600_000));
        check("2026-01-01T00:00:00.5Z", Some(1_767_225_600_500));
        check("2026-01-01T01:00:00+01:00", Some(1_767_225_600_000));
        check("2026-01-01T00:00:00", Some(1_767_225_600_000));
        check("2026-01-01 00:00:00Z", Some(1_767_225_600_000));
        check("2026-01-01T00:00", Some(1_767_225_600_000));
        check("2026-01-01", Some(1_767_225_600_000));
        check("Thu, 01 Jan 2026 00:00:00 GMT", Some(1_767_225_600_000));
        check("2026/01/01", Some(1_767_225_600_000));
        check("2026/01/01 00:00:00Z", Some(1_767_225_600_000));
        check(" 2026-01-01 ", Some(1_767_225_600_000));
        check("1969-01-01T00:00:00Z", Some(0));
    }

    #[test]
    fn what_is_no_date_never_expires() {
        for text in [
            "",
            "soon",
            "1767225600000",
            "2026-13-01",
            "2026-02-30",
            "20260101",
            "20260101T000000Z",
            "2026-01-01T000000Z",
            "2026-01/01",
            "2026-01-01T00:00:00+00:00[UTC]",
            "T00:00",
            "in 5 minutes",
        ] {
            check(text, None);
        }
    }
}

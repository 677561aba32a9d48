//! When an interrupt expires: the free text of `expiresAt` as a point in time.
//!
//! AG-UI: `expiresAt` is ISO 8601 by convention, and what is no date never expires. Read are the
//! forms that clients read as dates too: RFC 3339, ISO 8601 with or without time and offset (UTC
//! where none is given), RFC 2822.

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
    let at = text
        .parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<DateTime>().ok().and_then(in_utc))
        .or_else(|| {
            text.parse::<Date>()
                .ok()
                .and_then(|date| in_utc(date.at(0, 0, 0, 0)))
        })
        .or_else(|| RFC2822.parse_timestamp(text).ok())?;
    Some(Millis(u64::try_from(at.as_millisecond()).unwrap_or(0)))
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
            "T00:00",
            "in 5 minutes",
        ] {
            check(text, None);
        }
    }
}

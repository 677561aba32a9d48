//! The tables of docs/protocol.md say what the code does.

use threadcast_wire::close::{CloseCode, Reconnect};
use threadcast_wire::error_code::ErrorCode;
use threadcast_wire::hub_frame::ResetReason;
use threadcast_wire::limits::{Limits, ToldLimits};

const PROTOCOL: &str = include_str!("../../../../docs/protocol.md");

/// The rows of the first table after the heading, cell by cell, without the head.
fn table(heading: &str) -> Vec<Vec<String>> {
    let (_, section) = PROTOCOL
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("no `{heading}`"));
    let lines = section
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'));
    lines.skip(2).map(cells).collect()
}

fn cells(line: &str) -> Vec<String> {
    line.trim_matches('|')
        .split('|')
        .map(|cell| cell.trim().replace('`', ""))
        .collect()
}

#[test]
fn error_codes_are_the_table_of_section_10() {
    let row = |code: ErrorCode| {
        let retryable = if code.is_retryable() { "yes" } else { "no" };
        vec![
            code.to_string(),
            code.http_status().to_string(),
            retryable.to_owned(),
            code.when().to_owned(),
        ]
    };
    let written: Vec<_> = table("## 10. Error codes")
        .into_iter()
        .map(|row| row[..4].to_vec())
        .collect();
    assert_eq!(
        written,
        ErrorCode::ALL.iter().copied().map(row).collect::<Vec<_>>()
    );
}

#[test]
fn every_error_code_is_known_by_its_name() {
    assert!(
        ErrorCode::ALL
            .iter()
            .all(|code| ErrorCode::from_name(code.as_str()) == Some(*code))
    );
    assert_eq!(ErrorCode::from_name("claimed"), None);
}

#[test]
fn close_codes_are_the_table_of_section_11() {
    let row = |close: CloseCode| {
        let reconnect = match close.reconnect() {
            Reconnect::AfterDraining => "after reconnectAfterMs",
            Reconnect::WithBackoff => "with backoff",
            Reconnect::No => "no",
        };
        vec![
            close.code().to_string(),
            close.reason().to_owned(),
            reconnect.to_owned(),
        ]
    };
    let written: Vec<_> = table("## 11. Close codes")
        .into_iter()
        .map(|row| row[..3].to_vec())
        .collect();
    assert_eq!(written, CloseCode::ALL.map(row));
}

#[test]
fn close_codes_are_known_by_their_number() {
    assert!(
        CloseCode::ALL
            .into_iter()
            .all(|close| CloseCode::from_code(close.code()) == Some(close))
    );
    assert_eq!(CloseCode::from_code(1000), None);
}

#[test]
fn limits_are_the_table_of_section_12_1() {
    let number = |cell: &str| {
        cell.replace(',', "")
            .parse::<u64>()
            .unwrap_or_else(|_| panic!("`{cell}` is no number"))
    };
    let written: Vec<_> = table("### 12.1 Sockets and requests")
        .iter()
        .map(|row| (row[0].clone(), number(&row[1])))
        .collect();
    let expected: Vec<_> = Limits::default()
        .table()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    assert_eq!(written, expected);
}

#[test]
fn told_limits_are_the_marked_rows_of_section_12_1() {
    let told = serde_json::to_value(ToldLimits::default()).unwrap();
    let mut marked = serde_json::Map::new();
    let rows = Limits::default()
        .table()
        .into_iter()
        .zip(table("### 12.1 Sockets and requests"));
    marked.extend(
        rows.filter(|(_, row)| row[3].starts_with('•'))
            .map(|((name, value), _)| (name.to_owned(), value.into())),
    );
    assert_eq!(told, serde_json::Value::Object(marked));
}

#[test]
fn a_heartbeat_is_moved_inside_the_bounds() {
    let limits = Limits::default();
    let granted =
        [1, 5_000, 60_000, 300_000, u64::MAX].map(|asked| limits.heartbeat_for(asked).as_secs());
    assert_eq!(granted, [5, 5, 60, 300, 300]);
}

#[test]
fn reset_reasons_are_the_verdicts_of_section_2_2() {
    // Valid is no reason, and `behind` is told of a valid position.
    let verdicts = table("### 2.2 What it is worth").into_iter();
    let mut written: Vec<_> = verdicts.skip(1).map(|row| row[0].clone()).collect();
    written.insert(0, "behind".to_owned());
    assert_eq!(written, ResetReason::ALL.map(ResetReason::as_str));
    assert!(PROTOCOL.contains("There is one more, `behind`"));
}

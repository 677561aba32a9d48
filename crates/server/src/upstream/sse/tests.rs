use proptest::prelude::*;

use super::*;

fn read(chunks: &[&[u8]]) -> Result<Vec<SseItem>, SseError> {
    let mut reader = SseReader::new(1024);
    for chunk in chunks {
        reader.push(chunk)?;
    }
    reader.end()?;
    Ok(std::iter::from_fn(|| reader.next_item()).collect())
}

fn check(stream: &str, expected: &[&str]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|data| {
            if *data == DONE {
                SseItem::Done
            } else {
                SseItem::Data((*data).to_owned())
            }
        })
        .collect();
    assert_eq!(read(&[stream.as_bytes()]).unwrap(), expected, "{stream:?}");
}

#[test]
fn every_line_end_ends_a_line() {
    check("data: a\n\ndata: b\n\n", &["a", "b"]);
    check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
    check("data: a\r\rdata: b\r\r", &["a", "b"]);
    check("data: a\r\n\ndata: b\n\r\n", &["a", "b"]);
}

#[test]
fn data_lines_are_joined_and_one_space_is_removed() {
    check("data:a\ndata: b\ndata:  c\n\n", &["a\nb\n c"]);
    check("data\ndata:x\n\n", &["\nx"]);
}

#[test]
fn what_is_no_data_is_passed_over() {
    check(
        ": comment\nid: 7\nevent: message\nretry: 10\ndatabase: x\ndata: a\n\n",
        &["a"],
    );
    check(": keep-alive\n\n\n\nid: 4\n\ndata:\n\n", &[]);
}

#[test]
fn a_byte_order_mark_is_removed_once() {
    check("\u{feff}data: a\n\n", &["a"]);
    check("\u{feff}\u{feff}data: a\n\n", &[]);
    check("data: \u{feff}\n\n", &["\u{feff}"]);
}

#[test]
fn an_event_that_breaks_off_was_never_said() {
    check(
        "data: {\"a\":1}\n\ndata: {\"a\":2}",
        &["{\"a\":1}", "{\"a\":2}"],
    );
    check(
        "data: {\"a\":1}\n\ndata: {\"type\":\"TEXT_MESS",
        &["{\"a\":1}"],
    );
    check("data: {\"a\":1}\n\ndata: {\"a\":[1,\n", &["{\"a\":1}"]);
    // Where the blank line came, the sender meant what stands before it.
    check("data: {\"a\":\n\n", &["{\"a\":"]);
}

#[test]
fn the_last_event_needs_no_blank_line() {
    check("data: a\n\ndata: b\n", &["a", "b"]);
    check("data: a\n\ndata: b", &["a", "b"]);
}

#[test]
fn done_is_told_apart_from_data() {
    check("data: a\n\ndata: [DONE]\n\n", &["a", DONE]);
    check("data:[DONE]", &[DONE]);
}

#[test]
fn a_long_event_is_refused_before_it_is_held() {
    let mut reader = SseReader::new(16);
    assert_eq!(reader.push(b"data: 0123456789"), Ok(()));
    assert_eq!(
        reader.push(b"0"),
        Err(SseError::TooLarge { event: 1, max: 16 })
    );

    let mut lines = SseReader::new(16);
    assert_eq!(
        lines.push(b"data: 012345\ndata: 01234\n"),
        Err(SseError::TooLarge { event: 1, max: 16 })
    );

    let mut comment = SseReader::new(16);
    assert_eq!(
        comment.push(b": 01234567890123456789"),
        Err(SseError::TooLarge { event: 1, max: 16 })
    );
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    assert_eq!(
        read(&[b"data: \xff\n\n"]),
        Err(SseError::NoText { event: 1 })
    );
    assert_eq!(
        read(&[b": \xff\ndata: a\n\n"]),
        Ok(vec![SseItem::Data("a".into())])
    );
}

fn stream() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "data: ?[a-zé🙂 ]{0,6}",
        Just("data: [DONE]".to_owned()),
        Just(": ping".to_owned()),
        Just("id: 1".to_owned()),
        Just(String::new()),
        Just(String::new()),
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    let lines = proptest::collection::vec((line, end), 0..12);
    (any::<bool>(), lines, "(data: z)?").prop_map(|(mark, lines, last)| {
        let mark = if mark { "\u{feff}" } else { "" };
        let lines: String = lines
            .iter()
            .map(|(line, end)| format!("{line}{end}"))
            .collect();
        format!("{mark}{lines}{last}")
    })
}

proptest! {
    #[test]
    fn cuts_change_nothing(stream in stream(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let bytes = stream.as_bytes();
        let mut at: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let chunks: Vec<_> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(read(&chunks), read(&[bytes]));
        let single: Vec<_> = bytes.chunks(1).collect();
        prop_assert_eq!(read(&single), read(&[bytes]));
    }

    #[test]
    fn what_a_writer_writes_is_read_back(datas in proptest::collection::vec("[^\r\n\u{feff}]{1,20}", 0..6)) {
        prop_assume!(datas.iter().all(|data| data.trim() != DONE));
        let stream: String = datas.iter().map(|data| format!("data: {data}\n\n")).collect();
        let items: Vec<_> = datas.into_iter().map(SseItem::Data).collect();
        prop_assert_eq!(read(&[stream.as_bytes()]).unwrap(), items);
    }
}

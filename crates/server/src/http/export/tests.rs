use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::{Class, Millis, Origin, Record};

use super::*;

/// Entries of which each states anew a state of 256 KiB.
fn states(number: u64) -> VecDeque<Entry> {
    let state = "x".repeat(256 << 10);
    let json = format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":"{state}"}}"#);
    let json = RawJson::parse(&json).unwrap();
    let body = threadcast_thread_log::entry::Body::Event {
        json,
        from_chunk: false,
    };
    let record = Record {
        at: Millis(1),
        run: None,
        origin: Origin::Agent,
        body,
    };
    let record = std::sync::Arc::new(record);
    let entry = |seq| Entry {
        seq: Seq::new(seq).unwrap(),
        class: Class::STATE,
        record: record.clone(),
    };
    (1..=number).map(entry).collect()
}

/// Goal: an export holds a block, not all that one read amounts to. Method: entries of 256 KiB, in
/// both forms.
#[test]
fn a_block_ends_with_the_entry_that_fills_it_and_the_next_one_goes_on_behind_it() {
    let thread = ThreadId::new("t").unwrap();
    let forms = [
        Form::Log { private: true },
        Form::AgUi(Box::new(AguiExport::new(thread))),
    ];
    for mut form in forms {
        let (mut entries, mut read, mut lines) = (states(40), Seq::ZERO, Vec::new());
        while !entries.is_empty() {
            let before = read;
            let block = write(&mut entries, &mut form, &mut read);
            let bytes: usize = block.iter().map(String::len).sum();
            assert!(bytes < BLOCK_BYTES + (300 << 10), "{bytes} at {before}");
            assert!(read > before);
            lines.extend(block);
        }
        assert_eq!((read, lines.len()), (Seq::new(40).unwrap(), 40));
    }
}

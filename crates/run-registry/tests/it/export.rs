//! A log as lines, and as a plain AG-UI stream.

use threadcast_agui::ids::ThreadId;
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::export::{AguiExport, ExportHead, ExportReader, Taken, entry_line};
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::histories::{Random, log};
use threadcast_run_registry::retention::{Extent, Retention};
use threadcast_run_registry::stream_judge::{StreamJudge, Unfinished};
use threadcast_thread_log::entry::{Body, Entry, Millis};
use threadcast_thread_log::position::{Epoch, Seq};

use crate::world::thread;

/// Generated logs.
const LOGS: u64 = 150;

pub(crate) fn head(entries: &[Entry], base: Option<&Fold>) -> ExportHead {
    let first = base.map_or(Seq::ZERO, Fold::head).next();
    ExportHead {
        threadcast: 1,
        thread_id: thread(),
        epochs: vec![(Epoch::new("log.one"), Seq::ZERO.next())],
        first,
        last: entries
            .last()
            .map_or_else(|| base.map_or(Seq::ZERO, Fold::head), |entry| entry.seq),
        private: true,
        checkpoint: base.map(|base| String::from_utf8(base.to_checkpoint()).unwrap()),
    }
}

/// The lines of an export.
pub(crate) fn lines(entries: &[Entry], base: Option<&Fold>) -> Vec<String> {
    let head = head(entries, base).to_line();
    let entries = entries.iter().map(|entry| entry_line(entry, true));
    std::iter::once(head).chain(entries).collect()
}

pub(crate) fn folded(entries: &[Entry]) -> Fold {
    let mut fold = Fold::new(thread());
    fold.enter_epoch(Epoch::new("log.one"));
    entries.iter().for_each(|entry| fold.apply(entry));
    fold
}

/// Where a log may be cut, the latest cut first.
pub(crate) fn cut(entries: &[Entry], kept: u64) -> Option<usize> {
    let extent = Extent::of(&folded(entries), Seq::ZERO.next());
    let retention = Retention {
        entries: Some(kept),
        ..Retention::default()
    };
    let through = extent.trim_through(&retention, Millis(0))?;
    Some(usize::try_from(through.get()).unwrap())
}

#[test]
fn lines_are_read_as_the_entries_they_were_written_of() {
    for seed in 0..LOGS {
        let entries = log(seed);
        let mut reader = ExportReader::new();
        let mut read = Vec::new();
        for line in lines(&entries, None) {
            assert!(!line.contains('\n'));
            match reader.take(&line).unwrap() {
                Taken::Head(found) => assert_eq!(found, head(&entries, None)),
                Taken::Entry(entry) => read.push(entry),
            }
        }
        reader.finish().unwrap();
        assert_eq!(read, entries, "log {seed}");
    }
}

#[test]
fn private_parts_are_left_out_unless_they_are_asked_for() {
    let mut left_out = 0;
    for entry in log(4) {
        let line = entry_line(&entry, false);
        let has_private = matches!(
            &entry.record.body,
            Body::Fact {
                private: Some(_),
                ..
            }
        );
        assert!(
            !line.contains("\"private\"") && !line.contains("fingerprint"),
            "{line}"
        );
        assert_eq!(
            entry_line(&entry, true).contains("\"private\":"),
            has_private
        );
        left_out += usize::from(has_private);
    }
    assert!(left_out > 0);
}

#[track_caller]
fn refused(lines: &[&str], expected: &str) {
    let mut reader = ExportReader::new();
    let taken: Result<Vec<_>, _> = lines.iter().map(|line| reader.take(line)).collect();
    let told = taken.err().or_else(|| reader.finish().err());
    assert_eq!(
        told.map(|error| error.to_string()).as_deref(),
        Some(expected),
        "{lines:?}"
    );
}

#[test]
fn what_is_no_whole_export_is_refused_with_its_line() {
    const HEAD: &str =
        r#"{"threadcast":1,"threadId":"t","epochs":[],"first":1,"last":2,"private":true}"#;
    const ONE: &str = r#"{"seq":1,"at":5,"run":"r","origin":"agent","event":{"type":"X"}}"#;
    const TWO: &str = r#"{"seq":2,"at":5,"origin":"hub","fact":{"type":"x"}}"#;
    refused(&[], "line 1: the export has no line");
    refused(
        &["[]"],
        "line 1: it is not the JSON object it should be: invalid length 0, expected struct AnyHead with 1 element at line 1 column 2",
    );
    refused(
        &[r#"{"threadcast":2,"else":1}"#],
        "line 1: it is of export version 2, known is 1",
    );
    let beyond = HEAD.replace("\"first\":1", "\"first\":4");
    refused(&[&beyond], "line 1: entries begin at 4 and end at 2");
    refused(
        &[HEAD],
        "line 2: the export ends before entry 1, its last is 2",
    );
    refused(
        &[HEAD, ONE],
        "line 3: the export ends before entry 2, its last is 2",
    );
    refused(
        &[HEAD, TWO],
        "line 2: entry 2 comes where entry 1 is expected",
    );
    refused(
        &[HEAD, ONE, ONE],
        "line 3: entry 1 comes where entry 2 is expected",
    );
    let three = TWO.replace("\"seq\":2", "\"seq\":3");
    refused(
        &[HEAD, ONE, TWO, &three],
        "line 4: entry 3 comes behind the last one, 2",
    );
    let both = TWO.replace("\"fact\"", "\"event\":{},\"fact\"");
    refused(
        &[HEAD, ONE, &both],
        "line 3: an entry has neither one event nor one fact",
    );
    let class = ONE.replace("\"at\"", "\"class\":[\"other\"],\"at\"");
    refused(&[HEAD, &class], "line 2: class `other` is not known");
    let deep = ONE.replace(
        "{\"type\":\"X\"}",
        &format!("{}{}", "[".repeat(65), "]".repeat(65)),
    );
    refused(
        &[HEAD, &deep],
        "line 2: its event or fact cannot be kept: JSON is nested deeper than 64 levels",
    );
    let twice = ONE.replace("{\"type\":\"X\"}", r#"{"a":1,"a":2}"#);
    refused(
        &[HEAD, &twice],
        "line 2: its event or fact cannot be kept: JSON member `a` is repeated within one object",
    );
    let unknown = ONE.replace("\"at\"", "\"later\":1,\"at\"");
    let error = ExportReader::new().take(&unknown).unwrap_err();
    assert_eq!(error.line, 1);
}

/// What a client holds that reads the stream.
#[track_caller]
fn read_by_client(events: &[String], whose: &str) -> (Conversation, Option<Unfinished>) {
    let mut judge = StreamJudge::new();
    for event in events {
        if let Err(broken) = judge.take(event) {
            panic!("{whose}: {broken}\n{}", events.join("\n"));
        }
    }
    (judge.conversation().clone(), judge.finish())
}

fn stream(
    mut export: AguiExport,
    leading: Vec<String>,
    entries: &[Entry],
) -> (Vec<String>, AguiExport) {
    let mut events = leading;
    for entry in entries {
        events.extend(export.take(entry).iter().map(ToString::to_string));
    }
    (events, export)
}

fn check_stream(events: &[String], export: &AguiExport, fold: &Fold, whose: &str) {
    let (held, unfinished) = read_by_client(events, whose);
    let expected = fold.conversation();
    assert!(held.messages().eq(expected.messages()), "{whose}");
    assert_eq!(held.state(), expected.state(), "{whose}");
    assert_eq!(
        held.pending_tool_calls(),
        expected.pending_tool_calls(),
        "{whose}"
    );
    assert_eq!(
        held.pending_interrupts(),
        expected.pending_interrupts(),
        "{whose}"
    );
    let inside = export.open_run().cloned().map(Unfinished::InsideRun);
    assert_eq!(unfinished, inside, "{whose}");
}

#[test]
fn the_events_alone_are_a_legal_stream_that_leads_where_the_fold_stands() {
    let mut made_up = 0;
    for seed in 0..LOGS {
        let entries = log(seed);
        let (events, export) = stream(AguiExport::new(thread()), Vec::new(), &entries);
        let is_event = |entry: &&Entry| matches!(entry.record.body, Body::Event { .. });
        made_up += events.len() - entries.iter().filter(is_event).count();
        check_stream(&events, &export, &folded(&entries), &format!("log {seed}"));
    }
    assert!(made_up > 50, "states and activities are told");
}

#[test]
fn behind_a_cut_they_begin_with_a_snapshot() {
    let mut cuts = 0;
    for seed in 0..LOGS {
        let entries = log(seed);
        let mut random = Random::new(seed);
        let Some(cut) = cut(&entries, random.below(entries.len()) as u64) else {
            continue;
        };
        let base = folded(&entries[..cut]);
        let (export, leading) = AguiExport::behind(base);
        let leading = leading.iter().map(ToString::to_string).collect();
        let (events, export) = stream(export, leading, &entries[cut..]);
        check_stream(
            &events,
            &export,
            &folded(&entries),
            &format!("log {seed} behind {cut}"),
        );
        cuts += 1;
    }
    assert!(cuts > LOGS / 4, "only {cuts} cuts");
}

#[test]
fn an_export_under_another_id_is_of_that_thread() {
    let other: ThreadId = "other".parse().unwrap();
    let head = ExportHead {
        thread_id: other.clone(),
        ..head(&[], None)
    };
    let mut reader = ExportReader::new();
    assert_eq!(reader.take(&head.to_line()).unwrap(), Taken::Head(head));
    reader.finish().unwrap();
}

//! An exported log becomes another thread's.

use proptest::prelude::*;
use threadcast_agui::event::Event;
use threadcast_agui::ids::ThreadId;
use threadcast_run_registry::fact::Fact;
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::histories::{Random, log};
use threadcast_run_registry::import::{ImportError, ImportStart, Importer};
use threadcast_run_registry::snapshot::snapshot;
use threadcast_run_registry::stream_judge::StreamJudge;
use threadcast_run_registry::thread_record::StoredRecord;
use threadcast_thread_log::engine::{Append, Durability, Guard, Outcome, RefusedReason};
use threadcast_thread_log::entry::{Body, Entry, Millis};
use threadcast_thread_log::lease::{LeaseChange, LeaseToken, NodeId};
use threadcast_thread_log::position::{Position, Seq};
use threadcast_thread_log::run_status::RunStatus;

use crate::export::{cut, folded, lines};
use crate::world::{Log, World, asks, interrupt, principal, resume, run, run_id, started, thread};

/// Generated logs.
const LOGS: u64 = 150;

fn importer(to: &ThreadId) -> Importer {
    Importer::new(ImportStart {
        thread: to.clone(),
        by: principal("eve"),
        now: Millis(9),
        lease: LeaseToken("import".into()),
        node: NodeId("n".into()),
    })
}

/// Writes what is due.
fn write(importer: &mut Importer, log: &mut Log) {
    while let Some(append) = importer.next_append() {
        let last = append.durability == Durability::Durable;
        match log.append(&append) {
            Outcome::Appended(appended) => importer.appended(&appended),
            Outcome::Refused(refused) => panic!("{refused:?}"),
        }
        assert_eq!(
            log.meta.holder.is_some(),
            !last,
            "the lease is held up to the last append"
        );
    }
}

fn import(to: &ThreadId, lines: &[String]) -> Result<Log, ImportError> {
    let mut importer = importer(to);
    let mut log = Log::new();
    for line in lines {
        importer.take(line)?;
        write(&mut importer, &mut log);
    }
    importer.finish()?;
    write(&mut importer, &mut log);
    if let Some(record) = &log.meta.record {
        let record = StoredRecord::from_bytes(record).unwrap();
        assert_eq!(record, StoredRecord::of(importer.fold()));
        assert_eq!(importer.fold().head(), log.meta.head);
        assert_eq!(importer.fold().versions(), log.meta.versions);
    }
    Ok(log)
}

/// The fold of a log of `thread`.
fn fold_of(log: &Log, thread: &ThreadId) -> Fold {
    let mut fold = Fold::new(thread.clone());
    if let Some((epoch, _)) = log.meta.epochs.last() {
        fold.enter_epoch(epoch.clone());
    }
    log.entries.iter().for_each(|entry| fold.apply(entry));
    fold
}

fn text(fold: &Fold) -> String {
    String::from_utf8(fold.to_checkpoint()).unwrap()
}

/// Goal: an import that stops anywhere leaves no run that a sweeper would start, for its agent was
/// asked elsewhere. Method: everything that may be written is, after every line.
#[test]
fn what_is_written_early_is_the_same_and_never_stops_in_front_of_a_call() {
    for seed in 0..LOGS / 5 {
        let (entries, whose) = (log(seed), format!("log {seed}"));
        let (mut importer, mut written) = (importer(&thread()), Log::new());
        let mut so_far = Fold::new(thread());
        for line in lines(&entries, None) {
            importer.take(&line).unwrap();
            write(&mut importer, &mut written);
            let Some(append) = importer.flush() else {
                continue;
            };
            let Outcome::Appended(appended) = written.append(&append) else {
                panic!("{whose}: refused");
            };
            importer.appended(&appended);
            let folded = usize::try_from(so_far.head().get()).unwrap();
            let new = written.entries[folded..].iter();
            new.for_each(|entry| so_far.apply(entry));
            let active = so_far.registry().active();
            assert!(active.is_none_or(|run| run.is_dispatched), "{whose}");
        }
        importer.finish().unwrap();
        write(&mut importer, &mut written);
        assert_eq!(written.entries[..entries.len()], entries, "{whose}");
    }
}

#[test]
fn a_log_that_is_imported_is_the_one_that_was_exported() {
    let mut open = 0;
    for seed in 0..LOGS {
        let entries = log(seed);
        let whose = format!("log {seed}");
        let imported = import(&thread(), &lines(&entries, None))
            .unwrap_or_else(|error| panic!("{whose}: {error}"));
        assert_eq!(imported.entries[..entries.len()], entries, "{whose}");
        let (before, after) = (folded(&entries), fold_of(&imported, &thread()));
        match before.registry().active() {
            None => {
                assert_eq!(text(&after), text(&before), "{whose}");
                assert_eq!(
                    snapshot(after.conversation()),
                    snapshot(before.conversation()),
                    "{whose}"
                );
            }
            Some(active) => {
                open += 1;
                assert_eq!(after.registry().active(), None, "{whose}");
                let ended = after.registry().run(&active.id).unwrap();
                let is_stopped = matches!(ended.status, RunStatus::Error | RunStatus::Cancelled);
                assert!(is_stopped, "{whose}: {ended:?}");
                let code = ended
                    .failure
                    .as_ref()
                    .and_then(|failure| failure.code.as_deref());
                assert_eq!(code, Some("AGENT_LOST"), "{whose}");
                assert!(
                    after
                        .conversation()
                        .messages()
                        .eq(before.conversation().messages()),
                    "{whose}"
                );
            }
        }
    }
    assert!(open > 10, "only {open} runs were open");
}

#[test]
fn under_another_id_every_run_is_of_that_thread() {
    let other: ThreadId = "o\"ther".parse().unwrap();
    for seed in 0..LOGS {
        let entries = log(seed);
        let imported = import(&other, &lines(&entries, None)).unwrap();
        let (before, after) = (folded(&entries), fold_of(&imported, &other));
        assert!(
            after
                .conversation()
                .messages()
                .eq(before.conversation().messages()),
            "log {seed}"
        );
        assert_eq!(after.conversation().state(), before.conversation().state());
        let ids = |fold: &Fold| {
            fold.registry()
                .runs()
                .iter()
                .map(|run| run.id.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(&after), ids(&before), "log {seed}");
        let events = imported.events();
        let mut judge = StreamJudge::new();
        for json in &events {
            judge.take_logged(Event::read(json).unwrap()).unwrap();
            assert!(!json.contains(r#""threadId":"t""#), "{json}");
        }
    }
}

#[test]
fn a_trimmed_log_begins_as_a_fork_of_what_was_trimmed() {
    let mut cuts = 0;
    for seed in 0..LOGS {
        let entries = log(seed);
        let kept = Random::new(seed).below(entries.len()) as u64;
        let Some(cut) = cut(&entries, kept) else {
            continue;
        };
        cuts += 1;
        let whose = format!("log {seed} cut at {cut}");
        let base = folded(&entries[..cut]);
        let imported = import(&thread(), &lines(&entries[cut..], Some(&base)))
            .unwrap_or_else(|error| panic!("{whose}: {error}"));
        assert!(
            matches!(imported.facts()[0], Fact::ThreadForked(_)),
            "{whose}"
        );
        let (before, after) = (folded(&entries), fold_of(&imported, &thread()));
        let (held, expected) = (after.conversation(), before.conversation());
        assert!(held.messages().eq(expected.messages()), "{whose}");
        assert_eq!(held.state(), expected.state(), "{whose}");
        assert_eq!(
            held.pending_interrupts().len(),
            expected.pending_interrupts().len(),
            "{whose}"
        );
        let runs = before.registry().runs().iter();
        let kept: Vec<_> = runs
            .filter(|run| base.registry().run(&run.id).is_none())
            .collect();
        let found = after.registry().runs();
        assert_eq!(found.len(), kept.len(), "{whose}");
        for (found, expected) in found.iter().zip(kept) {
            assert_eq!(
                (&found.id, found.fingerprint),
                (&expected.id, expected.fingerprint)
            );
            if expected.ended.is_some() {
                assert_eq!(found.status, expected.status, "{whose}");
            }
        }
        if before.registry().active().is_none() {
            assert_eq!(
                held.pending_tool_calls(),
                expected.pending_tool_calls(),
                "{whose}"
            );
        }
    }
    assert!(cuts > LOGS / 4, "only {cuts} cuts");
}

#[test]
fn a_run_that_was_never_sent_asks_again() {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    world.play("r1", &[started("r1"), asks("r1", &[&interrupt("i")])]);
    world.accepts("ann", &resume("r1", "r2", "i:true"), "r2");
    let imported = import(&thread(), &lines(&world.log.entries, None)).unwrap();
    let fold = fold_of(&imported, &thread());
    assert!(fold.registry().interrupts().has_open());
    let r2 = fold.registry().run(&run_id("r2")).unwrap();
    assert_eq!(
        r2.failure.as_ref().unwrap().code.as_deref(),
        Some("AGENT_UNREACHED")
    );
}

#[test]
fn a_run_that_began_without_being_dispatched_is_lost() {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    world.play("r1", &[started("r1")]);
    let mut entries = world.log.entries;
    assert!(matches!(
        Fact::of(&entries.remove(1)),
        Some(Fact::RunDispatched(_))
    ));
    entries[1].seq = Seq::ZERO.next().next();
    let imported = import(&thread(), &lines(&entries, None)).unwrap();
    let fold = fold_of(&imported, &thread());
    let r1 = fold.registry().run(&run_id("r1")).unwrap();
    assert_eq!(
        r1.failure.as_ref().unwrap().code.as_deref(),
        Some("AGENT_LOST")
    );
}

/// Goal: whatever depth of a submission a hub takes, it exports and imports. Method: properties
/// up to the deepest that are taken, in a whole run.
#[test]
fn a_run_whose_submission_is_as_deep_as_it_may_be_is_imported() {
    for deep in 60..=63 {
        let value = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
        let mut world = World::new();
        let deep = format!(r#""forwardedProps":{value}"#);
        world.accepts("ann", &run("r1", &deep), "r1");
        world.play("r1", &[started("r1"), crate::world::finished("r1")]);
        let entries = &world.log.entries;
        let imported = import(&thread(), &lines(entries, None))
            .unwrap_or_else(|error| panic!("{deep}: {error}"));
        assert_eq!(imported.entries, *entries);
    }
}

/// Goal: no second log comes over the first. Method: an entry that no control entry precedes.
#[test]
fn a_log_begins_with_an_entry_that_touches_control() {
    let head = small().remove(0);
    let last = head.rfind("\"last\":").unwrap();
    let rest = head[last..].find(',').unwrap();
    let head = format!("{}\"last\":1{}", &head[..last], &head[last + rest..]);
    let entry = r#"{"seq":1,"at":1,"origin":"hub","event":{"type":"OF_LATER"}}"#;
    let told = import(&thread(), &[head, entry.into()]).unwrap_err();
    assert_eq!(
        told.to_string(),
        "line 2: entry 1: it is the first of the log and of class \
         Class { control: false, state: false }, expected one that touches control"
    );
}

/// Goal: a log is nobody else's while it is imported. Method: a cancel, which no lease guards, gets
/// in front of each append and of a beat.
#[test]
fn whoever_else_writes_control_ends_the_import() {
    let entries = lines(&log(3), None);
    let (mut importer, mut written) = (importer(&thread()), Log::new());
    entries.iter().for_each(|line| importer.take(line).unwrap());
    assert_eq!(importer.beat(), None, "nothing is there yet");
    importer.finish().unwrap();
    let first = importer.next_append().unwrap();
    let Outcome::Appended(appended) = written.append(&first) else {
        panic!("refused");
    };
    importer.appended(&appended);
    let beat = importer.beat().unwrap();
    assert!(matches!(written.append(&beat), Outcome::Appended(_)));

    let foreign = Append {
        may_create: false,
        guard: Guard {
            control: Some(written.meta.versions.control),
            ..Guard::default()
        },
        known: Position {
            epoch: appended.epoch,
            seq: appended.last,
        },
        lease: LeaseChange::Keep,
        entries: vec![first.entries[0].clone()],
        ..first
    };
    assert!(matches!(written.append(&foreign), Outcome::Appended(_)));
    for append in [beat, importer.next_append().unwrap()] {
        match written.append(&append) {
            Outcome::Refused(refused) => assert_eq!(refused.reason, RefusedReason::Conflict),
            Outcome::Appended(appended) => panic!("{appended:?}"),
        }
    }
}

#[test]
fn an_export_without_entries_makes_no_thread() {
    let log = import(&thread(), &lines(&[], None)).unwrap();
    assert!(log.entries.is_empty() && !log.meta.has_log());
}

/// The entries of a small thread, as lines.
fn small() -> Vec<String> {
    let mut world = World::new();
    world.accepts("ann", &run("r1", ""), "r1");
    let text = r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"hi"}"#.to_owned();
    world.play("r1", &[started("r1"), text, crate::world::finished("r1")]);
    lines(&world.log.entries, None)
}

#[track_caller]
fn refused(line: usize, from: &str, to: &str, expected: &str) {
    let mut lines = small();
    assert!(
        lines[line].contains(from),
        "{from} is not in {}",
        lines[line]
    );
    lines[line] = lines[line].replacen(from, to, 1);
    match import(&thread(), &lines) {
        Err(error) => assert_eq!(error.to_string(), expected),
        Ok(log) => panic!("{:?}", log.entries),
    }
}

#[test]
fn what_no_log_can_hold_is_refused() {
    let lines = small();
    assert!(import(&thread(), &lines).is_ok());
    let types: Vec<_> = lines
        .iter()
        .map(|line| line.contains("run.dispatched"))
        .collect();
    assert_eq!(types.iter().position(|is_it| *is_it), Some(2), "{lines:#?}");

    let private = "line 1: it was exported without the private parts of facts";
    refused(0, "\"private\":true", "\"private\":false", private);
    let class = "line 2: entry 1: its class is Class { control: false, state: false }, \
                 expected Class { control: true, state: false }";
    refused(1, "\"class\":[\"control\"],", "", class);
    let thread = "line 4: entry 3: it names thread `u`, expected `t`";
    refused(3, "\"threadId\":\"t\"", "\"threadId\":\"u\"", thread);
    let run = "line 4: entry 3: it belongs to run `r2`, expected run `r1`";
    refused(3, "\"run\":\"r1\"", "\"run\":\"r2\"", run);
    let none = "line 6: entry 5: it belongs to no run, expected run `r1`";
    refused(5, "\"run\":\"r1\",", "", none);
    let busy = "line 4: entry 3: run `r9` is accepted while run `r1` is active";
    refused(3, "\"runId\":\"r1\"", "\"runId\":\"r9\"", busy);
    let chunk = "line 5: entry 4: TEXT_MESSAGE_CHUNK is a chunk, which no log holds";
    refused(4, "TEXT_MESSAGE_START", "TEXT_MESSAGE_CHUNK", chunk);
    let illegal = "line 6: entry 5: message-not-open: \
                   TEXT_MESSAGE_CONTENT names text message `n`, which is not open";
    refused(5, "\"messageId\":\"m\"", "\"messageId\":\"n\"", illegal);
    let fact = "line 3: entry 2: fact has another shape than its type says";
    refused(2, "\"runId\"", "\"run\"", fact);
}

#[test]
fn a_run_that_comes_twice_is_refused() {
    let lines = small();
    let last = lines.len() as u64 - 1;
    let mut twice = lines.clone();
    twice[0] = lines[0].replace(
        &format!("\"last\":{last}"),
        &format!("\"last\":{}", last + 1),
    );
    twice.push(lines[1].replace("\"seq\":1,", &format!("\"seq\":{},", last + 1)));
    let error = import(&thread(), &twice).unwrap_err().to_string();
    assert!(error.ends_with("run `r1` is there already"), "{error}");
}

#[test]
fn a_trimmed_export_needs_a_checkpoint_that_fits() {
    let entries = log(1);
    let cut = cut(&entries, 0).unwrap();
    let base = folded(&entries[..cut]);
    let lines = lines(&entries[cut..], Some(&base));
    assert!(import(&thread(), &lines).is_ok());
    let mut head: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    let refused = |head: &serde_json::Value| {
        let lines = [&[head.to_string()], &lines[1..]].concat();
        import(&thread(), &lines).unwrap_err().to_string()
    };
    let inside = folded(&entries[..cut - 1]);
    head["checkpoint"] = String::from_utf8(inside.to_checkpoint()).unwrap().into();
    let told = refused(&head);
    assert!(
        told.contains(&format!("the checkpoint ends at entry {}", cut - 1)),
        "{told}"
    );
    head["checkpoint"] = "of old".into();
    assert!(refused(&head).contains("the checkpoint cannot be read"));
    head.as_object_mut().unwrap().remove("checkpoint");
    assert!(refused(&head).contains("there is no checkpoint of what comes before"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn whatever_is_taken_can_be_used(
        seed in 0_u64..60,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_usize..5), 1..3),
    ) {
        let mut lines = lines(&log(seed), None);
        for (line, at, kind) in edits {
            let line = line.index(lines.len());
            match kind {
                0 => drop(lines.remove(line)),
                1 => lines.insert(line, lines[line].clone()),
                2 => {
                    let other = at.index(lines.len());
                    lines.swap(line, other);
                }
                _ => {
                    let mut chars: Vec<char> = lines[line].chars().collect();
                    if !chars.is_empty() {
                        let at = at.index(chars.len());
                        chars[at] = ['1', '}', 'r', '"'][line % 4];
                    }
                    lines[line] = chars.into_iter().collect();
                }
            }
            if lines.is_empty() {
                break;
            }
        }
        if let Ok(log) = import(&thread(), &lines) {
            let mut judge = StreamJudge::new();
            for entry in &log.entries {
                if let Body::Event { json, .. } = &entry.record.body {
                    judge.take_logged(Event::read(json.as_str()).unwrap()).unwrap();
                }
            }
            drop(snapshot(fold_of(&log, &thread()).conversation()));
        }
    }
}

#[test]
fn entries_keep_when_and_whence() {
    let entries = log(5);
    let imported = import(&"o".parse().unwrap(), &lines(&entries, None)).unwrap();
    let told = |entry: &Entry| {
        (
            entry.record.at,
            entry.record.origin.clone(),
            entry.record.run.clone(),
        )
    };
    assert!(
        entries
            .iter()
            .map(told)
            .eq(imported.entries[..entries.len()].iter().map(told))
    );
}

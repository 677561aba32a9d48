//! A fold that was written and read again goes on as if nothing had happened.

use proptest::prelude::*;
use serde_json::json;
use threadcast_agui::event::Event;
use threadcast_run_registry::checkpoint::{CheckpointError, FOLD_VERSION};
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::histories::{Random, log};
use threadcast_run_registry::snapshot::{snapshot, snapshot_for_older};
use threadcast_thread_log::entry::{Body, Entry};
use threadcast_thread_log::position::Epoch;

use crate::support::{fixtures, messages};
use crate::world::thread;

/// Generated logs that are restored behind every entry.
const LOGS: u64 = 150;

fn epoch() -> Epoch {
    Epoch::new("log.one")
}

fn folded(entries: &[Entry]) -> Fold {
    let mut fold = Fold::new(thread());
    fold.enter_epoch(epoch());
    go_on(&mut fold, entries);
    fold
}

fn go_on(fold: &mut Fold, entries: &[Entry]) {
    entries.iter().for_each(|entry| fold.apply(entry));
}

fn read(bytes: &[u8]) -> Result<Fold, CheckpointError> {
    Fold::from_checkpoint(thread(), epoch(), bytes)
}

fn text(fold: &Fold) -> String {
    String::from_utf8(fold.to_checkpoint()).unwrap()
}

#[track_caller]
fn restored(fold: &Fold, whose: &str) -> Fold {
    let bytes = fold.to_checkpoint();
    let restored = read(&bytes).unwrap_or_else(|error| {
        panic!("{whose}: {error}\n{}", String::from_utf8_lossy(&bytes));
    });
    assert_same(&restored, fold, whose);
    restored
}

/// Everything that can be seen of a fold, and what it writes.
#[track_caller]
fn assert_same(found: &Fold, expected: &Fold, whose: &str) {
    assert_eq!(found.thread(), expected.thread(), "{whose}");
    assert_eq!(found.position(), expected.position(), "{whose}");
    assert_eq!(found.versions(), expected.versions(), "{whose}");
    assert_eq!(found.lanes(), expected.lanes(), "{whose}");
    assert_conversation(found, expected, whose);
    assert_registry(found, expected, whose);
    assert_eq!(text(found), text(expected), "{whose}");
}

#[track_caller]
fn assert_conversation(found: &Fold, expected: &Fold, whose: &str) {
    let (found, expected) = (found.conversation(), expected.conversation());
    assert!(found.messages().eq(expected.messages()), "{whose}");
    assert_eq!(found.messages_bytes(), expected.messages_bytes(), "{whose}");
    assert_eq!(found.state(), expected.state(), "{whose}");
    assert_eq!(found.state_bytes(), expected.state_bytes(), "{whose}");
    let pending = expected.pending_tool_calls();
    assert_eq!(found.pending_tool_calls(), pending, "{whose}");
    let pending = expected.pending_interrupts();
    assert_eq!(found.pending_interrupts(), pending, "{whose}");
    assert_eq!(found.verifier(), expected.verifier(), "{whose}");
    assert_eq!(snapshot(found), snapshot(expected), "{whose}");
    let older = snapshot_for_older(expected);
    assert_eq!(snapshot_for_older(found), older, "{whose}");
}

#[track_caller]
fn assert_registry(found: &Fold, expected: &Fold, whose: &str) {
    let (found, expected) = (found.registry(), expected.registry());
    assert_eq!(found.runs(), expected.runs(), "{whose}");
    assert_eq!(found.active(), expected.active(), "{whose}");
    let (found, expected) = (found.interrupts(), expected.interrupts());
    assert_eq!(found.latest_run(), expected.latest_run(), "{whose}");
    assert_eq!(found.latest(), expected.latest(), "{whose}");
    assert!(found.open().eq(expected.open()), "{whose}");
}

/// Whether `events`, each by itself, would be taken next.
fn verdicts(fold: &Fold, events: &[Event]) -> Vec<String> {
    let judge = |event: &Event| {
        let expected = crate::support::expected(event, fold.conversation());
        let verdict = fold.conversation().verifier().judge(event, &expected);
        format!("{verdict:?}")
    };
    events.iter().map(judge).collect()
}

#[test]
fn a_fold_that_is_restored_behind_every_entry_is_the_uncut_one() {
    let mut cuts = 0;
    for seed in 0..LOGS {
        let entries = log(seed);
        let mut uncut = Fold::new(thread());
        uncut.enter_epoch(epoch());
        let mut resumed = restored(&uncut, "the empty fold");
        for entry in &entries {
            uncut.apply(entry);
            resumed.apply(entry);
            let whose = format!("log {seed} behind {}", entry.seq);
            resumed = read(&resumed.to_checkpoint()).unwrap();
            assert_eq!(text(&resumed), text(&uncut), "{whose}");
            // All that can be seen of it takes its time.
            if cuts % 8 == 0 {
                assert_same(&resumed, &uncut, &whose);
            }
            cuts += 1;
        }
    }
    assert!(cuts > 20 * LOGS, "only {cuts} cuts");
}

#[test]
fn what_follows_a_cut_ends_as_without_it() {
    let mut events = 0;
    for seed in 0..LOGS {
        let entries = log(seed);
        let mut random = Random::new(seed);
        let uncut = folded(&entries);
        let next: Vec<_> = entries.iter().filter_map(event).collect();
        for _ in 0..4 {
            let cut = random.below(entries.len() + 1);
            let whose = format!("log {seed} cut at {cut}");
            let before = folded(&entries[..cut]);
            let mut resumed = restored(&before, &whose);
            let expected = verdicts(&before, &next);
            assert_eq!(verdicts(&resumed, &next), expected, "{whose}");
            events += next.len();
            go_on(&mut resumed, &entries[cut..]);
            assert_same(&resumed, &uncut, &whose);
        }
    }
    assert!(events > 0);
}

fn event(entry: &Entry) -> Option<Event> {
    match &entry.record.body {
        Body::Event { json, .. } => Event::from_raw(json.clone()).ok(),
        Body::Fact { .. } => None,
    }
}

/// A fold with a bit of everything: an open run with lanes, answers, a cancel request.
fn full() -> Fold {
    let seed = 2;
    folded(&log(seed))
}

#[track_caller]
fn assert_unreadable(bytes: &[u8], what: &str) {
    match read(bytes) {
        Err(CheckpointError::Unreadable { .. }) => {}
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn damage_is_found() {
    let bytes = full().to_checkpoint();
    for at in 0..bytes.len() {
        assert_unreadable(&bytes[..at], &format!("cut at {at}"));
        for bit in [0x01, 0x20, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= bit;
            assert_unreadable(&damaged, &format!("byte {at} with bit {bit:#x}"));
        }
    }
    assert_unreadable(
        &[bytes.clone(), b"\n{}".to_vec()].concat(),
        "more behind it",
    );
    assert_unreadable(b"", "nothing");
}

/// Bytes as a program would have written them that made this of a fold.
fn sealed(version: u32, body: &str) -> Vec<u8> {
    let sealed = format!(" {version}\n{body}");
    let hash = xxhash_rust::xxh3::xxh3_64(sealed.as_bytes());
    format!("threadcast-fold {hash:016x}{sealed}").into_bytes()
}

fn body(fold: &Fold) -> String {
    let text = String::from_utf8(fold.to_checkpoint()).unwrap();
    text.split_once('\n').unwrap().1.to_owned()
}

#[test]
fn a_later_version_is_told_apart_from_damage() {
    let body = body(&full());
    let later = FOLD_VERSION + 1;
    let newer = CheckpointError::Newer {
        found: later,
        known: FOLD_VERSION,
    };
    assert_eq!(read(&sealed(later, "of another form")).unwrap_err(), newer);
    assert!(newer.to_string().contains(&later.to_string()));
    assert_eq!(
        read(&sealed(FOLD_VERSION, &body)).unwrap().to_checkpoint(),
        full().to_checkpoint()
    );
    assert_unreadable(&sealed(0, &body), "version 0");
}

/// Whatever a reader takes can be used.
fn use_if_read(body: &str, rest: &[Entry]) -> bool {
    let Ok(mut fold) = read(&sealed(FOLD_VERSION, body)) else {
        return false;
    };
    drop(snapshot(fold.conversation()));
    drop(snapshot_for_older(fold.conversation()));
    for entry in rest {
        let entry = Entry {
            seq: fold.head().next(),
            ..entry.clone()
        };
        fold.apply(&entry);
    }
    drop(fold.conversation().pending_tool_calls());
    assert_same(&restored(&fold, body), &fold, body);
    true
}

const OTHERS: [&str; 9] = ["0", "9", "\"", "\\", "{", "]", "a", "\n", ""];

/// As if the seal had been made for it.
#[test]
fn what_is_sealed_and_damaged_is_refused_or_can_be_used() {
    let entries = log(2);
    let cut = entries.len() * 2 / 3;
    let (before, rest) = entries.split_at(cut);
    let whole = body(&folded(before));
    assert!(use_if_read(&whole, rest));
    let mut random = Random::new(2);
    let mut used = 0;
    for at in (0..whole.len()).filter(|at| whole.is_char_boundary(*at)) {
        used += usize::from(use_if_read(&whole[..at], rest));
        for other in [random.pick(&OTHERS), random.pick(&OTHERS)] {
            let behind = whole[at..].chars().next().unwrap().len_utf8();
            let damaged = format!("{}{other}{}", &whole[..at], &whole[at + behind..]);
            used += usize::from(use_if_read(&damaged, rest));
        }
    }
    assert!(used > 100, "only {used} could be read");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn large_damage_is_refused_or_can_be_used(
        seed in 0_u64..60,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_usize..3), 1..4),
    ) {
        let entries = log(seed);
        let (before, rest) = entries.split_at(entries.len() / 2);
        let mut chars: Vec<char> = body(&folded(before)).chars().collect();
        for (from, to, kind) in edits {
            let (from, to) = (from.index(chars.len()), to.index(chars.len()));
            let (from, to) = (from.min(to), from.max(to));
            match kind {
                0 => drop(chars.drain(from..to)),
                1 => {
                    let again: Vec<char> = chars[from..to].to_vec();
                    chars.splice(to..to, again);
                }
                _ => chars.swap(from, to),
            }
            if chars.is_empty() {
                break;
            }
        }
        let damaged: String = chars.into_iter().collect();
        use_if_read(&damaged, rest);
    }
}

#[test]
fn what_a_checkpoint_must_not_say_is_told() {
    let whole = body(&full());
    let say = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from} is not in {whole}");
        let damaged = whole.replacen(from, to, 1);
        match read(&sealed(FOLD_VERSION, &damaged)) {
            Err(CheckpointError::Unreadable { reason }) => reason,
            other => panic!("{from} to {to}: {other:?}"),
        }
    };
    let count = format!("\"messages\":{}", full().conversation().messages().count());
    assert!(say(&count, "\"messages\":1000000000000000000").contains("messages are there"));
    let seq = format!("\"seq\":{}", full().head());
    assert!(say(&seq, "\"seq\":1").contains("beyond its head"));
    assert!(say(&seq, "\"seq\":9007199254740992").contains("beyond its head"));
    assert!(say("],\"active\":", "],\"active\":1").contains("active one is none"));
}

fn golden(name: &str) -> std::path::PathBuf {
    fixtures::folder("checkpoints").join(name)
}

/// What its file says of the fold that is stored in it.
fn told(fold: &Fold) -> String {
    let conversation = fold.conversation();
    let interrupts = conversation.pending_interrupts().iter();
    let runs = fold.registry().runs().iter();
    let open = fold.registry().interrupts().open();
    let told = json!({
        "seq": fold.head(),
        "versions": fold.versions(),
        "messages": messages(conversation),
        "state": conversation.state(),
        "pendingInterrupts": interrupts.map(|one| one.json.to_value().unwrap()).collect::<Vec<_>>(),
        "pendingToolCalls": conversation.pending_tool_calls(),
        "runs": runs.map(|run| json!({"runId": run.id, "status": run.status})).collect::<Vec<_>>(),
        "openInterrupts": open.map(|raised| raised.interrupt.id.clone()).collect::<Vec<_>>(),
        "openRun": conversation.verifier().active_run(),
    });
    serde_json::to_string_pretty(&told).unwrap() + "\n"
}

/// Written once by the program of version 1, and never again.
#[test]
fn checkpoints_of_version_1_are_read() {
    let bytes = std::fs::read(golden("1.checkpoint")).unwrap();
    let fold = read(&bytes).unwrap();
    fixtures::check(&golden("1.fold.json"), &told(&fold));
    if FOLD_VERSION == 1 {
        assert_eq!(fold.to_checkpoint(), bytes);
    }
}

//! A power cut tears the end of the journal. Goal: the log is as it was after some step, no
//! earlier than the last whose batches are untouched; nothing panics. Method: the journal of a
//! copied directory is cut, overwritten with zeros or with noise from many places on, and the
//! state after each step is remembered with the journal's length.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use threadcast_agui::ids::ThreadId;
use threadcast_disk_log::{DiskEngine, DiskOptions, OpenError};
use threadcast_thread_log::conformance::requests::large;
use threadcast_thread_log::engine::{Append, Checkpoint, Durability, Engine};
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::work::bucket_of;

use crate::support::{
    Found, append, copy, found, journal, open_plain, record, some, template, thread,
};

#[derive(Debug, PartialEq)]
struct State {
    threads: Vec<Found>,
    work: usize,
}

fn ids() -> [ThreadId; 2] {
    [thread("th_1"), thread("th_2")]
}

async fn state(engine: &DiskEngine) -> State {
    let mut threads = Vec::new();
    for id in ids() {
        threads.push(found(engine, &id).await);
    }
    let bucket = bucket_of(&ids()[0]);
    let work = engine.work(bucket, Millis(u64::MAX), 9).await.unwrap();
    State {
        threads,
        work: work.len(),
    }
}

/// Plays a history; tells the journal's length and the state after each of its steps.
async fn history(directory: &Path) -> Vec<(u64, State)> {
    copy(template().path(), directory);
    let engine = open_plain(directory);
    let [one, two] = ids();
    let length = || fs::metadata(journal(directory)).unwrap().len();
    let mut states = vec![(length(), state(&engine).await)];
    for step in 0..14 {
        let held = |id, count| append(&engine, some(id, count, Durability::Held));
        match step {
            3 => engine.set_work(&one, Millis(5)).await.unwrap(),
            5 | 11 => {
                let head = engine.head(&one).await.unwrap();
                let checkpoint = Checkpoint {
                    seq: head.seq,
                    epoch: head.epochs[0].0.clone(),
                    bytes: vec![9; 3000],
                };
                engine.save_checkpoint(&one, checkpoint).await.unwrap();
            }
            8 => {
                let long = Append {
                    entries: vec![large(20_000)],
                    ..some(&one, 0, Durability::Held)
                };
                append(&engine, long).await.unwrap();
            }
            9 => engine.clear_work(&one, Millis(5)).await.unwrap(),
            _ => drop(
                held(if step % 3 == 0 { &two } else { &one }, step % 4 + 1)
                    .await
                    .unwrap(),
            ),
        }
        states.push((length(), state(&engine).await));
    }
    engine.close();
    states
}

#[derive(Clone, Copy, Debug)]
enum Tear {
    /// The file ends there.
    Cut,
    /// What follows never reached the disk.
    Zeros,
    /// A block did not reach the disk, what follows did.
    Hole,
    /// What follows is of something else.
    Noise,
}

/// Damages a copy of the journal; tells the first byte that is another.
fn damage(journal: &Path, at: u64, tear: Tear) -> u64 {
    let before = fs::read(journal).unwrap();
    let place = usize::try_from(at).unwrap();
    let mut after = before.clone();
    match tear {
        Tear::Cut => after.truncate(place),
        Tear::Zeros => after[place..].fill(0),
        Tear::Hole => {
            let end = before.len().min(place + 512);
            after[place..end].fill(0);
        }
        Tear::Noise => {
            for (number, byte) in after[place..].iter_mut().enumerate() {
                *byte = (number * 31 + place) as u8 | 0x80;
            }
        }
    }
    let mut file = fs::OpenOptions::new().write(true).open(journal).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(&after).unwrap();
    file.set_len(after.len() as u64).unwrap();
    let same = before
        .iter()
        .zip(&after)
        .take_while(|(one, other)| one == other);
    same.count() as u64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stands_before_a_tear_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let states = history(directory.path()).await;
    let end = states.last().unwrap().0;
    let begin = states[0].0;
    let boundaries = states
        .iter()
        .flat_map(|(at, _)| [*at, at + 1, at.saturating_sub(1), at + 14]);
    let others = (0..40).map(|number| begin + (end - begin) * number / 40);
    for (number, at) in boundaries.chain(others).enumerate() {
        let at = at.clamp(begin, end);
        let tear = [Tear::Cut, Tear::Zeros, Tear::Hole, Tear::Noise][number % 4];
        let torn = tempfile::tempdir().unwrap();
        copy(directory.path(), torn.path());
        // It was not on the disk yet, as anything that stands behind a tear.
        fs::remove_file(record(torn.path())).unwrap();
        let damaged = damage(&journal(torn.path()), at, tear);
        let last_whole = states.iter().rfind(|(length, _)| *length <= damaged);
        let (_, expected) = last_whole.unwrap();
        let engine = open_plain(torn.path());
        let is = state(&engine).await;
        assert!(
            is == *expected,
            "{tear:?} at {at}: {is:#?}\nexpected {expected:#?}"
        );
        // And the log goes on from there.
        let [one, _] = ids();
        append(&engine, some(&one, 2, Durability::Durable))
            .await
            .unwrap();
        let is = state(&engine).await;
        engine.close();
        let engine = open_plain(torn.path());
        let again = state(&engine).await;
        assert!(
            is == again,
            "{tear:?} at {at}: after going on {is:#?}\nand reopened {again:#?}"
        );
    }
}

/// Damages the journal in the middle, with what is recorded of its syncs as `record` makes it.
async fn open_damaged(
    make_record: impl FnOnce(&Path),
) -> (u64, u64, Result<DiskEngine, OpenError>) {
    let directory = tempfile::tempdir().unwrap();
    let states = history(directory.path()).await;
    let (begin, end) = (states[0].0, states.last().unwrap().0);
    make_record(&record(directory.path()));
    let at = damage(&journal(directory.path()), (begin + end) / 2, Tear::Hole);
    let opened = DiskEngine::open(directory.path(), &DiskOptions::default());
    (at, end, opened)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_in_what_was_synced_is_told_not_cut() {
    let (damaged, end, opened) = open_damaged(|_| {}).await;
    let error = opened.unwrap_err();
    let told = error.to_string();
    let OpenError::Lost { at, synced, .. } = error else {
        panic!("{told}");
    };
    assert!(at <= damaged && synced == end, "{told}: {damaged} of {end}");
    assert!(
        told.contains(&at.to_string()) && told.contains(&synced.to_string()),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_is_cut_where_nothing_is_known_of_the_syncs() {
    let lost = |record: &Path| fs::remove_file(record).unwrap();
    let garbled = |record: &Path| {
        let mut line = fs::read(record).unwrap();
        line[25] ^= 1;
        fs::write(record, line).unwrap();
    };
    for opened in [open_damaged(lost).await.2, open_damaged(garbled).await.2] {
        opened.unwrap().close();
    }
}

/// What stands before the last journal was synced before that one was begun: a hole in it is no
/// tear.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_in_an_older_journal_is_told_not_skipped() {
    let directory = tempfile::tempdir().unwrap();
    history(directory.path()).await;
    let older = journal(directory.path());
    fs::copy(&older, older.with_file_name("9999.jnl")).unwrap();
    fs::write(journal(directory.path()), []).unwrap();
    // It is of the last journal only.
    fs::remove_file(record(directory.path())).unwrap();
    let length = fs::metadata(&older).unwrap().len();
    damage(&older, length / 2, Tear::Hole);
    let error = DiskEngine::open(directory.path(), &DiskOptions::default()).unwrap_err();
    assert!(
        matches!(&error, OpenError::Damaged { journal, .. } if *journal == older),
        "{error}"
    );
}

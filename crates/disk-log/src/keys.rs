//! Every key of a database, on one screen.
//!
//! ```text
//! heads         id                                        where the log stands (hot)
//! threads       id                                        its life, epochs and record (cold)
//! entries       id 00 life seq                            class, record
//! checkpoints   'h' id 00 life seq                        epoch, length, where its parts are
//!               'p' id 00 life seq save part              bytes of a checkpoint
//! chores        't' bucket due id                         work, by time
//!               'i' id                                    work, by thread: due
//!               'd' id 00 life                            dropped, but not removed yet: through
//!               'g'                                       bytes that were given back last
//! ```
//!
//! Numbers are big endian, so that keys sort as they do. Ids have no control characters, so `00`
//! ends one, and no id's keys stand between another's. `life` counts the logs that a thread has
//! had: what a deletion leaves to be removed is never taken for the log that came after it.

use std::ops::RangeInclusive;

use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Seq;

/// Which of a thread's logs, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Life(pub(crate) u32);

const CHECKPOINT: u8 = b'h';
const PART: u8 = b'p';
const WORK_BY_TIME: u8 = b't';
const WORK_BY_THREAD: u8 = b'i';
const DROPPED: u8 = b'd';
const GIVEN_BACK: u8 = b'g';

/// Of the keyspaces that have one line a thread.
pub(crate) fn thread(id: &ThreadId) -> &[u8] {
    id.as_str().as_bytes()
}

/// The thread of [`thread`].
pub(crate) fn thread_of(key: &[u8]) -> Option<ThreadId> {
    ThreadId::new(std::str::from_utf8(key).ok()?).ok()
}

pub(crate) fn entry(id: &ThreadId, life: Life, seq: Seq) -> Vec<u8> {
    numbered(&[], id, life, &seq.get().to_be_bytes())
}

/// The entries from `first` through `last`.
pub(crate) fn entries(id: &ThreadId, life: Life, first: Seq, last: Seq) -> RangeInclusive<Vec<u8>> {
    entry(id, life, first)..=entry(id, life, last)
}

/// The seq of an [`entry`], or of a [`checkpoint`].
pub(crate) fn seq_of(key: &[u8]) -> Option<Seq> {
    let (_, seq) = key.split_last_chunk()?;
    Seq::new(u64::from_be_bytes(*seq))
}

pub(crate) fn checkpoint(id: &ThreadId, life: Life, seq: Seq) -> Vec<u8> {
    numbered(&[CHECKPOINT], id, life, &seq.get().to_be_bytes())
}

/// The checkpoints at and before `through`.
pub(crate) fn checkpoints(id: &ThreadId, life: Life, through: Seq) -> RangeInclusive<Vec<u8>> {
    checkpoint(id, life, Seq::ZERO)..=checkpoint(id, life, through)
}

pub(crate) fn part(id: &ThreadId, life: Life, seq: Seq, save: u64, part: u32) -> Vec<u8> {
    let mut key = numbered(&[PART], id, life, &seq.get().to_be_bytes());
    key.extend_from_slice(&save.to_be_bytes());
    key.extend_from_slice(&part.to_be_bytes());
    key
}

/// The parts of one checkpoint.
pub(crate) fn parts(id: &ThreadId, life: Life, seq: Seq, save: u64) -> RangeInclusive<Vec<u8>> {
    part(id, life, seq, save, 0)..=part(id, life, seq, save, u32::MAX)
}

/// The parts of every checkpoint at and before `through`, of those too that were never finished.
pub(crate) fn parts_through(id: &ThreadId, life: Life, through: Seq) -> RangeInclusive<Vec<u8>> {
    part(id, life, Seq::ZERO, 0, 0)..=part(id, life, through, u64::MAX, u32::MAX)
}

pub(crate) fn work_by_time(bucket: u8, due: Millis, id: &ThreadId) -> Vec<u8> {
    let mut key = vec![WORK_BY_TIME, bucket];
    key.extend_from_slice(&due.0.to_be_bytes());
    key.extend_from_slice(thread(id));
    key
}

/// The work of a bucket that is due at `until`, for a range that ends before its end.
pub(crate) fn work_until(bucket: u8, until: Millis) -> (Vec<u8>, Vec<u8>) {
    let mut first = vec![WORK_BY_TIME, bucket];
    let mut end = first.clone();
    first.extend_from_slice(&[0; 8]);
    end.extend_from_slice(&until.0.to_be_bytes());
    // Behind every id: no UTF-8 begins with it.
    end.push(0xff);
    (first, end)
}

/// Time and thread of [`work_by_time`].
pub(crate) fn work_of(key: &[u8]) -> Option<(Millis, ThreadId)> {
    let (due, id) = key.get(2..)?.split_first_chunk()?;
    Some((Millis(u64::from_be_bytes(*due)), thread_of(id)?))
}

pub(crate) fn work_by_thread(id: &ThreadId) -> Vec<u8> {
    tagged(WORK_BY_THREAD, id)
}

pub(crate) fn dropped(id: &ThreadId, life: Life) -> Vec<u8> {
    numbered(&[DROPPED], id, life, &[])
}

/// Everything that was dropped and is not removed yet.
pub(crate) fn all_dropped() -> [u8; 1] {
    [DROPPED]
}

/// Thread and life of [`dropped`].
pub(crate) fn dropped_of(key: &[u8]) -> Option<(ThreadId, Life)> {
    let (id, life) = key.get(1..)?.split_last_chunk()?;
    let id = thread_of(id.strip_suffix(&[0])?)?;
    Some((id, Life(u32::from_be_bytes(*life))))
}

pub(crate) fn given_back() -> [u8; 1] {
    [GIVEN_BACK]
}

fn tagged(tag: u8, id: &ThreadId) -> Vec<u8> {
    let mut key = vec![tag];
    key.extend_from_slice(thread(id));
    key
}

fn numbered(tag: &[u8], id: &ThreadId, life: Life, number: &[u8]) -> Vec<u8> {
    let id = thread(id);
    let mut key = Vec::with_capacity(tag.len() + id.len() + 1 + 4 + number.len() + 12);
    key.extend_from_slice(tag);
    key.extend_from_slice(id);
    key.push(0);
    key.extend_from_slice(&life.0.to_be_bytes());
    key.extend_from_slice(number);
    key
}

#[cfg(test)]
mod tests;

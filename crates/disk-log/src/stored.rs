//! Metas and entries as bytes.
//!
//! A [`Meta`] is stored in two values: what every append changes, and what few do (epochs and
//! record may be thousands of bytes). Both are written in one batch.
//!
//! Invariant: the two values of a thread name the same life.

use std::sync::Arc;

use threadcast_thread_log::codec;
use threadcast_thread_log::engine::Versions;
use threadcast_thread_log::entry::{Entry, NewEntry};
use threadcast_thread_log::lease::{LeaseToken, NodeId};
use threadcast_thread_log::meta::{Holder, Incarnation, LogId, LogState, Meta};
use threadcast_thread_log::position::{Epoch, Seq};

use crate::keys::Life;

use bytes::{Reader, put_bytes, put_number, put_present};

mod bytes;

/// A thread's meta and which of its logs it is of; 0 before the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stored {
    pub(crate) life: Life,
    pub(crate) meta: Meta,
}

/// Why stored bytes cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Damage {
    #[error("the value ends too early")]
    Short,
    #[error("the value goes on after its end")]
    Long,
    #[error("a text is not UTF-8")]
    Text(#[from] std::str::Utf8Error),
    #[error("{0} is no {1}")]
    Number(u64, &'static str),
    #[error("one value is of life {hot}, the other of life {cold}")]
    Lives { hot: u32, cold: u32 },
    #[error("one of the thread's two values is missing")]
    Half,
    #[error("a key cannot be read")]
    Key,
    #[error("the next entry that is there is {0}")]
    Gap(u64),
    #[error("neither it nor an entry behind it is there")]
    Missing,
    #[error("{found} of {expected} bytes are there")]
    Length { found: u64, expected: u64 },
    #[error(transparent)]
    Record(#[from] codec::CodecError),
}

/// What every append changes.
pub(crate) fn hot(stored: &Stored) -> Vec<u8> {
    let meta = &stored.meta;
    let mut to = Vec::with_capacity(144);
    to.extend_from_slice(&stored.life.0.to_le_bytes());
    for number in [
        meta.head.get(),
        meta.first.get(),
        meta.versions.control.get(),
        meta.versions.state.get(),
        meta.beat,
        meta.source,
    ] {
        put_number(&mut to, number);
    }
    put_present(&mut to, meta.holder.as_ref(), |to, holder| {
        put_bytes(to, holder.token.0.as_bytes());
        put_bytes(to, holder.node.0.as_bytes());
    });
    to
}

/// What few appends change.
pub(crate) fn cold(stored: &Stored) -> Vec<u8> {
    let meta = &stored.meta;
    let mut to = Vec::with_capacity(256);
    to.extend_from_slice(&stored.life.0.to_le_bytes());
    match &meta.log {
        LogState::None => to.push(0),
        LogState::Live(log) => {
            to.push(1);
            put_bytes(&mut to, log.0.as_bytes());
        }
        LogState::Gone => to.push(2),
    }
    put_present(&mut to, meta.incarnation.as_ref(), |to, incarnation| {
        put_bytes(to, incarnation.0.as_bytes());
    });
    put_number(&mut to, meta.epochs.len() as u64);
    for (epoch, first) in &meta.epochs {
        put_bytes(&mut to, epoch.as_str().as_bytes());
        put_number(&mut to, first.get());
    }
    put_present(&mut to, meta.record.as_ref(), |to, record| {
        put_bytes(to, record);
    });
    to
}

/// Whether [`cold`] would be other bytes.
pub(crate) fn is_cold_changed(before: &Stored, after: &Stored) -> bool {
    let (old, new) = (&before.meta, &after.meta);
    before.life != after.life
        || old.log != new.log
        || old.incarnation != new.incarnation
        || old.epochs != new.epochs
        || old.record != new.record
}

/// The meta of [`hot`] and [`cold`].
pub(crate) fn read(hot: &[u8], cold: &[u8]) -> Result<Stored, Damage> {
    let mut hot = Reader(hot);
    let mut cold = Reader(cold);
    let (life, other) = (hot.short()?, cold.short()?);
    if life != other {
        return Err(Damage::Lives {
            hot: life,
            cold: other,
        });
    }
    let meta = Meta {
        head: hot.seq()?,
        first: hot.seq()?,
        versions: Versions {
            control: hot.seq()?,
            state: hot.seq()?,
        },
        beat: hot.number()?,
        source: hot.number()?,
        holder: hot.present(|hot| {
            Ok(Holder {
                token: LeaseToken(hot.text()?),
                node: NodeId(hot.text()?),
            })
        })?,
        log: match cold.byte()? {
            0 => LogState::None,
            1 => LogState::Live(LogId(cold.text()?)),
            2 => LogState::Gone,
            other => return Err(Damage::Number(other.into(), "state of a log")),
        },
        incarnation: cold.present(|cold| Ok(Incarnation(cold.text()?)))?,
        epochs: cold.epochs()?,
        record: cold.present(|cold| Ok(cold.bytes()?.to_vec()))?,
    };
    hot.end()?;
    cold.end()?;
    Ok(Stored {
        life: Life(life),
        meta,
    })
}

/// An entry without its seq, which its key tells.
pub(crate) fn entry(new: &NewEntry) -> Vec<u8> {
    let mut to = codec::encode(&new.record);
    to.push(codec::class_bits(new.class));
    to
}

/// The entry of [`entry`].
pub(crate) fn read_entry(seq: Seq, bytes: &[u8]) -> Result<Entry, Damage> {
    let (class, record) = bytes.split_last().ok_or(Damage::Short)?;
    let class =
        codec::class_of_bits(*class).ok_or_else(|| Damage::Number((*class).into(), "class"))?;
    Ok(Entry {
        seq,
        class,
        record: Arc::new(codec::decode(record)?),
    })
}

/// What is kept of a checkpoint beside its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckpointHead {
    pub(crate) epoch: Epoch,
    /// Names its parts: another save at the same seq has others.
    pub(crate) save: u64,
    /// Of all parts together, in bytes.
    pub(crate) length: u64,
}

pub(crate) fn checkpoint_head(head: &CheckpointHead) -> Vec<u8> {
    let mut to = Vec::with_capacity(64);
    put_number(&mut to, head.save);
    put_number(&mut to, head.length);
    put_bytes(&mut to, head.epoch.as_str().as_bytes());
    to
}

pub(crate) fn read_checkpoint_head(bytes: &[u8]) -> Result<CheckpointHead, Damage> {
    let mut from = Reader(bytes);
    let head = CheckpointHead {
        save: from.number()?,
        length: from.number()?,
        epoch: Epoch::new(from.text()?),
    };
    from.end()?;
    Ok(head)
}

/// A number that stands alone: a time, a seq.
pub(crate) fn number(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

pub(crate) fn read_number(bytes: &[u8]) -> Result<u64, Damage> {
    let mut from = Reader(bytes);
    let number = from.number()?;
    from.end()?;
    Ok(number)
}

#[cfg(test)]
mod tests;

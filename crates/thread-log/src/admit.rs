//! Whether an append is admitted, and what it then writes: the one decision that all engines share.
//!
//! Pure: no clock, no randomness, no storage; an engine calls it while nothing else can write the
//! thread, and makes what comes out happen at once. The order of the checks is part of the
//! contract: engines that decide elsewhere (in a script beside the data) give the same reason for
//! the same request.

use crate::engine::{
    Append, Appended, EPOCHS_MAX, RECORD_BYTES_MAX, RefusedReason, ThreadRecord, Versions,
};
use crate::entry::Entry;
use crate::error::EngineError;
use crate::lease::{LeaseChange, SeizedSource};
use crate::meta::{Holder, Incarnation, LogId, LogState, Meta};
use crate::position::Seq;

/// What an admitted append writes, all at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Writes {
    pub meta: Meta,
    /// Whether a log begins: whatever the engine still finds of an earlier one is to be dropped.
    pub begins: bool,
    pub entries: Vec<Entry>,
    pub appended: Appended,
}

/// Checks what does not depend on the thread; engines ask it before anything else.
///
/// # Errors
/// The record is too long.
pub fn check_record(append: &Append) -> Result<(), EngineError> {
    append.record.as_ref().map_or(Ok(()), check_length)
}

/// Checks the length of a record, or of a deletion's note; engines ask it before anything else.
///
/// # Errors
/// It is too long.
pub fn check_length(record: &ThreadRecord) -> Result<(), EngineError> {
    if record.len() > RECORD_BYTES_MAX {
        return Err(EngineError::RecordTooLong {
            found: record.len(),
            max: RECORD_BYTES_MAX,
        });
    }
    Ok(())
}

/// Decides over an append; `new_log` names the log if one begins.
///
/// # Errors
/// The first reason against it; nothing is written then.
pub fn admit(
    meta: &Meta,
    append: &Append,
    incarnation: &Incarnation,
    new_log: impl FnOnce() -> LogId,
) -> Result<Writes, RefusedReason> {
    check_guards(meta, append)?;
    let mut meta = meta.clone();
    let (log, begins) = match &meta.log {
        LogState::Live(log) => (log.clone(), false),
        LogState::None | LogState::Gone => {
            let log = new_log();
            meta = Meta {
                log: LogState::Live(log.clone()),
                ..Meta::default()
            };
            (log, true)
        }
    };
    enter_epoch(&mut meta, &log, incarnation);
    let first = meta.head.next();
    let entries = number(&mut meta, append);
    change_lease(&mut meta, append);
    if let Some(record) = &append.record {
        meta.record = Some(record.clone());
    }
    let (epoch, _) = meta
        .epochs
        .last()
        .expect("a log that is written has an epoch");
    let appended = Appended {
        epoch: epoch.clone(),
        first,
        last: meta.head,
        versions: meta.versions,
        lease: meta.lease(),
    };
    Ok(Writes {
        meta,
        begins,
        entries,
        appended,
    })
}

fn check_guards(meta: &Meta, append: &Append) -> Result<(), RefusedReason> {
    if !meta.has_log() && !append.may_create {
        return Err(RefusedReason::Gone);
    }
    let token = meta.holder.as_ref().map(|holder| &holder.token);
    if append.guard.lease.is_some() && append.guard.lease.as_ref() != token {
        return Err(RefusedReason::Fenced);
    }
    if append
        .source
        .is_some_and(|range| range.from != source_before(meta, append) || range.to < range.from)
    {
        return Err(RefusedReason::Position);
    }
    if !versions_stand(meta, append) {
        return Err(RefusedReason::Conflict);
    }
    let is_held = match &append.lease {
        LeaseChange::Take { .. } => token.is_some(),
        LeaseChange::Seize {
            seen_token,
            seen_beat,
            ..
        } => token != Some(seen_token) || meta.beat != *seen_beat,
        LeaseChange::Free | LeaseChange::Keep | LeaseChange::Renew => false,
    };
    if is_held {
        Err(RefusedReason::Held)
    } else {
        Ok(())
    }
}

/// The source position from which the append counts: another source begins at 0 with its lease.
fn source_before(meta: &Meta, append: &Append) -> u64 {
    match append.lease {
        LeaseChange::Take { .. }
        | LeaseChange::Seize {
            source: SeizedSource::Restart,
            ..
        } => 0,
        LeaseChange::Seize {
            source: SeizedSource::Continue,
            ..
        }
        | LeaseChange::Free
        | LeaseChange::Keep
        | LeaseChange::Renew => meta.source,
    }
}

fn versions_stand(meta: &Meta, append: &Append) -> bool {
    let Versions { control, state } = meta.versions;
    let guard = &append.guard;
    if guard.control.is_none() && guard.state.is_none() {
        return true;
    }
    guard.control.is_none_or(|known| known == control)
        && guard.state.is_none_or(|known| known == state)
        && meta.verdict(&append.known).is_of_log()
}

/// Starts an epoch when another incarnation wrote last: what that one wrote may have been lost in
/// part.
fn enter_epoch(meta: &mut Meta, log: &LogId, incarnation: &Incarnation) {
    if meta.incarnation.as_ref() == Some(incarnation) {
        return;
    }
    meta.incarnation = Some(incarnation.clone());
    if meta.epochs.len() == EPOCHS_MAX {
        meta.epochs.remove(0);
    }
    meta.epochs.push((incarnation.epoch(log), meta.head.next()));
}

fn number(meta: &mut Meta, append: &Append) -> Vec<Entry> {
    let mut entries = Vec::with_capacity(append.entries.len());
    for new in &append.entries {
        let seq: Seq = meta.head.next();
        meta.head = seq;
        if new.class.control {
            meta.versions.control = seq;
        }
        if new.class.state {
            meta.versions.state = seq;
        }
        entries.push(Entry {
            seq,
            class: new.class,
            record: new.record.clone(),
        });
    }
    entries
}

fn change_lease(meta: &mut Meta, append: &Append) {
    meta.source = append
        .source
        .map_or_else(|| source_before(meta, append), |range| range.to);
    let is_taken = match &append.lease {
        LeaseChange::Take { token, node } | LeaseChange::Seize { token, node, .. } => {
            meta.holder = Some(Holder {
                token: token.clone(),
                node: node.clone(),
            });
            true
        }
        LeaseChange::Free => {
            meta.holder = None;
            false
        }
        LeaseChange::Keep | LeaseChange::Renew => false,
    };
    if is_taken || append.guard.lease.is_some() {
        meta.beat += 1;
    }
}

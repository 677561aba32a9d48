//! A fold as bytes, so that a thread can be opened without reading its log from the start, or at
//! all once its beginning is trimmed.
//!
//! The bytes are text: `threadcast-fold <hash> <version>`, a line of JSON with all but the
//! messages, then a message a line, as it stands in a run input. JSON because most of it came as
//! JSON and passes byte for byte, because what reads it is what reads events, and because a member
//! can be added without a new form. Indexes are not kept: they are made anew from what they lead
//! to.
//!
//! Invariant: the fold read from what `to_checkpoint` wrote goes on as the one that was written,
//! and writes the same bytes. Whoever changes what a fold makes of the same entries, or this form,
//! gives it the next version and reads the earlier ones.

mod conversation;
mod registry;
mod run;
mod stored;

use std::fmt;

use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::position::Epoch;
use xxhash_rust::xxh3::xxh3_64;

use crate::fold::Fold;

/// The version of the folds that this program makes, and so of their checkpoints.
pub const FOLD_VERSION: u32 = 1;

/// How the bytes of every version begin.
const MARK: &str = "threadcast-fold ";

/// Digits of the hash, which covers everything behind it.
const HASH_DIGITS: usize = 16;

/// Why bytes give no fold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// They are whole, but of a later program.
    #[error("the checkpoint is of fold version {found}, known are those up to {known}")]
    Newer { found: u32, known: u32 },
    /// They are damaged, or no checkpoint at all.
    #[error("the checkpoint cannot be read: {reason}")]
    Unreadable { reason: Box<str> },
}

impl CheckpointError {
    fn unreadable(reason: impl fmt::Display) -> Self {
        Self::Unreadable {
            reason: reason.to_string().into(),
        }
    }
}

impl Fold {
    /// The bytes that [`Fold::from_checkpoint`] makes this fold of; thread and epoch stand beside
    /// them.
    pub fn to_checkpoint(&self) -> Vec<u8> {
        let mut text = String::from(MARK);
        text.push_str(&"0".repeat(HASH_DIGITS));
        text.push_str(&format!(" {FOLD_VERSION}\n"));
        stored::write(self, &mut text);
        let hash = hash(&text[MARK.len() + HASH_DIGITS..]);
        text.replace_range(MARK.len()..MARK.len() + HASH_DIGITS, &hash);
        text.into_bytes()
    }

    /// The fold of `thread` whose bytes these are; `epoch` is the one that its head stands in.
    ///
    /// # Errors
    /// The bytes are of a later version; or they are damaged, or no checkpoint.
    pub fn from_checkpoint(
        thread: ThreadId,
        epoch: Epoch,
        bytes: &[u8],
    ) -> Result<Self, CheckpointError> {
        let (version, rest) = unseal(bytes)?;
        match version {
            FOLD_VERSION => stored::read(rest, thread, epoch),
            0 => Err(CheckpointError::unreadable("there is no fold version 0")),
            found => Err(CheckpointError::Newer {
                found,
                known: FOLD_VERSION,
            }),
        }
    }
}

/// The version, and what stands behind the first line.
fn unseal(bytes: &[u8]) -> Result<(u32, &str), CheckpointError> {
    let text = std::str::from_utf8(bytes).map_err(CheckpointError::unreadable)?;
    let sealed = text
        .strip_prefix(MARK)
        .and_then(|rest| rest.split_at_checked(HASH_DIGITS));
    let (found, sealed) = sealed.ok_or_else(|| CheckpointError::unreadable("its head is none"))?;
    let expected = hash(sealed);
    if found != expected {
        let problem = format_args!("its hash is {expected}, its head says {found:?}");
        return Err(CheckpointError::unreadable(problem));
    }
    sealed
        .strip_prefix(' ')
        .and_then(|rest| rest.split_once('\n'))
        .and_then(|(version, rest)| Some((version.parse().ok()?, rest)))
        .ok_or_else(|| CheckpointError::unreadable("its head names no version"))
}

fn hash(text: &str) -> String {
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

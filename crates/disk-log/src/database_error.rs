//! What a database says went wrong, as a sentence; it says so itself only in the words of its code.

use std::error::Error;
use std::fmt;

use fjall::{JournalRecoveryError, LsmError};

/// An error of an embedded database; its source is that of the system, if it has one.
#[derive(Debug)]
pub struct DatabaseError(fjall::Error);

impl From<fjall::Error> for DatabaseError {
    fn from(error: fjall::Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fjall::Error as Database;
        match &self.0 {
            Database::Io(_) => f.write_str("the system failed to read or write its files"),
            Database::Storage(error) => table(error, f),
            Database::JournalRecovery(error) => journal(*error, f),
            Database::InvalidVersion(Some(version)) => {
                let version = u8::from(*version);
                write!(
                    f,
                    "its files are of version {version} of the database, another than this"
                )
            }
            Database::InvalidVersion(None) => f.write_str("it does not say which version it is of"),
            Database::Decompress(_) => f.write_str("a compressed line is damaged"),
            Database::InvalidTrailer => f.write_str("a batch of a journal has no end"),
            Database::InvalidTag((what, found)) => write!(f, "{found} is no {what}"),
            Database::Poisoned => f.write_str("a write or sync of it failed before"),
            Database::KeyspaceDeleted => f.write_str("a keyspace of it was deleted"),
            Database::Locked => f.write_str("another process has it open"),
            Database::Unrecoverable => f.write_str("files are missing or damaged"),
            other => write!(f, "{other:?}"),
        }
    }
}

fn table(error: &LsmError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error {
        LsmError::Io(_) => f.write_str("the system failed to read or write its tables"),
        LsmError::Decompress(_) => f.write_str("a compressed block of a table is damaged"),
        LsmError::InvalidVersion(version) => {
            write!(f, "a table is of version {version}, another than this")
        }
        LsmError::Unrecoverable => f.write_str("tables are missing or damaged"),
        LsmError::ChecksumMismatch { got, expected } => write!(
            f,
            "a block of a table is damaged: its checksum is {:x}, {:x} was expected",
            got.into_u128(),
            expected.into_u128()
        ),
        LsmError::InvalidTag((what, found)) => write!(f, "{found} is no {what} of a table"),
        LsmError::InvalidTrailer => f.write_str("a block of a table has no end"),
        LsmError::InvalidHeader(what) => write!(f, "a block of a table has no head as a {what}"),
        LsmError::Utf8(_) => f.write_str("a text in a table is not UTF-8"),
        other => write!(f, "{other:?}"),
    }
}

fn journal(error: JournalRecoveryError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(match error {
        JournalRecoveryError::InsufficientLength => "a batch of a journal has too few lines",
        JournalRecoveryError::TooManyItems => "a batch of a journal has too many lines",
        JournalRecoveryError::ChecksumMismatch => "a batch of a journal is damaged",
        JournalRecoveryError::InvalidFileName => "a journal has a name that is no number",
    })
}

impl Error for DatabaseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            fjall::Error::Io(error) | fjall::Error::Storage(LsmError::Io(error)) => Some(error),
            fjall::Error::Storage(LsmError::Utf8(error)) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_sentences_and_keep_what_the_system_said() {
        let full = || std::io::Error::other("no space left");
        let told = [
            fjall::Error::Io(full()),
            fjall::Error::Storage(LsmError::Io(full())),
            fjall::Error::Storage(LsmError::Unrecoverable),
            fjall::Error::JournalRecovery(JournalRecoveryError::ChecksumMismatch),
            fjall::Error::InvalidVersion(None),
            fjall::Error::InvalidTag(("value type", 9)),
            fjall::Error::Poisoned,
            fjall::Error::Locked,
            fjall::Error::Unrecoverable,
        ];
        for error in told {
            let source = error.source().map(ToString::to_string);
            let error = DatabaseError(error);
            let sentence = error.to_string();
            assert!(
                sentence.contains(' ') && !sentence.contains(['{', '(', ':']),
                "{sentence}"
            );
            if let Some(said) = source.filter(|said| said.contains("no space")) {
                let kept = error.source().map(ToString::to_string);
                assert!(kept.is_some_and(|kept| said.contains(&kept)), "{said}");
            }
        }
    }
}

//! The data directory: one process at a time, a format that is known, nothing of anyone else's.
//!
//! ```text
//! DIR/lock      held by the process that has the directory open; its number
//! DIR/format    the version and the number of databases; written when all of them are there
//! DIR/creating  stands until `format` does
//! DIR/0 …       the databases
//! DIR/0.synced  how far the journal of one is known to be synced; may be missing
//! ```
//!
//! Invariant: a directory without `format` holds nothing that was ever answered.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::OpenError;
use crate::journal::record_path;

const LOCK: &str = "lock";
const FORMAT: &str = "format";
const CREATING: &str = "creating";

/// Of what stands in the databases.
const VERSION: u32 = 1;

/// Held for as long as the directory is open.
#[derive(Debug)]
pub(crate) struct DirectoryLock(File);

impl Drop for DirectoryLock {
    /// Closing alone would leave it locked while a process that is being started still has a copy
    /// of the descriptor.
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the data directory was not unlocked");
        }
    }
}

/// A directory that belongs to this process.
pub(crate) struct Directory {
    pub(crate) path: PathBuf,
    pub(crate) lock: DirectoryLock,
    pub(crate) databases: usize,
    /// Whether the databases are still to be made.
    pub(crate) is_new: bool,
}

impl Directory {
    /// Takes the directory; one that is new or empty gets as many databases as are asked for.
    pub(crate) fn take(path: &Path, databases: usize) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Io {
            directory: path.to_owned(),
            source,
        };
        fs::create_dir_all(path).map_err(failed)?;
        let found = format(path).map_err(failed)?;
        if found.is_none()
            && let Some(found) = stranger(path).map_err(failed)?
        {
            return Err(OpenError::NotOurs {
                directory: path.to_owned(),
                found,
            });
        }
        let lock = lock(path)?;
        // Another process may have made it meanwhile.
        let found = format(path).map_err(failed)?;
        let databases = match &found {
            Some(text) => {
                // A kill may have left it; if the format were lost, it would have all removed.
                remove(&path.join(CREATING)).map_err(failed)?;
                databases_of(path, text)?
            }
            None => {
                clear(path).map_err(failed)?;
                databases
            }
        };
        for database in 0..databases {
            if found.is_some() && !path.join(database.to_string()).is_dir() {
                return Err(OpenError::Missing {
                    directory: path.to_owned(),
                    database,
                });
            }
        }
        Ok(Self {
            path: path.to_owned(),
            lock,
            databases,
            is_new: found.is_none(),
        })
    }

    pub(crate) fn database(&self, number: usize) -> PathBuf {
        self.path.join(number.to_string())
    }

    /// Says that every database is there.
    pub(crate) fn finish(&self) -> io::Result<()> {
        let text = format!("threadcast data {VERSION}\ndatabases {}\n", self.databases);
        let unfinished = self.path.join("format.new");
        let mut file = File::create(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, self.path.join(FORMAT))?;
        sync_directory(&self.path)?;
        fs::remove_file(self.path.join(CREATING))?;
        sync_directory(&self.path)
    }
}

fn format(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path.join(FORMAT)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn databases_of(path: &Path, text: &str) -> Result<usize, OpenError> {
    let known = format!("threadcast data {VERSION}");
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let databases = rest
        .trim_end()
        .strip_prefix("databases ")
        .and_then(|number| number.parse().ok());
    match databases {
        Some(databases) if first == known && databases > 0 => Ok(databases),
        _ => Err(OpenError::Format {
            directory: path.to_owned(),
            found: format!("`{}`", first.escape_debug()),
            known: format!("`{known}`"),
        }),
    }
}

/// Something in a directory without format that no unfinished creation explains.
fn stranger(path: &Path) -> io::Result<Option<PathBuf>> {
    if path.join(CREATING).exists() {
        return Ok(None);
    }
    for file in fs::read_dir(path)? {
        let name = file?.file_name();
        // What a disk's own root holds, and a lock alone, is nobody's.
        if name != LOCK && name != "lost+found" {
            return Ok(Some(name.into()));
        }
    }
    Ok(None)
}

fn lock(path: &Path) -> Result<DirectoryLock, OpenError> {
    let failed = |source| OpenError::Io {
        directory: path.to_owned(),
        source,
    };
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path.join(LOCK))
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut process = String::new();
            let process = file
                .read_to_string(&mut process)
                .ok()
                .and_then(|_| process.trim().parse().ok());
            return Err(OpenError::InUse {
                directory: path.to_owned(),
                process,
            });
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    let tell = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    tell(&mut file).map_err(failed)?;
    Ok(DirectoryLock(file))
}

/// Removes a file that may be there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes what an unfinished creation left, and says that another is under way.
fn clear(path: &Path) -> io::Result<()> {
    File::create(path.join(CREATING))?.sync_all()?;
    for file in fs::read_dir(path)? {
        let file = file?;
        let is_database = file
            .file_name()
            .to_str()
            .is_some_and(|name| name.parse::<usize>().is_ok());
        if is_database {
            fs::remove_dir_all(file.path())?;
            remove(&record_path(&file.path()))?;
        }
    }
    sync_directory(path)
}

#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Elsewhere a directory cannot be synced.
#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

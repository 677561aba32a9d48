//! The form in which answers go to their agent: as entries, or as the command that agents from
//! before AG-UI 1.0 read (docs/protocol.md §14.8).

use serde_json::value::RawValue;
use threadcast_agui::interrupt::{Interrupt, ResumeEntry};
use threadcast_agui::json::RawJson;
use threadcast_agui::legacy::command_resume;
use threadcast_thread_log::position::Seq;

use super::RequestError;

/// How a run's answers go to its agent.
pub(super) enum Answers<'a> {
    /// In `resume`: the entries as an array.
    Entries(&'a str),
    /// In `forwardedProps`: the value of the command.
    Command(RawJson),
    /// There are none, or they stand in the `forwardedProps` as submitted.
    None,
}

impl<'a> Answers<'a> {
    /// Of a run that takes `entries`, to what its thread was asked.
    ///
    /// # Errors
    /// An entry cannot be read.
    pub(super) fn of(
        asked: &[Interrupt],
        entries: &'a str,
        seq: Seq,
    ) -> Result<Self, RequestError> {
        let unreadable = |source| RequestError::Submission { seq, source };
        let list: Vec<&RawValue> = serde_json::from_str(entries).map_err(unreadable)?;
        let read = list.iter().map(|entry| ResumeEntry::read(entry.get()));
        let read: Result<Vec<_>, _> = read.collect();
        let read = read.map_err(|error| unreadable(serde::de::Error::custom(error)))?;
        Ok(match command_resume(asked, &read) {
            Some(command) => Self::Command(command),
            None => Self::Entries(entries),
        })
    }
}

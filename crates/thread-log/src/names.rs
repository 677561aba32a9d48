//! The names an engine gives: to itself, for as long as it is open, and to the logs that it begins.
//!
//! Invariant: no two engines have the same incarnation, no two logs the same id.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::meta::{Incarnation, LogId};

/// An incarnation and the logs that it began.
#[derive(Debug)]
pub struct Names {
    incarnation: Incarnation,
    logs_begun: AtomicU64,
}

/// Characters of the incarnation that go into the id of a log.
const INCARNATION_IN_LOG: usize = 8;

impl Names {
    /// Of an engine that is being opened.
    pub fn random() -> Self {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the system has random numbers");
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            incarnation: Incarnation(hex.into()),
            logs_begun: AtomicU64::new(0),
        }
    }

    /// The engine's own.
    pub fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }

    /// Another one each time.
    pub fn new_log(&self) -> LogId {
        let number = self.logs_begun.fetch_add(1, Ordering::Relaxed);
        let incarnation = &self.incarnation.0[..INCARNATION_IN_LOG];
        LogId(format!("{incarnation}-{number}").into())
    }
}

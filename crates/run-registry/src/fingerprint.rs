//! Sixteen bytes that tell whether two pieces of JSON say the same.
//!
//! Compared is a canonical form: members sorted, white space gone, strings after unescaping and
//! without Unicode normalisation, numbers by their exact decimal value, so that `1`, `1.0` and
//! `1e0` are equal and two long numbers that one double stands for are not.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use threadcast_agui::ids::{InterruptId, RunId, ThreadId};
use threadcast_agui::interrupt::{ResumeEntry, ResumeStatus};
use threadcast_agui::json::RawJson;

use crate::agent_name::AgentName;

mod canonical;

/// What a fingerprint keeps of a hash, in bytes.
pub const FINGERPRINT_BYTES: usize = 16;

/// The first bytes of a SHA-256 over a canonical form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; FINGERPRINT_BYTES]);

impl Fingerprint {
    /// Of any JSON.
    pub fn of_json(json: &RawJson) -> Self {
        let mut hash = Hash::new("json");
        hash.part(&canonical::canonical(json.as_str(), &[]));
        hash.end()
    }

    /// Of a value, equal to that of its text.
    pub fn of_value(value: &Value) -> Self {
        Self::of_json(&RawJson::from_value(value))
    }

    /// Of a whole run input sent to an agent; what protocol version the sender speaks says nothing.
    pub fn of_run(agent: &AgentName, input: &RawJson) -> Self {
        let mut hash = Hash::new("run");
        hash.part(agent.as_str().as_bytes());
        hash.part(&canonical::canonical(input.as_str(), &["protocolVersion"]));
        hash.end()
    }

    /// Of answers alone.
    pub fn of_resume(of: &RunId, entries: &[ResumeEntry]) -> Self {
        let mut hash = Hash::new("resume");
        hash.part(of.as_str().as_bytes());
        for entry in entries {
            hash.part(&canonical::canonical(entry.json.as_str(), &[]));
        }
        hash.end()
    }

    /// Of what answers to interrupts of run `of` say, in whatever order: status and payload of
    /// each.
    pub(crate) fn of_answers(
        of: &RunId,
        mut said: Vec<(&InterruptId, ResumeStatus, Option<Self>)>,
    ) -> Self {
        said.sort_unstable_by(|one, other| one.0.cmp(other.0));
        let mut hash = Hash::new("answers");
        hash.part(of.as_str().as_bytes());
        for (interrupt, status, payload) in said {
            hash.part(interrupt.as_str().as_bytes());
            hash.part(status.as_str().as_bytes());
            hash.part(payload.as_ref().map_or(&[][..], |payload| &payload.0));
        }
        hash.end()
    }

    /// Of what a plain run is to its agent.
    pub fn of_run_key(thread: &ThreadId, run: &RunId) -> Self {
        let mut hash = Hash::new("run-key");
        hash.part(thread.as_str().as_bytes());
        hash.part(run.as_str().as_bytes());
        hash.end()
    }

    /// Of what a decision about `interrupts` is to its agent, whatever run carries it.
    pub fn of_resume_key<'a>(
        thread: &ThreadId,
        of: &RunId,
        interrupts: impl IntoIterator<Item = &'a InterruptId>,
    ) -> Self {
        let mut sorted: Vec<&InterruptId> = interrupts.into_iter().collect();
        sorted.sort_unstable();
        let mut hash = Hash::new("resume-key");
        hash.part(thread.as_str().as_bytes());
        hash.part(of.as_str().as_bytes());
        for interrupt in sorted {
            hash.part(interrupt.as_str().as_bytes());
        }
        hash.end()
    }
}

/// A hash over parts, each with its length, so that no two lists of parts read alike.
struct Hash(Sha256);

impl Hash {
    fn new(kind: &str) -> Self {
        let mut hash = Self(Sha256::new());
        hash.part(kind.as_bytes());
        hash
    }

    fn part(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    fn end(self) -> Fingerprint {
        let digest = self.0.finalize();
        let mut bytes = [0; FINGERPRINT_BYTES];
        bytes.copy_from_slice(&digest[..FINGERPRINT_BYTES]);
        Fingerprint(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let digit = |at: usize| {
            text.get(2 * at..2 * at + 2)
                .and_then(|hex| u8::from_str_radix(hex, 16).ok())
        };
        let mut bytes = [0; FINGERPRINT_BYTES];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = digit(at).ok_or_else(|| {
                serde::de::Error::custom("a fingerprint is 32 hexadecimal digits")
            })?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests;

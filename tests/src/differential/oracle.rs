//! A process of the published client that compares streams, one after the other.

use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, BufWriter, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{Reading, Until, read};
use crate::{installed, within};

/// What the client says about one stream.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Answer {
    pub id: u64,
    /// The index of the event at which it gave up, if it did.
    pub broken: Option<usize>,
    /// Why it did.
    pub error: Option<String>,
    /// The parts in which it differs from the other reader.
    pub parts: Vec<String>,
    /// Both sides of each, for a person. It is no value, for half a surrogate pair stands in no Rust
    /// string.
    pub differs: String,
}

impl Answer {
    /// Whether the two read the stream differently.
    #[must_use]
    pub fn is_different(&self) -> bool {
        !self.parts.is_empty()
    }
}

/// `tests/node/differential.mjs`; it ends with this value.
#[derive(Debug)]
pub struct Oracle {
    asking: Asking,
    answering: Answering,
}

/// The way to the process.
#[derive(Debug)]
pub(super) struct Asking(BufWriter<ChildStdin>);

/// The way back.
#[derive(Debug)]
pub(super) struct Answering {
    lines: Lines<BufReader<ChildStdout>>,
    /// Is killed when this is dropped.
    _child: Child,
}

impl Oracle {
    /// Starts a process.
    ///
    /// # Panics
    /// The recipe that installs the client has not run.
    #[must_use]
    pub fn start() -> Self {
        let mut child = Command::new("node")
            .arg(installed("THREADCAST_TESTS_NODE").join("differential.mjs"))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = child.stdout.take().unwrap();
        Self {
            asking: Asking(BufWriter::with_capacity(1 << 16, stdin)),
            answering: Answering {
                lines: BufReader::new(stdout).lines(),
                _child: child,
            },
        }
    }

    pub(super) fn split(self) -> (Asking, Answering) {
        (self.asking, self.answering)
    }

    /// Compares one stream with how the hub reads it.
    pub async fn compare(&mut self, events: &[String], until: Until) -> Answer {
        self.asking.ask(0, events, &read(events, until)).await;
        self.asking.flush().await;
        self.answering.answer().await
    }
}

impl Asking {
    pub(super) async fn ask(&mut self, id: u64, events: &[String], reading: &Reading) {
        let question = json!({
            "id": id,
            "events": events[..reading.compared],
            "broken": reading.stop.broken(),
            "held": reading.held,
        });
        let line = format!("{question}\n");
        self.0.write_all(line.as_bytes()).await.unwrap();
    }

    /// Sends what was asked.
    pub(super) async fn flush(&mut self) {
        self.0.flush().await.unwrap();
    }
}

impl Answering {
    pub(super) async fn answer(&mut self) -> Answer {
        let line = within("an answer", self.lines.next_line()).await.unwrap();
        serde_json::from_str(&line.expect("a process that answers every question")).unwrap()
    }
}

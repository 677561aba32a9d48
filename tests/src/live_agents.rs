//! Real agents on published frameworks, started for the tests.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::{installed, repository, within};

/// The running agents; they end with this value.
#[derive(Debug)]
pub struct LiveAgents {
    base: String,
    _child: Child,
}

impl LiveAgents {
    pub async fn start() -> Self {
        let mut child = Command::new(installed("THREADCAST_TESTS_PYTHON"))
            .arg(repository("tests/python/agents.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = within("the agents' start", lines.next_line())
            .await
            .unwrap()
            .unwrap();
        let base = line.strip_prefix("listening on ").unwrap().to_owned();
        Self {
            base,
            _child: child,
        }
    }

    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

//! The real `threadcast` program.

use std::path::PathBuf;
use std::process::Stdio;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::{http, within};

/// What a hub tells of its sessions.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Sessions whose socket takes no bytes now.
    pub blocked_sessions: usize,
    /// The most bytes that are held for any one session.
    pub held_bytes_max: u64,
}

/// A running hub; it ends with this value.
#[derive(Debug)]
pub struct Program {
    address: String,
    child: Child,
    _stdout: Lines<BufReader<ChildStdout>>,
}

/// Where cargo put the program: beside the folder of the running test.
///
/// # Panics
/// It was not built.
#[must_use]
pub fn binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().unwrap().parent().unwrap().join("threadcast");
    assert!(
        built.exists(),
        "{} is missing: `cargo xtask test` builds it first",
        built.display()
    );
    built
}

impl Program {
    /// Starts a hub on a port of the system's choice, with the agents named and an instant demo
    /// agent.
    pub async fn start(agents: &[(String, String)]) -> Self {
        Self::start_with(agents, &["--demo-speed", "instant"]).await
    }

    /// # Panics
    /// The program ends or prints no address in time.
    pub async fn start_with(agents: &[(String, String)], args: &[&str]) -> Self {
        let mut command = Command::new(binary());
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(args);
        for (name, url) in agents {
            command.arg("--agent").arg(format!("{name}={url}"));
        }
        // What a hub logs of its life is not what a test prints.
        command.env("RUST_LOG", "warn");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = loop {
            let line = within("the hub's address", stdout.next_line())
                .await
                .unwrap();
            let line = line.expect("the hub prints its address before it ends");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest
                    .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ':'))
                    .next()
                    .unwrap()
                    .to_owned();
            }
        };
        Self {
            address,
            child,
            _stdout: stdout,
        }
    }

    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    #[must_use]
    pub fn http(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    #[must_use]
    pub fn ws(&self) -> String {
        format!("ws://{}/ws", self.address)
    }

    /// What the hub tells of itself.
    pub async fn health(&self) -> Health {
        let answer = http::get(&self.address, "/healthz").await;
        serde_json::from_value(answer.json()).unwrap()
    }

    /// Kills the program as a power cut would, as far as one process goes.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}

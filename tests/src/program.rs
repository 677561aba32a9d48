//! The real `threadcast` program.

use std::path::PathBuf;
use std::process::Stdio;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::data_dir::DataDir;
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

/// Where cargo put the program: beside the running one, or beside the folder of the running test.
///
/// # Panics
/// It was not built.
#[must_use]
pub fn binary() -> PathBuf {
    let running = std::env::current_exe().unwrap();
    let folders = running.ancestors().skip(1).take(2);
    let mut built = folders.map(|folder| folder.join("threadcast"));
    built.find(|program| program.exists()).unwrap_or_else(|| {
        panic!(
            "there is no program `threadcast` near {}: `cargo xtask test` builds it first",
            running.display()
        )
    })
}

impl Program {
    /// Starts a hub on a port of the system's choice, with the agents named, an instant demo agent
    /// and its logs in memory.
    pub async fn start(agents: &[(String, String)]) -> Self {
        let args = ["--demo-speed", "instant", "--engine", "memory"];
        Self::start_with(agents, &args).await
    }

    /// The same with its logs in a directory, which an earlier hub may have left.
    pub async fn start_on(data: &DataDir, agents: &[(String, String)]) -> Self {
        let data = data.path().to_str().unwrap();
        let args = ["--demo-speed", "instant", "--data", data];
        Self::start_with(agents, &args).await
    }

    /// # Panics
    /// The program ends or prints no address in time.
    pub async fn start_with(agents: &[(String, String)], args: &[&str]) -> Self {
        Starting::spawn(serving(agents, args)).listening().await
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

    /// Asks the program to end (SIGTERM) and waits until it has.
    ///
    /// # Panics
    /// It does not end, or says that it failed.
    pub async fn stop(mut self) {
        let pid = self.child.id().unwrap().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(within("kill", asked).await.unwrap().success());
        let ended = within("the end of the hub", self.child.wait()).await;
        let status = ended.unwrap();
        assert!(status.success(), "the hub ended with {status}");
    }

    /// The process, for what the system tells of it.
    ///
    /// # Panics
    /// The program has ended.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }
}

/// A hub that was started and may not listen yet; it ends with this value.
#[derive(Debug)]
pub struct Starting {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl Starting {
    /// # Panics
    /// The command cannot be started.
    #[must_use]
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, stdout }
    }

    /// Waits until it listens.
    ///
    /// # Panics
    /// The program ends or prints no address in time.
    pub async fn listening(mut self) -> Program {
        let address = loop {
            let line = within("the hub's address", self.stdout.next_line())
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
        Program {
            address,
            child: self.child,
            _stdout: self.stdout,
        }
    }

    /// Kills it, whatever it is doing.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}

/// The command that serves on a port of the system's choice.
#[must_use]
pub fn serving(agents: &[(String, String)], args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args(args);
    for (name, url) in agents {
        command.arg("--agent").arg(format!("{name}={url}"));
    }
    // What a hub logs of its life is not what a test prints.
    command.env("RUST_LOG", "warn");
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

//! The hub that is killed again and again, always on the same directory.

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::sync::watch;

use super::dice::Dice;
use crate::data_dir::DataDir;
use crate::program::{Program, Starting, serving};

/// Longest life between two kills, in milliseconds.
const LIFE_MS: u64 = 1500;

/// How many kills of a hundred come before the hub listens.
const KILLED_EARLY: u64 = 15;

/// Where the hub is to be found; `None` while it is dead.
pub type Address = watch::Receiver<Option<String>>;

/// Starts and kills one hub.
#[derive(Debug)]
pub struct Victim {
    data: DataDir,
    agent: (String, String),
    address: watch::Sender<Option<String>>,
    dice: Dice,
}

impl Victim {
    #[must_use]
    pub fn new(seed: u64, agent_url: &str) -> Self {
        Self {
            data: DataDir::new(),
            agent: ("story".to_owned(), agent_url.to_owned()),
            address: watch::Sender::default(),
            dice: Dice::of(seed, "victim"),
        }
    }

    #[must_use]
    pub fn address(&self) -> Address {
        self.address.subscribe()
    }

    /// Starts it and kills it, so many times, at moments that its dice say.
    pub async fn be_killed(&mut self, kills: u64) {
        for _ in 0..kills {
            let starting = self.start();
            let life = self.dice.pause(LIFE_MS);
            if self.dice.happens(KILLED_EARLY) {
                tokio::time::sleep(life / 10).await;
                starting.kill().await;
                continue;
            }
            let hub = starting.listening().await;
            self.address.send_replace(Some(hub.ws()));
            tokio::time::sleep(life).await;
            hub.kill().await;
            self.address.send_replace(None);
        }
    }

    /// Starts it for good.
    pub async fn live(&mut self) -> Program {
        let hub = self.start().listening().await;
        self.address.send_replace(Some(hub.ws()));
        hub
    }

    fn start(&self) -> Starting {
        let data = self.data.path().join("logs");
        let mut command = serving(
            std::slice::from_ref(&self.agent),
            &["--data", data.to_str().unwrap()],
        );
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log())
            .unwrap();
        command.stderr(Stdio::from(log));
        Starting::spawn(command)
    }

    fn log(&self) -> PathBuf {
        self.data.path().join("stderr")
    }

    /// Lines of its output that no kill explains.
    ///
    /// # Panics
    /// It never said anything.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        let said = std::fs::read_to_string(self.log()).unwrap();
        let bad = ["panicked", "ERROR", "threadcast: "];
        let complaints = said
            .lines()
            .filter(|line| bad.iter().any(|bad| line.contains(bad)));
        complaints.map(str::to_owned).collect()
    }
}

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::run_input::RunInput;
use threadcast_disk_log::{Disk, DiskOptions};
use threadcast_hub::decisions::CommandError;
use threadcast_run_registry::agent_name::AgentName;
use threadcast_run_registry::decide::{Command, RunCommand};
use threadcast_run_registry::fold::Fold;
use threadcast_run_registry::fork::fork;
use threadcast_thread_log::engine::Durability;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::principal::Principal;

use super::*;

/// A disk that takes what is written, and keeps none of it once it fails.
#[derive(Debug, Default)]
struct FailingDisk {
    fails: AtomicBool,
    /// While set, it does not answer.
    hangs: AtomicBool,
}

impl Disk for FailingDisk {
    fn sync(&self, journal: &File) -> io::Result<()> {
        while self.hangs.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        if self.fails.load(Ordering::SeqCst) {
            return Err(io::Error::other("the disk is gone"));
        }
        journal.sync_data()
    }
}

async fn run(hub: &Hub, thread: &str) -> Result<(), CommandError> {
    let input = json!({ "threadId": thread, "runId": "r", "messages": [] });
    let input = RunInput::read(&input.to_string()).unwrap();
    let agent = AgentName::new("demo").unwrap();
    let command = Command::Run(RunCommand { agent, input });
    let thread = ThreadId::new(thread).unwrap();
    let answer = hub.command(thread, &Principal::anonymous(), command).await;
    answer.map(|_| ())
}

async fn store_on(disk: &Arc<FailingDisk>, config: &Config) -> Store {
    let options = DiskOptions {
        disk: disk.clone(),
        ..DiskOptions::default()
    };
    Store::on_disk(config, options).await.unwrap()
}

fn config(dir: &tempfile::TempDir) -> Config {
    Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        data: dir.path().join("logs"),
        ..Config::default()
    }
}

#[tokio::test]
async fn a_server_whose_disk_fails_while_it_stops_ends_with_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let (config, disk) = (config(&dir), Arc::new(FailingDisk::default()));
    let store = store_on(&disk, &config).await;
    let listener = TcpListener::bind(config.listen).await.unwrap();
    let address = listener.local_addr().unwrap();
    let engine = store.engine().clone();
    let server = Server::new(&config, listener, address, store);
    let stop = async {
        disk.fails.store(true, Ordering::SeqCst);
        // What is left to sync, whether or not it is told in time.
        let thread = ThreadId::new("t").unwrap();
        let fold = Fold::new(thread.clone());
        let by = Principal::anonymous();
        let mut append = fork(&fold, &thread, &by, Millis(1), fold.position()).unwrap();
        append.durability = Durability::Held;
        drop(engine.append(append).await);
    };
    let ended = server.run(stop).await.unwrap_err();
    assert!(matches!(ended, RunError::Store(_)), "{ended:?}");
}

#[tokio::test]
async fn logs_that_cannot_be_closed_are_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(FailingDisk::default());
    let store = store_on(&disk, &config(&dir)).await;
    disk.hangs.store(true, Ordering::SeqCst);
    let thread = ThreadId::new("t").unwrap();
    let fold = Fold::new(thread.clone());
    let by = Principal::anonymous();
    let mut append = fork(&fold, &thread, &by, Millis(1), fold.position()).unwrap();
    append.durability = Durability::Held;
    store.engine().append(append).await.unwrap();
    let within = Duration::from_millis(100);
    let late = store.close(within).await.unwrap_err();
    disk.hangs.store(false, Ordering::SeqCst);
    let told = RunError::from(late).to_string();
    assert_eq!(told, "the log store was not closed within 0.1 s");
}

#[tokio::test]
async fn a_server_whose_disk_fails_answers_nothing_and_ends_with_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let (config, disk) = (config(&dir), Arc::new(FailingDisk::default()));
    let store = store_on(&disk, &config).await;
    let listener = TcpListener::bind(config.listen).await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new(&config, listener, address, store);
    let hub = server.hub().clone();
    let serving = tokio::spawn(server.run(std::future::pending()));

    run(&hub, "before").await.unwrap();
    disk.fails.store(true, Ordering::SeqCst);
    let refused = run(&hub, "after").await.unwrap_err();
    assert!(matches!(refused, CommandError::Engine(_)), "{refused:?}");
    let ended = serving.await.unwrap().unwrap_err();
    let told = format!("{:#}", anyhow::Error::from(ended));
    assert!(told.starts_with("the log store failed"), "{told}");
    assert!(told.ends_with("the disk is gone"), "{told}");

    // It is free for the next one.
    let again = Store::open(&config).await.unwrap();
    let before = again.engine().head(&ThreadId::new("before").unwrap()).await;
    assert!(before.unwrap().seq.get() > 0, "what was answered is there");
}

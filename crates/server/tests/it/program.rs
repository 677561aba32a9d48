//! The program itself, where its surroundings are odd.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn a_hub_serves_although_nobody_reads_its_output() {
    let (nobody, output) = std::io::pipe().unwrap();
    drop(nobody);
    let mut hub = Command::new(env!("CARGO_BIN_EXE_threadcast"))
        .args(["serve", "--listen", "127.0.0.1:0", "--engine", "memory"])
        .env("RUST_LOG", "info,threadcast_server=debug")
        .stdout(output)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut seen = Vec::new();
    for line in BufReader::new(hub.stderr.take().unwrap()).lines() {
        seen.push(line.unwrap());
        if seen.last().unwrap().contains("listening") {
            break;
        }
    }
    hub.kill().unwrap();
    hub.wait().unwrap();
    assert!(
        seen.iter().any(|line| line.contains("listening")),
        "{seen:?}"
    );
}

/// A hub on this directory that cannot start; what it says.
fn refused(data: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_threadcast"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(data)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "it does not say that it listens");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

#[test]
fn a_directory_is_one_hubs_at_a_time_and_the_second_is_told_whose() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("logs");
    let mut hub = Command::new(env!("CARGO_BIN_EXE_threadcast"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(&data)
        .env("RUST_LOG", "warn")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(hub.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("listens"));
    let place = lines.next().unwrap().unwrap();
    assert_eq!(place, format!("Logs are kept in {}.", data.display()));
    let said = refused(&data);
    let expected = format!("is in use by process {}", hub.id());
    assert!(said.contains(&expected), "{said}");
    hub.kill().unwrap();
    hub.wait().unwrap();
}

#[test]
fn a_directory_that_is_no_hubs_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let letter = dir.path().join("letter.txt");
    fs::write(&letter, "Dear").unwrap();
    let said = refused(dir.path());
    assert!(said.contains("letter.txt"), "{said}");
    let left = fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 1, "nothing was written");
    // A file is no directory.
    let said = refused(&letter);
    assert!(said.contains("letter.txt"), "{said}");
}

#[test]
fn a_directory_of_another_version_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("format"), "threadcast data 9\n").unwrap();
    let said = refused(dir.path());
    assert!(said.contains("threadcast data 9"), "{said}");
    assert!(said.contains("threadcast data 1"), "both are named: {said}");
}

//! The program itself, where its surroundings are odd.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn a_hub_serves_although_nobody_reads_its_output() {
    let (nobody, output) = std::io::pipe().unwrap();
    drop(nobody);
    let mut hub = Command::new(env!("CARGO_BIN_EXE_threadcast"))
        .args(["serve", "--listen", "127.0.0.1:0"])
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

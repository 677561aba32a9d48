//! `threadcast check`, `fold` and `compact`: the program on files and pipes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

mod checking;
mod fixtures;
mod hub_lines;

fn fixture_files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../proto-fixtures")
        .join(folder);
    let files = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.to_str().unwrap().ends_with(ending));
    files.sort();
    files
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadcast"));
    command.args(arguments).env_remove("NO_COLOR");
    command
}

/// What the program makes of this on its standard input.
fn piped(arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
    let mut child = program(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    // A program that has seen enough closes its end.
    let writing = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    output
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[track_caller]
fn json_of(output: &Output) -> Value {
    assert_eq!(text(&output.stderr), "");
    serde_json::from_slice(&output.stdout).unwrap()
}

const STARTED: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
const FINISHED: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;
const STRAY: &str = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#;

fn ndjson(events: &[&str]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

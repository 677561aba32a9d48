//! Lines of a hub, and those of a living one.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::{FINISHED, STARTED, fixture_files, json_of, piped, program, text};

/// Frames as a viewer of a thread gets them, for a stream of events with a fact in the middle.
fn frames(events: &[String]) -> Vec<String> {
    let mut seq = 0;
    let mut next = || {
        seq += 1;
        seq
    };
    let mut frames = vec![
        r#"{"op":"subscribed","id":1,"threadId":"t","epoch":"e","seq":0,"mode":"log"}"#.to_owned(),
    ];
    for (n, event) in events.iter().enumerate() {
        if n == 3 {
            let fact = r#"{"type":"state.patched","by":{"id":"u"},"patch":[{"op":"add","path":"","value":{"mine":1}}]}"#;
            frames.push(format!(
                r#"{{"op":"fact","threadId":"t","seq":{},"at":7,"fact":{fact}}}"#,
                next()
            ));
        }
        frames.push(format!(
            r#"{{"op":"event","threadId":"t","seq":{},"at":7,"event":{event}}}"#,
            next()
        ));
    }
    frames
}

#[test]
fn frames_of_a_hub_compact_to_touching_ranges_with_facts_in_place() {
    for history in fixture_files("histories", ".jsonl") {
        let name = history.display();
        let events = std::fs::read_to_string(&history).unwrap();
        let events: Vec<_> = events
            .lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
        let frames = frames(&events).join("\n");
        let fold = json_of(&piped(&["fold", "--json", "-"], &frames));
        assert_eq!(
            fold["at"],
            events.len() + usize::from(events.len() > 3),
            "{name}"
        );
        let output = piped(&["compact", "-"], &frames);
        assert!(output.status.success(), "{name}: {output:?}");
        let mut expected = 1;
        let mut facts = 0;
        for line in text(&output.stdout).lines() {
            // Halves of characters have no value.
            let frame: Value = serde_json::from_str(&line.replace(r"\ud", r"\\ud")).unwrap();
            let from = match frame["op"].as_str().unwrap() {
                "events" => &frame["from"],
                "fact" => {
                    facts += 1;
                    &frame["seq"]
                }
                _ => continue,
            };
            assert_eq!(*from, expected, "{name}: {line}");
            expected = frame["seq"].as_u64().unwrap() + 1;
        }
        assert_eq!(
            (json!(expected - 1), facts),
            (fold["at"].clone(), 1),
            "{name}"
        );
        let again = json_of(&piped(&["fold", "--json", "-"], &output.stdout));
        assert_eq!(again, fold, "{name}");
        assert!(
            text(&output.stderr).contains(" bytes became "),
            "{output:?}"
        );
    }
}

#[test]
fn a_step_for_many_entries_cannot_be_parted() {
    let lines = [
        format!(r#"{{"from":1,"seq":7,"events":[{STARTED}]}}"#),
        format!(r#"{{"seq":8,"event":{FINISHED}}}"#),
    ]
    .join("\n");
    let at = |at: &str| piped(&["fold", "--json", "-", "--at", at], &lines);
    assert_eq!(json_of(&at("7"))["at"], 7);
    assert_eq!(json_of(&at("8"))["at"], 8);
    let inside = at("6");
    assert_eq!(inside.status.code(), Some(2));
    let told = "threadcast: <stdin>:1: entries 1 to 7 come as one step, so nothing stands at 6\n";
    assert_eq!(text(&inside.stderr), told);
    let mid = piped(
        &["check", "-"],
        format!(r#"{{"seq":8,"event":{FINISHED}}}"#),
    );
    assert_eq!(mid.status.code(), Some(2));
    assert!(text(&mid.stderr).contains("it begins in the middle of a thread, at entry 8"));
}

/// A program of the test's own that ends with it.
struct Running(Child);

impl Running {
    fn start(arguments: &[&str]) -> (Self, BufReader<ChildStdout>) {
        let child = program(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        (Self(child), stdout)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _gone = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Lines up to the first that holds `what`, with it.
fn lines_until(from: &mut impl BufRead, what: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in from.lines() {
        lines.push(line.unwrap());
        if lines.last().unwrap().contains(what) {
            return lines;
        }
    }
    panic!("no `{what}` in {lines:?}");
}

#[test]
fn what_watch_prints_is_read() {
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--engine",
        "memory",
        "--demo-speed",
        "instant",
    ];
    let (_hub, mut page) = Running::start(&serve);
    let page = lines_until(&mut page, "http://").join("");
    let (_, hub) = page.split_once("http://").unwrap();
    let hub = format!("http://{}", hub.trim());
    let (_watch, mut watched) = Running::start(&["watch", "t", "--json", "--hub", &hub]);
    let mut frames = lines_until(&mut watched, "subscribed");
    let asked = [
        "run",
        "demo",
        "Please refund order 1042",
        "--thread",
        "t",
        "--hub",
        &hub,
    ];
    let asked = program(&asked).output().unwrap();
    assert_eq!(asked.status.code(), Some(2), "{asked:?}");
    frames.extend(lines_until(&mut watched, "RUN_FINISHED"));
    let frames = frames.join("\n");
    let verdict = json_of(&piped(&["check", "--json", "-"], &frames));
    assert_eq!(verdict["verdict"], "legal", "{verdict}");
    assert_eq!(verdict["format"], "hub");
    assert_eq!(verdict["runs"][0]["status"], "interrupted");
    let fold = json_of(&piped(&["fold", "--json", "-"], &frames));
    assert_eq!(fold["messages"][0]["content"], "Please refund order 1042");
    assert_eq!(fold["pendingInterrupts"].as_array().unwrap().len(), 1);
    let compacted = piped(&["compact", "-"], &frames);
    assert!(compacted.stdout.len() < frames.len());
    let again = json_of(&piped(&["fold", "--json", "-"], &compacted.stdout));
    assert_eq!(again, fold);
}

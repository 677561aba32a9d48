//! Recorded agents and golden histories.

use std::path::Path;

use serde_json::{Value, json};

use super::{fixture_files, json_of, piped, program, text};

/// Response bodies of a recording, in the order of their requests.
fn bodies(recording: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(recording).unwrap();
    let lines = text.lines().map(serde_json::from_str::<Value>);
    let mut bodies: Vec<(Value, String)> = Vec::new();
    for line in lines.map(Result::unwrap).filter(|line| line["t"] == "sse") {
        let raw = line["raw"].as_str().unwrap();
        match bodies.last_mut() {
            Some((n, body)) if *n == line["n"] => body.push_str(raw),
            _ => bodies.push((line["n"].clone(), raw.to_owned())),
        }
    }
    bodies.into_iter().map(|(_, body)| body).collect()
}

#[test]
fn recorded_agents_are_legal_and_compact_to_the_same() {
    let mut checked = 0;
    for recording in fixture_files("recordings", ".jsonl") {
        let name = recording.display();
        // Its client went away in the middle.
        let is_cut = recording.to_str().unwrap().contains("abort");
        for body in bodies(&recording) {
            let verdict = piped(&["check", "--json", "-"], &body);
            let found = json_of(&verdict);
            assert_eq!(verdict.status.success(), !is_cut, "{name}: {found}");
            let expected = if is_cut { "unfinished" } else { "legal" };
            assert_eq!(
                (&found["verdict"], &found["format"]),
                (&json!(expected), &json!("sse"))
            );
            let events = body.matches("data:").count();
            assert_eq!(found["events"], events, "{name}");
            let fold = json_of(&piped(&["fold", "--json", "-"], &body));
            assert_eq!(fold["at"], events, "{name}");
            let compacted = piped(&["compact", "-"], &body);
            assert!(compacted.status.success(), "{name}: {compacted:?}");
            let again = json_of(&piped(&["fold", "--json", "-"], &compacted.stdout));
            assert_eq!(without_at(again), without_at(fold), "{name}");
            checked += 1;
        }
    }
    assert!(checked >= 15, "{checked} bodies");
}

fn without_at(mut fold: Value) -> Value {
    fold.as_object_mut().unwrap().remove("at");
    fold
}

#[test]
fn golden_histories_fold_to_their_golden_folds_at_every_event() {
    for history in fixture_files("histories", ".jsonl") {
        let name = history.to_str().unwrap();
        let golden = std::fs::read_to_string(history.with_extension("fold.json")).unwrap();
        let golden: Value = serde_json::from_str(&golden).unwrap();
        let lines = std::fs::read_to_string(&history).unwrap();
        let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
        let whole = json_of(&program(&["fold", "--json", name]).output().unwrap());
        assert_eq!(without_at(whole), golden, "{name}");
        for at in 1..=lines.len() {
            let asked = program(&["fold", "--json", name, "--at", &at.to_string()]);
            // Compared as text: what was cut inside a character has no value.
            let asked = { asked }.output().unwrap().stdout;
            let cut = piped(&["fold", "--json", "-"], lines[..at].join("\n")).stdout;
            assert_eq!(text(&asked), text(&cut), "{name} at {at}");
            assert!(text(&asked).starts_with(&format!("{{\"at\":{at},")));
        }
        let beyond = (lines.len() + 1).to_string();
        let beyond = program(&["fold", name, "--at", &beyond]).output().unwrap();
        assert_eq!(beyond.status.code(), Some(2));
        let told = format!(
            "threadcast: {name}: it ends at {0}, so nothing stands at {1}\n",
            lines.len(),
            lines.len() + 1
        );
        assert_eq!(text(&beyond.stderr), told);
    }
}

#[test]
fn hand_written_streams_get_the_verdict_of_the_published_client() {
    let file = fixture_files("recordings", "strictness.jsonl").remove(0);
    let lines = std::fs::read_to_string(file).unwrap();
    let lines = lines.lines().map(serde_json::from_str::<Value>);
    let cases: Vec<_> = lines
        .map(Result::unwrap)
        .filter(|line| line["t"] == "case")
        .collect();
    assert_eq!(cases.len(), 26);
    for case in cases {
        let output = piped(&["check", "--json", "-"], case["body"].as_str().unwrap());
        let code = output.status.code().unwrap();
        let name = case["name"].as_str().unwrap();
        let is_taken = case["client_1.0.0"].as_str().unwrap().starts_with("ok");
        match name {
            // The client takes what breaks off for a success.
            "noTerminal" => assert_eq!((is_taken, code), (true, 1)),
            "truncatedNoRun" => assert_eq!((is_taken, code), (true, 2)),
            // The hub reads what the client does not, and says so.
            "crlf" | "done" => {
                let warnings = &json_of(&output)["warnings"];
                assert_eq!(
                    (is_taken, code, warnings.as_array().unwrap().len()),
                    (false, 0, 1)
                );
            }
            _ => assert_eq!(code, i32::from(!is_taken), "{name}: {output:?}"),
        }
    }
}

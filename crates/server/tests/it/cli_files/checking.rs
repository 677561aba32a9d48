//! What is said about a stream, and about input that is none.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{FINISHED, STARTED, STRAY, json_of, ndjson, piped, program, text};

#[test]
fn a_violation_is_told_with_file_line_event_and_rule() {
    let folder = std::env::temp_dir().join(format!("threadcast-check-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("agent.sse");
    let long = STRAY.replace('x', &"x".repeat(400));
    std::fs::write(
        &file,
        format!(": hi\n\ndata: {STARTED}\n\ndata: {long}\n\ndata: {FINISHED}\n\n"),
    )
    .unwrap();
    let name = file.to_str().unwrap();
    let output = program(&["check", name]).output().unwrap();
    let found = program(&["check", "--json", name]).output().unwrap();
    let folded = program(&["fold", "--json", name]).output().unwrap();
    let compacted = program(&["compact", name]).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let page: Vec<&str> = text(&output.stdout).lines().collect();
    assert_eq!(
        page[0],
        format!("{name}:5: event 2 breaks rule `message-not-open`")
    );
    assert_eq!(
        page[1],
        "what      TEXT_MESSAGE_CONTENT names text message `m`, which is not open"
    );
    assert_eq!(
        page[2],
        "rule      Text content and end name a text message that is open."
    );
    assert!(
        page[3].starts_with(
            r#"event     {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"xxx"#
        )
    );
    assert!(
        page[3].ends_with('…') && page[3].chars().count() == 160,
        "{}",
        page[3]
    );
    assert_eq!(page[4], "before    1 event");

    assert_eq!(found.status.code(), Some(1));
    let found = json_of(&found);
    assert_eq!(found["verdict"], "broken");
    let violation = &found["violation"];
    assert_eq!(
        (&violation["line"], &violation["place"]),
        (&json!(5), &json!("event 2"))
    );
    assert_eq!(
        (&violation["rule"], &violation["json"]),
        (&json!("message-not-open"), &json!(long))
    );

    let told = format!(
        "threadcast: {name}:5: event 2 breaks rule `message-not-open`: TEXT_MESSAGE_CONTENT names text message `m`, which is not open\n"
    );
    assert_eq!(
        (folded.status.code(), text(&folded.stderr)),
        (Some(1), told.as_str())
    );
    let fold: Value = serde_json::from_slice(&folded.stdout).unwrap();
    assert_eq!(fold["messages"], json!([]), "what came before is folded");
    assert_eq!(
        (compacted.status.code(), text(&compacted.stderr)),
        (Some(1), told.as_str())
    );
    assert!(compacted.stdout.is_empty());
}

#[test]
fn runs_are_told_with_how_they_ended() {
    let run = |id: &str| format!(r#"{{"type":"RUN_STARTED","threadId":"t","runId":"{id}"}}"#);
    let end = |id: &str, outcome: &str| {
        let end = r#""type":"RUN_FINISHED","threadId":"t""#;
        format!(r#"{{{end},"runId":"{id}","outcome":{outcome}}}"#)
    };
    let failed = r#"{"type":"RUN_ERROR","message":"broke","code":"E"}"#.to_owned();
    let asks = r#"{"type":"interrupt","interrupts":[{"id":"i","reason":"why"}]}"#;
    let body = [
        failed.clone(),
        run("r1"),
        end("r1", r#"{"type":"success"}"#),
        failed.clone(),
        run("r2"),
        end("r2", r#"{"type":"cancelled"}"#),
        failed.clone(),
        run("r3"),
        end("r3", asks),
    ]
    .join("\n");
    let found = json_of(&piped(&["check", "--json", "-"], &body));
    let error = json!({"code": "E", "message": "broke"});
    let runs = json!([
        {"status": "error", "from": 1, "to": 1, "error": error},
        {"runId": "r1", "status": "error", "from": 2, "to": 4, "error": error},
        {"runId": "r2", "status": "cancelled", "from": 5, "to": 7, "error": error},
        {"runId": "r3", "status": "interrupted", "from": 8, "to": 9},
    ]);
    assert_eq!(found["runs"], runs);
    let page = piped(&["check", "-"], &body);
    let lines = [
        "<stdin>: legal, 9 events",
        "run       without a start failed: broke (E), 1 to 1",
        "run       r1 failed: broke (E), 2 to 4",
        "run       r2 was cancelled, 5 to 7",
        "run       r3 stopped to ask, 8 to 9",
        "asks      i (why): waits for an answer",
    ];
    assert!(text(&page.stdout).lines().eq(lines), "{page:?}");
}

#[test]
fn what_a_hub_would_mend_is_broken_and_said_to_be_mended() {
    let step = r#"{"type":"STEP_STARTED","stepName":"s"}"#;
    let call = r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"n"}"#;
    for (open, rule, is_mended) in [
        (step, "step-left-open", true),
        (call, "tool-call-left-open", false),
    ] {
        let body = ndjson(&[STARTED, open, FINISHED]);
        let output = piped(&["check", "-"], &body);
        assert_eq!(output.status.code(), Some(1));
        let note = "          a hub closes it itself, unless the agent is configured as `strict`\n";
        assert_eq!(text(&output.stdout).contains(note), is_mended, "{output:?}");
        let found = json_of(&piped(&["check", "--json", "-"], &body));
        let violation = &found["violation"];
        assert_eq!(violation["rule"], rule);
        assert_eq!(violation["isMended"], is_mended);
    }
}

#[test]
fn a_stream_that_breaks_off_is_not_legal() {
    let output = piped(&["check", "-"], ndjson(&[STARTED]));
    assert_eq!(output.status.code(), Some(1));
    let told = "<stdin>: the stream stops inside run `r`, and a stream that breaks off is never a success (AGENT_TRUNCATED)\n";
    assert!(text(&output.stdout).starts_with(told), "{output:?}");
    let cut = piped(&["check", "-"], format!("{STARTED}\n{}", &FINISHED[..20]));
    assert_eq!(cut.status.code(), Some(1));
    let warning = "warning   <stdin>:2: the input breaks off inside this event, which therefore was never said\n";
    assert!(text(&cut.stdout).ends_with(warning), "{cut:?}");
    // What was said is folded all the same.
    assert!(piped(&["fold", "-"], ndjson(&[STARTED])).status.success());
}

#[test]
fn what_is_legal_and_worth_a_look_is_told() {
    let body = [
        STARTED,
        r#"{"type":"FROM_LATER"}"#,
        r#"{"type":"FROM_LATER"}"#,
        r#"{"type":"STEP_STARTED","stepName":"s","colour":1}"#,
        r#"{"type":"STEP_FINISHED","stepName":"s","rawEvent":null}"#,
        r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a"}]}"#,
        r#"{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"P","patch":[]}"#,
        r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x","mood":"good"}"#,
        FINISHED,
        "[DONE]",
    ];
    let body: String = body
        .iter()
        .map(|data| format!("data: {data}\r\n\r\n"))
        .collect();
    let output = piped(&["check", "-"], &body);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let page = text(&output.stdout);
    assert!(
        page.starts_with("<stdin>: legal, 9 events\nrun       r is a success, 1 to 9\n"),
        "{page}"
    );
    for (line, warning) in [
        (
            3,
            "event 2: `FROM_LATER` is no event type of AG-UI 1.0; plain clients drop it (2 times)",
        ),
        (
            7,
            "event 4: `colour` is no member of STEP_STARTED in AG-UI 1.0; plain clients drop it",
        ),
        (
            9,
            "event 5: a shape that AG-UI 1.0 retired, read as the STEP_FINISHED it stands for",
        ),
        (
            11,
            "event 6: STATE_DELTA does not apply: operation 0 at `/a`: `/a` leads nowhere",
        ),
        (
            13,
            "event 7: ACTIVITY_DELTA names activity `a`, which is not there",
        ),
        (
            15,
            "event 8: `mood` is no member of TEXT_MESSAGE_CHUNK in AG-UI 1.0; plain clients drop it",
        ),
        (
            19,
            "`[DONE]` is no event, and AG-UI's published client fails on it",
        ),
        (
            1,
            "lines end in CR LF or CR, and AG-UI's published client reads LF alone",
        ),
    ] {
        let line = format!("warning   <stdin>:{line}: {warning}\n");
        assert!(page.contains(&line), "{line}in\n{page}");
    }
    assert_eq!(page.matches("warning").count(), 8, "{page}");
}

#[test]
fn what_cannot_be_read_ends_with_two_and_one_line() {
    for (arguments, input, told) in [
        (
            ["check", "/no/such/file"],
            "",
            "/no/such/file: there is no such file",
        ),
        (
            ["fold", "/no/such/file"],
            "",
            "/no/such/file: there is no such file",
        ),
        (
            ["compact", "/no/such/file"],
            "",
            "/no/such/file: there is no such file",
        ),
        (["check", "-"], "", "<stdin>: it is empty"),
        (["fold", "-"], ": nothing\n\n", "<stdin>: it holds no event"),
        (["check", "-"], "[]", "<stdin>: it holds no event"),
        (["compact", "-"], "[]", "<stdin>: it holds no event"),
        (
            ["check", "-"],
            "{\"type\":\"X\"}\nnothing\n",
            "<stdin>:2: no JSON at column 2: expected ident",
        ),
    ] {
        let output = piped(&arguments, input);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {input:?}");
        assert_eq!(text(&output.stderr), format!("threadcast: {told}\n"));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_pipe_is_judged_while_it_comes() {
    let mut child = program(&["check", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    write!(stdin, "data: {STARTED}\n\ndata: {STRAY}\n\n").unwrap();
    stdin.flush().unwrap();
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut first).unwrap();
    assert_eq!(first, "<stdin>:3: event 2 breaks rule `message-not-open`\n");
    stdout.read_to_string(&mut first).unwrap();
    // It has ended while the agent's side of the pipe is still open.
    assert_eq!(child.wait().unwrap().code(), Some(1));
    drop(stdin);
}

#[test]
fn a_reader_that_goes_away_changes_no_verdict() {
    for (events, code) in [(&[STARTED, FINISHED][..], 0), (&[STARTED, STRAY], 1)] {
        for command in ["check", "fold", "compact"] {
            let (nobody, output) = std::io::pipe().unwrap();
            drop(nobody);
            let mut child = program(&[command, "-"])
                .stdin(Stdio::piped())
                .stdout(output)
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(ndjson(events).as_bytes()).unwrap();
            drop(stdin);
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{command}: {output:?}");
            assert!(!text(&output.stderr).contains("panicked"), "{output:?}");
        }
    }
}

#[test]
fn nothing_an_agent_says_is_obeyed_by_a_terminal() {
    let evil = r#"\u001b[2J\u202e\u0007"#;
    let body = [
        STARTED.to_owned(),
        format!(r#"{{"type":"TEXT_MESSAGE_START","messageId":"m{evil}"}}"#),
        format!(r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"m{evil}","delta":"{evil}"}}"#),
        format!(r#"{{"type":"X{evil}"}}"#),
        format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":"{evil}"}}"#),
        format!(r#"{{"type":"STEP_FINISHED","stepName":"{evil}"}}"#),
    ]
    .join("\n");
    for command in ["check", "fold"] {
        let output = piped(&[command, "-"], &body);
        assert_eq!(output.status.code(), Some(1));
        for said in [&output.stdout, &output.stderr] {
            let said = text(said);
            assert!(!said.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{said:?}");
        }
    }
}

#[test]
fn questions_asked_by_custom_events_are_open() {
    let asks = r#"{"type":"CUSTOM","name":"on_interrupt","value":"Which flight?"}"#;
    let stream = ndjson(&[STARTED, asks, FINISHED]);
    let checked = json_of(&piped(&["check", "--json", "-"], &stream));
    assert_eq!(checked["verdict"], "legal");
    assert_eq!(checked["runs"][0]["status"], "interrupted");
    let folded = json_of(&piped(&["fold", "--json", "-"], &stream));
    for found in [&checked, &folded] {
        let pending = &found["pendingInterrupts"];
        assert_eq!(pending.as_array().map(Vec::len), Some(1), "{found}");
        assert_eq!(
            (&pending[0]["id"], &pending[0]["message"]),
            (&json!("r:interrupt-1"), &json!("Which flight?"))
        );
    }
    let compacted = piped(&["compact", "-"], &stream);
    assert!(compacted.status.success(), "{compacted:?}");
    let again = json_of(&piped(&["fold", "--json", "-"], &compacted.stdout));
    assert_eq!(again["pendingInterrupts"], folded["pendingInterrupts"]);
}

#[test]
fn a_fold_of_a_broken_stream_goes_to_the_event_before() {
    let folded = piped(&["fold", "--json", "-"], ndjson(&[STARTED, STRAY]));
    assert_eq!(folded.status.code(), Some(1));
    let folded: Value = serde_json::from_slice(&folded.stdout).unwrap();
    assert_eq!(folded["at"], 1);
    let lines = format!(
        "{{\"seq\":1,\"event\":{STARTED}}}\n{{\"from\":2,\"seq\":5,\"events\":[{STRAY}]}}\n"
    );
    let folded = piped(&["fold", "--json", "-"], lines);
    let folded: Value = serde_json::from_slice(&folded.stdout).unwrap();
    assert_eq!(folded["at"], 1);
}

#[test]
fn bytes_that_are_no_text_are_the_agents_fault_within_a_stream() {
    let stream = |tail: &[u8]| {
        let head = format!("data: {STARTED}\n\n: \u{e9}\n");
        [head.as_bytes(), b": \xff\n", tail].concat()
    };
    let broken = piped(&["check", "-"], stream(b"data: {\"type\":\"\xff\"}\n\n"));
    assert_eq!(broken.status.code(), Some(1));
    let page = text(&broken.stdout);
    assert!(
        page.starts_with(
            "<stdin>:5: event 2 breaks rule `event-shape`\nwhat      it is no UTF-8\n"
        ),
        "{page}"
    );
    // As in a hub, only what an event says has to be text.
    let legal = format!("data: {FINISHED}\n\n");
    let legal = piped(&["check", "-"], stream(legal.as_bytes()));
    assert_eq!(legal.status.code(), Some(0), "{}", text(&legal.stdout));
}

#[cfg(target_os = "linux")]
#[test]
fn a_verdict_that_cannot_be_written_is_none() {
    for command in ["check", "fold", "compact"] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let mut child = program(&[command, "-"])
            .stdin(Stdio::piped())
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stream = format!("data: {STARTED}\n\ndata: {FINISHED}\n\n");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(stream.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(text(&output.stderr).contains("No space left"), "{command}");
    }
}

#[test]
fn a_log_of_facts_alone_is_legal() {
    let fact = r#"{"seq":1,"fact":{"type":"happened"}}"#;
    for command in ["check", "fold", "compact"] {
        let output = piped(&[command, "-"], format!("{fact}\n"));
        assert_eq!(
            output.status.code(),
            Some(0),
            "{command}: {}",
            text(&output.stderr)
        );
    }
}

use serde_json::json;

use super::*;

fn by() -> Value {
    json!({ "id": "anonymous" })
}

/// A run that asks, two answers to it of which one is taken, and the run that takes it.
fn log() -> Log {
    let run = |run: &str, end: Value| {
        let message = format!("{run}-story");
        let piece = |delta: &str| json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": delta });
        vec![
            json!({ "type": "run.accepted", "by": by(), "runId": run }),
            json!({ "type": "run.dispatched", "by": by(), "runId": run }),
            json!({ "type": "RUN_STARTED", "threadId": "t", "runId": run }),
            json!({ "type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant" }),
            piece("1 "),
            piece("2 "),
            end,
        ]
    };
    let mut entries = run(
        "a",
        json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "a",
            "result": { "told": 2, "patched": 0 } }),
    );
    entries.push(json!({ "type": "interrupt.resolved", "by": by(), "of": "a", "interruptId": "q", "status": "resolved", "payload": "yes", "runId": "b" }));
    entries.extend(run(
        "b",
        json!({ "type": "RUN_ERROR", "message": "lost", "code": "AGENT_LOST" }),
    ));
    Log {
        thread: "t".to_owned(),
        entries,
    }
}

fn answered() -> Vec<Answered> {
    let ok =
        |run: &str, seq: u64| json!({ "op": "ok", "runId": run, "seq": seq, "duplicate": false });
    vec![
        Answered {
            command: json!({ "op": "run", "input": { "threadId": "t", "runId": "a" } }),
            answer: ok("a", 1),
        },
        Answered {
            command: json!({ "op": "resume", "threadId": "t", "of": "a", "runId": "b",
                "resume": [{ "interruptId": "q", "status": "resolved", "payload": "yes" }] }),
            answer: ok("b", 9),
        },
        Answered {
            command: json!({ "op": "resume", "threadId": "t", "of": "a", "runId": "c",
                "resume": [{ "interruptId": "q", "status": "resolved", "payload": "no" }] }),
            answer: json!({ "op": "error", "code": "already_resolved" }),
        },
    ]
}

fn calls() -> Vec<Call> {
    let call = |run: &str, resume: Value| Call {
        thread: "t".to_owned(),
        run: run.to_owned(),
        key: format!("key of {run}"),
        resume,
    };
    vec![
        call("a", Value::Null),
        call("b", json!([{ "interruptId": "q" }])),
    ]
}

fn watchers(log: &Log) -> Vec<Watcher> {
    let threads = [log.thread.clone()];
    [Wants::Log, Wants::Fold]
        .map(|wants| {
            let mut watcher = Watcher::new(0, format!("{wants:?}"), wants, &threads);
            let seen = watcher.seen.get_mut(&log.thread).unwrap();
            seen.seq = log.entries.len() as u64;
            seen.entries = (1..).zip(log.entries.clone()).collect();
            watcher
        })
        .into()
}

fn problems(log: &Log, watchers: &[Watcher], answered: &[Answered], calls: &[Call]) -> Vec<String> {
    let mut problems = Vec::new();
    log.judge_runs(&mut problems);
    log.judge_answers(&mut problems);
    for watcher in watchers {
        log.judge_seen(watcher, &mut problems);
    }
    for answered in answered {
        log.judge_answered(answered, &mut problems);
    }
    let logs = BTreeMap::from([(log.thread.clone(), log.clone())]);
    judge_calls(calls, &logs, &mut problems);
    problems
}

/// What is wrong if the log has become another one since it was told.
fn damaged(damage: impl FnOnce(&mut Vec<Value>)) -> Vec<String> {
    let mut other = log();
    damage(&mut other.entries);
    problems(&other, &watchers(&log()), &answered(), &calls())
}

#[test]
fn a_log_that_kept_everything_is_right() {
    let found = problems(&log(), &watchers(&log()), &answered(), &calls());
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn every_entry_that_is_lost_doubled_or_moved_is_found() {
    for at in 0..log().entries.len() {
        assert_ne!(
            damaged(|entries| drop(entries.remove(at))),
            [""; 0],
            "lost {at}"
        );
        let doubled = damaged(|entries| entries.insert(at, entries[at].clone()));
        assert_ne!(doubled, [""; 0], "doubled {at}");
        if at > 0 {
            assert_ne!(
                damaged(|entries| entries.swap(at - 1, at)),
                [""; 0],
                "moved {at}"
            );
        }
    }
}

#[test]
fn doubled_and_lost_runs_are_found_without_any_viewer() {
    let without_viewers = |damage: &dyn Fn(&mut Vec<Value>)| {
        let mut other = log();
        damage(&mut other.entries);
        problems(&other, &[], &answered(), &calls())
    };
    // Of the entries 0 to 14 these are accepted, dispatched, started, told twice, and ended.
    for at in [0, 1, 2, 4, 6, 8, 9, 10, 12, 14] {
        let lost = without_viewers(&|entries| drop(entries.remove(at)));
        assert_ne!(lost, [""; 0], "lost {at}");
    }
    for at in [0, 2, 4, 6, 8, 10, 12, 14] {
        let doubled = without_viewers(&|entries| entries.insert(at, entries[at].clone()));
        assert_ne!(doubled, [""; 0], "doubled {at}");
    }
    let second_answer = without_viewers(&|entries| {
        let mut other = entries[7].clone();
        other["payload"] = json!("no");
        entries.push(other);
    });
    assert_ne!(second_answer, [""; 0]);
}

#[test]
fn a_story_cut_short_and_an_answer_taken_twice_are_found_without_any_viewer() {
    let judged = |other: &Log| problems(other, &[], &answered(), &calls());
    let mut short = log();
    short.entries.remove(5);
    assert_ne!(judged(&short), [""; 0], "the last piece is missing");
    // The same answer again: while the run that took it goes on, and once it has failed.
    let again = json!({ "type": "interrupt.resolved", "by": by(), "of": "a", "interruptId": "q",
        "status": "resolved", "payload": "yes", "runId": "c" });
    let mut twice = log();
    twice.entries.insert(11, again.clone());
    assert_ne!(judged(&twice), [""; 0]);
    let mut retried = log();
    retried.entries.push(again);
    assert_eq!(judged(&retried), [""; 0]);
}

#[test]
fn a_doubled_call_and_a_key_for_two_decisions_are_found() {
    let judged = |calls: &[Call]| problems(&log(), &[], &[], calls);
    let mut twice = calls();
    twice.push(twice[1].clone());
    assert_ne!(judged(&twice), [""; 0]);
    let mut unasked = calls();
    unasked[0].run = "z".to_owned();
    assert_ne!(judged(&unasked), [""; 0]);
    let mut one_key = calls();
    one_key[0].key = one_key[1].key.clone();
    assert_ne!(judged(&one_key), [""; 0]);
}

#[test]
fn an_answer_that_no_hub_should_give_is_found() {
    let mut answered = answered();
    answered[2].answer = json!({ "op": "error", "code": "internal" });
    assert_ne!(problems(&log(), &[], &answered, &calls()), [""; 0]);
}

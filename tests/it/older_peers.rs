//! Clients and agents from before 1.0 (docs/protocol.md §13.8, §14.8).

use serde_json::{Value, json};
use threadcast_agui::downgrade::{Downgrade, Downgraded};
use threadcast_agui::event::{Event, EventBody, Outcome};
use threadcast_run_registry::conversation::Conversation;
use threadcast_run_registry::histories::{history, streams_into_parts};
use threadcast_run_registry::snapshot::snapshot_for_older;
use threadcast_tests::live_agents::LiveAgents;
use threadcast_tests::node::{Held, http_agent, http_agent_of, script, steps_of};
use threadcast_tests::program::Program;
use threadcast_tests::recording::Recording;
use threadcast_tests::replay::Replay;
use threadcast_tests::{http, within};

/// The packages of older clients.
const OLDER: [&str; 2] = ["ag-ui-client-0-0-57", "ag-ui-client-0-0-59"];

/// Histories of one test: what a loaded machine does in some seconds.
const HISTORIES: u64 = 300;

/// Least share of the messages that is compared with either client, and of the states.
const MESSAGES_PERCENT: u64 = 75;
const STATES_PERCENT: usize = 85;

/// What an older reader gets of `events`: where its stream ends early, it comes back behind the
/// last one it was told.
fn streams(events: &[Event]) -> Vec<Vec<String>> {
    let mut downgrade = Downgrade::default();
    let mut streams = vec![Vec::new()];
    let (mut at, mut last) = (0, None);
    while at < events.len() {
        match downgrade.take(&events[at]) {
            Downgraded::Event(json) => {
                let stream = streams.last_mut().expect("there is one");
                stream.push(json.as_str().to_owned());
                last = Some(at);
            }
            Downgraded::LeftOut => {}
            Downgraded::StreamEnds => {
                let told = last
                    .take()
                    .expect("a stream tells something before it ends");
                downgrade = behind(&events[told]);
                streams.push(Vec::new());
                at = told;
            }
        }
        at += 1;
    }
    streams
}

/// A stream behind the end of a run.
fn behind(end: &Event) -> Downgrade {
    match &end.body {
        EventBody::RunFinished {
            outcome: Outcome::Cancelled,
            ..
        } => Downgrade::behind_cancelled(),
        _ => Downgrade::default(),
    }
}

#[test]
fn who_comes_back_behind_a_cancelled_run_hears_of_no_late_failure() {
    let events = [
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1"}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r1","outcome":{"type":"cancelled"}}"#,
        r#"{"type":"RUN_ERROR","message":"late"}"#,
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r2"}"#,
    ];
    let streams = streams(&events.map(|json| Event::read(json).unwrap()));
    let lengths: Vec<_> = streams.iter().map(Vec::len).collect();
    assert_eq!(lengths, [2, 1], "{streams:?}");
}

fn texts(events: &[Event]) -> Vec<String> {
    let texts = events.iter().map(|event| event.json.as_str().to_owned());
    texts.collect()
}

/// The present client is given the whole history, the older ones what they get of it.
async fn compare(cases: Vec<Value>) {
    let verdicts = script("older_clients.mjs", &json!(cases)).await;
    let verdicts = verdicts.as_array().unwrap();
    assert_eq!(verdicts.len(), OLDER.len() * cases.len());
    for verdict in verdicts {
        let case = || cases.iter().find(|case| case["name"] == verdict["name"]);
        let (error, differs) = (verdict.get("error"), verdict.get("differs"));
        assert!(
            error.is_none() && differs.is_none(),
            "{verdict:#}\n{:#}",
            case().unwrap()
        );
    }
    for client in ["0.0.57", "0.0.59"] {
        let of_client = verdicts
            .iter()
            .filter(|verdict| verdict["client"] == client);
        must_compare_most(client, &of_client.collect::<Vec<_>>());
    }
}

/// What older clients have no words for is left out of the comparison; this much is not.
fn must_compare_most(client: &str, verdicts: &[&Value]) {
    let sum = |name: &str| -> u64 {
        let counts = verdicts
            .iter()
            .map(|verdict| verdict[name].as_u64().unwrap());
        counts.sum()
    };
    let (compared, held) = (sum("compared"), sum("messages"));
    let with_state = verdicts
        .iter()
        .filter(|verdict| verdict["hasState"] == true);
    let (with_state, all) = (with_state.count(), verdicts.len());
    println!("{client}: {compared} of {held} messages, {with_state} of {all} states compared");
    assert!(compared * 100 >= held * MESSAGES_PERCENT && with_state * 100 >= all * STATES_PERCENT);
}

/// Fixed seeds and fresh ones.
fn seeds() -> impl Iterator<Item = u64> {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap();
    let fresh = now.as_secs() << 20;
    (0..HISTORIES / 2).chain(fresh..fresh + HISTORIES / 2)
}

/// Without those that older clients end differently on (docs/protocol.md §13.8).
fn comparable(seeds: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    seeds.filter(|seed| !streams_into_parts(&history(*seed)))
}

#[tokio::test(flavor = "multi_thread")]
async fn older_clients_hold_of_every_history_what_the_present_one_does() {
    let case = |seed: u64| {
        let events = history(seed);
        let name = format!("seed {seed}");
        json!({ "name": name, "events": texts(&events), "streams": streams(&events) })
    };
    compare(comparable(seeds()).map(case).collect()).await;
}

/// Of fixed histories: where several results share one id, 0.0.57 may hold them in another order
/// than it would have without a snapshot (docs/protocol.md §13.8).
#[tokio::test(flavor = "multi_thread")]
async fn older_clients_join_anywhere_by_a_snapshot() {
    let case = |seed: u64| {
        let events = history(seed);
        let cut = 1 + (seed as usize % events.len());
        let mut conversation = Conversation::new();
        for event in &events[..cut] {
            conversation.apply(event);
        }
        let mut told = snapshot_for_older(&conversation);
        told.extend_from_slice(&events[cut..]);
        let name = format!("seed {seed}, cut at {cut}");
        json!({ "name": name, "events": texts(&events), "streams": streams(&told) })
    };
    compare(comparable(0..HISTORIES).map(case).collect()).await;
}

/// What a client holds that knows no subagents; texts are compared, not who said them.
fn without_owners(held: &Held) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(strip),
            Value::Object(members) => {
                members.retain(|name, _| name != "subagentRunId");
                members.values_mut().for_each(strip);
            }
            _ => {}
        }
    }
    let mut value = json!([
        held.messages,
        held.state,
        held.pending_interrupts,
        held.error
    ]);
    strip(&mut value);
    value
}

/// Recordings whose client did what the hub refuses.
const REFUSED_BY_THE_HUB: [&str; 2] = [
    "agui-pydantic-approval-bad-resume",
    "agui-langgraph-interrupt-noresume",
];

/// The recorded client answered by the command, which has tests of its own.
const ANSWERED_BY_COMMAND: &str = "agui-langgraph-interrupt-legacy";

#[tokio::test(flavor = "multi_thread")]
async fn recorded_runs_end_for_older_clients_as_for_the_present_one() {
    let mut recordings = Recording::complete();
    recordings.retain(|recording| {
        let name = recording.name.as_str();
        !REFUSED_BY_THE_HUB.contains(&name) && name != ANSWERED_BY_COMMAND
    });
    assert!(
        recordings
            .iter()
            .any(|recording| recording.name.contains("subagents"))
    );
    let directly = Replay::start(recordings.clone()).await;
    let client = OLDER[1];
    let replay = Replay::start(recordings.clone()).await;
    let hub = Program::start(&replay.agents()).await;
    for recording in &recordings {
        let name = &recording.name;
        let steps = steps_of(recording);
        let url = hub.http(&format!("/agents/{name}/run"));
        let direct = directly.url(name);
        let (older, present) = tokio::join!(
            http_agent_of(client, &url, name, &steps),
            http_agent(&direct, name, &steps),
        );
        let without_owners = |held: &[Held]| held.iter().map(without_owners).collect::<Vec<_>>();
        assert_eq!(without_owners(&older), without_owners(&present), "{name}");
    }
}

/// A subagent with a step of its parent's name, a result in parts, a run that is cancelled.
fn all_that_is_new() -> Recording {
    let run = |rest: Vec<Value>| {
        let started = json!({ "type": "RUN_STARTED", "threadId": "THREAD", "runId": "RUN", "protocolVersion": "1.0" });
        std::iter::once(started).chain(rest).collect::<Vec<_>>()
    };
    let finished = |outcome: Value| json!({ "type": "RUN_FINISHED", "threadId": "THREAD", "runId": "RUN", "outcome": outcome });
    let parts = json!([{ "type": "text", "text": "two " }, { "type": "text", "text": "parts" }]);
    let delegated = vec![
        json!({ "type": "STEP_STARTED", "stepName": "tools" }),
        json!({ "type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "helper" }),
        json!({ "type": "STEP_STARTED", "stepName": "tools", "subagentRunId": "s" }),
        json!({ "type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "look", "subagentRunId": "s" }),
        json!({ "type": "TOOL_CALL_END", "toolCallId": "c", "subagentRunId": "s" }),
        json!({ "type": "TOOL_CALL_RESULT", "messageId": "t", "toolCallId": "c", "content": parts, "subagentRunId": "s" }),
        json!({ "type": "FUTURE", "value": 1 }),
        json!({ "type": "STEP_FINISHED", "stepName": "tools", "subagentRunId": "s" }),
        json!({ "type": "SUBAGENT_FINISHED", "subagentRunId": "s" }),
        json!({ "type": "STEP_FINISHED", "stepName": "tools" }),
        finished(json!({ "type": "success", "pendingToolCallIds": ["c"] })),
    ];
    let cancelled = vec![finished(json!({ "type": "cancelled" }))];
    let last = vec![finished(json!({ "type": "success" }))];
    Recording::scripted("new", &[run(delegated), run(cancelled), run(last)])
}

#[tokio::test(flavor = "multi_thread")]
async fn older_clients_follow_subagents_and_cancelled_runs_through_the_hub() {
    let replay = Replay::start([all_that_is_new()]).await;
    let hub = Program::start(&replay.agents()).await;
    let step = |run: &str| json!({ "runId": run, "append": [{ "id": run, "role": "user", "content": "hi" }] });
    for client in OLDER {
        let url = hub.http("/agents/new/run");
        let steps = [step("r1"), step("r2"), step("r3")];
        let held = http_agent_of(client, &url, client, &steps).await;
        let errors: Vec<_> = held.iter().filter_map(|held| held.error.as_ref()).collect();
        assert!(errors.is_empty(), "{client} died: {errors:?}");
        let messages = held[2].messages.as_array().unwrap();
        let told: Vec<_> = messages
            .iter()
            .map(|message| (message["role"].as_str().unwrap(), &message["content"]))
            .collect();
        let hi = json!("hi");
        assert_eq!(
            told,
            [
                ("user", &hi),
                ("assistant", &Value::Null),
                ("tool", &json!("two parts")),
                ("user", &hi),
                ("user", &hi)
            ]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn older_clients_are_asked_by_the_demo_agent_and_answer() {
    let hub = Program::start(&[]).await;
    for client in OLDER {
        let ask = json!([{ "id": "u1", "role": "user", "content": "Please refund order 7" }]);
        let steps = [
            json!({ "runId": "r1", "append": ask }),
            json!({ "runId": "r2", "append": [], "answers": [{ "approved": true }] }),
        ];
        let held = http_agent_of(client, &hub.http("/agents/demo/run"), client, &steps).await;
        assert!(held.iter().all(|held| held.error.is_none()), "{held:#?}");
        assert_eq!(held[0].pending_interrupts.as_array().unwrap().len(), 1);
        assert_eq!(held[1].pending_interrupts, json!([]));
        let view = http::get(hub.address(), &format!("/threads/{client}"))
            .await
            .json();
        assert_eq!(view["status"], "success");
    }
}

/// The texts that a client holds, by role.
fn texts_of(held: &Held) -> Vec<(String, String)> {
    let messages = held.messages.as_array().unwrap().iter();
    let text = |message: &Value, name: &str| message[name].as_str().unwrap_or_default().to_owned();
    messages
        .map(|message| (text(message, "role"), text(message, "content")))
        .collect()
}

/// Goal: an agent as it is published, that asks by events alone, is answered like any other. The
/// same graph asks once in an outcome and once by events.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_asks_by_events_is_answered_like_any_other() {
    let agents = LiveAgents::start().await;
    let paths = ["/langgraph/booking", "/langgraph/booking-by-event"];
    let named = paths.map(|path| {
        (
            path.rsplit('/').next().unwrap().to_owned(),
            agents.url(path),
        )
    });
    let hub = Program::start(&named).await;
    let steps = [
        json!({ "runId": "r1", "append": [{ "id": "u1", "role": "user", "content": "book" }] }),
        json!({ "runId": "r2", "append": [], "answers": [{ "pick": "AA1" }] }),
    ];
    let mut ended = Vec::new();
    for client in ["@ag-ui/client", OLDER[0], OLDER[1]] {
        for (name, _) in &named {
            let thread = format!("{name} {client}");
            let url = hub.http(&format!("/agents/{name}/run"));
            let held = http_agent_of(client, &url, &thread, &steps).await;
            assert!(held.iter().all(|held| held.error.is_none()), "{held:#?}");
            let asked = &held[0].pending_interrupts[0];
            assert_eq!(
                (
                    &asked["reason"],
                    &asked["message"],
                    &asked["responseSchema"]["required"]
                ),
                (
                    &json!("flight:choose"),
                    &json!("Pick a flight"),
                    &json!(["pick"])
                ),
            );
            assert_eq!(held[1].pending_interrupts, json!([]), "{thread}");
            ended.push((
                texts_of(&held[1]),
                held[1].state["messages"].as_array().unwrap().len(),
            ));
        }
    }
    let picked = ("user".to_owned(), r#"picked {"pick": "AA1"}"#.to_owned());
    assert!(ended[0].0.contains(&picked), "{ended:#?}");
    assert!(ended.iter().all(|held| *held == ended[0]), "{ended:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_questions_by_events_are_answered_at_once() {
    let agents = LiveAgents::start().await;
    let named = [(
        "two".to_owned(),
        agents.url("/langgraph/two-questions-by-event"),
    )];
    let hub = Program::start(&named).await;
    let steps = [
        json!({ "runId": "r1", "append": [{ "id": "u1", "role": "user", "content": "book" }] }),
        json!({ "runId": "r2", "append": [], "answers": ["yes", "42"] }),
    ];
    let held = http_agent(&hub.http("/agents/two/run"), "t", &steps).await;
    assert!(held.iter().all(|held| held.error.is_none()), "{held:#?}");
    let asked = held[0].pending_interrupts.as_array().unwrap();
    let questions: Vec<_> = asked
        .iter()
        .map(|asked| asked["message"].as_str().unwrap())
        .collect();
    assert_eq!(questions, ["window?", "meal?"]);
    assert_eq!(held[1].pending_interrupts, json!([]));
    let mut told = texts_of(&held[1]);
    told.retain(|(_, text)| text.contains('?'));
    told.sort();
    let user = |text: &str| ("user".to_owned(), text.to_owned());
    assert_eq!(told, [user(r#"meal? "42""#), user(r#"window? "yes""#)]);

    let entries = asked.iter().zip(["yes", "42"]).map(|(asked, payload)| {
        json!({ "interruptId": asked["id"], "status": "resolved", "payload": payload })
    });
    let again = json!({ "of": "r1", "runId": "r3", "resume": entries.collect::<Vec<_>>() });
    let again = within(
        "the repeat",
        http::post(hub.address(), "/threads/t/resume", again.to_string()),
    )
    .await;
    let again = again.json();
    assert_eq!(
        (&again["runId"], &again["duplicate"]),
        (&json!("r2"), &json!(true))
    );
}

/// The recorded client knows no `resume`: it answers with the command that its agent expects.
#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_client_answers_by_the_command_through_the_hub() {
    let recording = Recording::load(ANSWERED_BY_COMMAND);
    let replay = Replay::start([recording.clone()]).await;
    let hub = Program::start(&replay.agents()).await;
    let path = format!("/agents/{ANSWERED_BY_COMMAND}/run");
    let mut told = Vec::new();
    for exchange in &recording.exchanges {
        let answer = http::post(hub.address(), &path, exchange.request.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        told.push(answer.sse_events());
    }
    assert_eq!(told[0].last().unwrap()["outcome"]["type"], "interrupt");
    let thread = recording.exchanges[0].request["threadId"].as_str().unwrap();
    let requests = replay.requests(thread);
    assert_eq!(
        requests[1]["forwardedProps"],
        recording.exchanges[1].request["forwardedProps"]
    );
    let view = http::get(hub.address(), &format!("/threads/{thread}"))
        .await
        .json();
    assert_eq!(
        (&view["status"], &view["thread"]["interrupts"]),
        (&json!("success"), &json!([]))
    );
}

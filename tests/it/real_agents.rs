//! Runs of real agents reach the published client, a viewer from the start and one that joins in
//! mid-run, equally.

use std::collections::HashMap;

use serde_json::{Value, json};
use threadcast_tests::http;
use threadcast_tests::live_agents::LiveAgents;
use threadcast_tests::node::{Held, apply, http_agent, steps_of};
use threadcast_tests::program::Program;
use threadcast_tests::recording::Recording;
use threadcast_tests::replay::Replay;
use threadcast_tests::viewer::{Start, Viewer, events_of};

/// Recordings whose client did what the hub does not let through to the agent: each has a test of
/// its own.
const REFUSED_BY_THE_HUB: [&str; 2] = [
    "agui-pydantic-approval-bad-resume",
    "agui-langgraph-interrupt-noresume",
];

/// Its client answers by a command, for its agent asks by events: see `older_peers`.
const ANSWERED_BY_COMMAND: &str = "agui-langgraph-interrupt-legacy";

fn recordings() -> Vec<Recording> {
    let mut all = Recording::complete();
    all.retain(|Recording { name, .. }| {
        !REFUSED_BY_THE_HUB.contains(&name.as_str()) && name != ANSWERED_BY_COMMAND
    });
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_runs_end_equal_for_the_client_and_both_viewers() {
    let recordings = recordings();
    assert!(
        recordings.len() >= 12,
        "only {} recordings were found",
        recordings.len()
    );
    let replay = Replay::start(recordings.clone()).await;
    let directly = Replay::start(recordings.clone()).await;
    let hub = Program::start(&replay.agents()).await;
    for recording in &recordings {
        let name = &recording.name;
        let thread = format!("watched-{name}");
        let direct = http_agent(&directly.url(name), &thread, &steps_of(recording)).await;
        let watched = watch_recorded(&hub, &replay, recording, &thread).await;
        assert_eq!(
            watched.client, direct,
            "{name}: the client through the hub and the client at the agent"
        );
        assert_all_equal(name, &thread, &watched).await;
    }
}

/// What the recorded agents answered with RUN_ERROR, or by asking again, the hub answers itself: the
/// run is not burnt and the agent hears nothing.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_recorded_client_got_wrong_never_reaches_the_agent() {
    let recordings = REFUSED_BY_THE_HUB.map(Recording::load);
    let replay = Replay::start(recordings.clone()).await;
    let hub = Program::start(&replay.agents()).await;
    for recording in &recordings {
        let name = &recording.name;
        let thread = format!("refused-{name}");
        let (first, second) = (
            &recording.exchanges[0].request,
            &recording.exchanges[1].request,
        );
        let path = format!("/agents/{name}/run");
        let mut codes = Vec::new();
        for request in [first, second] {
            let mut input = request.clone();
            input["threadId"] = json!(thread);
            let answer = http::post(hub.address(), &path, input.to_string()).await;
            if answer.status != 200 {
                codes.push(answer.json()["code"].as_str().unwrap().to_owned());
            }
        }
        let expected = if second.get("resume").is_some() {
            "payload_invalid"
        } else {
            "interrupts_open"
        };
        assert_eq!(codes, [expected], "{name}");
        assert_eq!(
            replay.requests(&thread).len(),
            1,
            "{name}: the agent heard the first run only"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn live_agents_end_equal_for_the_client_and_both_viewers() {
    let agents = LiveAgents::start().await;
    let cases = live_cases();
    let names = cases
        .iter()
        .map(|case| (case.name.to_owned(), agents.url(case.path)));
    let hub = Program::start(&names.collect::<Vec<_>>()).await;
    for case in &cases {
        let thread = format!("live-{}", case.name);
        let steps = case.steps.clone();
        let direct = http_agent(
            &agents.url(case.path),
            &format!("direct-{}", case.name),
            &steps,
        )
        .await;
        let mut from_start = Viewer::connect(&hub.ws()).await;
        from_start.subscribe(&thread, Start::Snapshot).await;
        let url = hub.http(&format!("/agents/{}/run", case.name));
        let running = tokio::spawn({
            let thread = thread.clone();
            async move { http_agent(&url, &thread, &steps).await }
        });
        let mut frames = from_start.frames_to_event(&thread, 3).await;
        let mut joining = Viewer::connect(&hub.ws()).await;
        joining.subscribe(&thread, Start::Snapshot).await;
        let last_run = format!("run-{}", case.steps.len());
        frames.extend(from_start.frames_to_end(&thread, &last_run).await);
        let joined = joining.frames_to_end(&thread, &last_run).await;
        let client = running.await.unwrap();
        assert_eq!(
            renamed(&client),
            renamed(&direct),
            "{}: through the hub and at the agent",
            case.name
        );
        let watched = Watched {
            client,
            from_start: events_of(&frames),
            joined: events_of(&joined),
        };
        assert_all_equal(case.name, &thread, &watched).await;
    }
}

/// What the client held after each step, and what two viewers were sent meanwhile.
struct Watched {
    client: Vec<Held>,
    from_start: Vec<Value>,
    joined: Vec<Value>,
}

/// Runs a recording by an `HttpAgent` through the hub, watched from the start and from the middle
/// of its last run.
async fn watch_recorded(
    hub: &Program,
    replay: &Replay,
    recording: &Recording,
    thread: &str,
) -> Watched {
    let steps = steps_of(recording);
    let last_run = steps.last().unwrap()["runId"].as_str().unwrap().to_owned();
    let hold = replay.hold(thread);
    let mut from_start = Viewer::connect(&hub.ws()).await;
    from_start.subscribe(thread, Start::Snapshot).await;
    let url = hub.http(&format!("/agents/{}/run", recording.name));
    let running = tokio::spawn({
        let thread = thread.to_owned();
        async move { http_agent(&url, &thread, &steps).await }
    });
    let blocks: Vec<&String> = recording
        .exchanges
        .iter()
        .flat_map(|exchange| &exchange.blocks)
        .collect();
    let half = blocks.len() - recording.exchanges.last().unwrap().blocks.len() / 2;
    hold.allow(half);
    let shown = blocks[..half]
        .iter()
        .filter(|block| !block.contains("\"type\":\"RAW\""))
        .count();
    let mut frames = from_start.frames_to_event(thread, shown).await;
    let mut joining = Viewer::connect(&hub.ws()).await;
    joining.subscribe(thread, Start::Snapshot).await;
    hold.release();
    frames.extend(from_start.frames_to_end(thread, &last_run).await);
    let joined = joining.frames_to_end(thread, &last_run).await;
    Watched {
        client: running.await.unwrap(),
        from_start: events_of(&frames),
        joined: events_of(&joined),
    }
}

async fn assert_all_equal(name: &str, thread: &str, watched: &Watched) {
    let client = watched.client.last().unwrap();
    assert_eq!(client.error, None, "{name}: the client's last run");
    let viewers = apply(
        thread,
        &[watched.from_start.clone(), watched.joined.clone()],
    )
    .await;
    assert_eq!(
        &viewers[0], client,
        "{name}: the viewer from the start and the client"
    );
    assert_eq!(
        &viewers[1], client,
        "{name}: the viewer that joined in mid-run and the client"
    );
}

struct LiveCase {
    name: &'static str,
    path: &'static str,
    /// Each step's `resume` holds payloads only: ids are those the agent gave.
    steps: Vec<Value>,
}

fn live_cases() -> Vec<LiveCase> {
    let ask = |id: &str, text: &str| json!([{ "id": id, "role": "user", "content": text }]);
    vec![
        LiveCase {
            name: "pydantic-plan",
            path: "/pydantic/plan",
            steps: vec![
                json!({ "runId": "run-1", "append": ask("u1", "make tea") }),
                json!({ "runId": "run-2", "append": ask("u2", "and again") }),
            ],
        },
        LiveCase {
            name: "pydantic-approval",
            path: "/pydantic/approval",
            steps: vec![
                json!({ "runId": "run-1", "append": ask("u1", "delete both") }),
                json!({ "runId": "run-2", "append": [], "answers": [{ "approved": true }, { "approved": false, "reason": "keep it" }] }),
            ],
        },
        LiveCase {
            name: "pydantic-failure",
            path: "/pydantic/failure",
            steps: vec![json!({ "runId": "run-1", "append": ask("u1", "fail") })],
        },
        LiveCase {
            name: "langgraph-weather",
            path: "/langgraph/weather",
            steps: vec![json!({ "runId": "run-1", "append": ask("u1", "weather?") })],
        },
        LiveCase {
            name: "langgraph-booking",
            path: "/langgraph/booking",
            steps: vec![
                json!({ "runId": "run-1", "append": ask("u1", "book") }),
                json!({ "runId": "run-2", "append": [], "answers": [{ "pick": "AA1" }] }),
            ],
        },
    ]
}

/// What clients hold, with ids replaced by numbers in the order of their appearance.
fn renamed(held: &[Held]) -> Vec<Value> {
    let mut names = HashMap::new();
    let all = held.iter().map(|held| {
        json!([
            held.messages,
            held.state,
            held.pending_interrupts,
            held.error
        ])
    });
    all.map(|mut value| {
        rename(&mut value, &mut names);
        value
    })
    .collect()
}

fn rename(value: &mut Value, names: &mut HashMap<String, usize>) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| rename(value, names)),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(id)
                        if name == "id" || name.ends_with("Id") || name.ends_with("_id") =>
                    {
                        let next = names.len();
                        *value = json!(*names.entry(id.clone()).or_insert(next));
                    }
                    _ => rename(value, names),
                }
            }
        }
        _ => {}
    }
}

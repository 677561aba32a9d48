//! A hub that keeps its logs on disk is started again where it stood, however it ended.

use serde_json::{Value, json};
use threadcast_tests::closed_door::ClosedDoor;
use threadcast_tests::data_dir::DataDir;
use threadcast_tests::program::Program;
use threadcast_tests::recording::Recording;
use threadcast_tests::replay::Replay;
use threadcast_tests::viewer::{Start, Viewer};
use threadcast_tests::within;

/// How a hub ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Killed,
    Stopped,
}

impl End {
    const ALL: [Self; 2] = [Self::Killed, Self::Stopped];

    async fn happen(self, hub: Program) {
        match self {
            Self::Killed => hub.kill().await,
            Self::Stopped => hub.stop().await,
        }
    }
}

fn started() -> Value {
    json!({ "type": "RUN_STARTED", "threadId": "THREAD", "runId": "RUN" })
}

fn finished() -> Value {
    json!({ "type": "RUN_FINISHED", "threadId": "THREAD", "runId": "RUN" })
}

fn asking() -> Value {
    let interrupts = json!([{ "id": "refund", "reason": "confirmation", "message": "Refund 40?" }]);
    let mut asking = finished();
    asking["outcome"] = json!({ "type": "interrupt", "interrupts": interrupts });
    asking
}

fn run(agent: &str, thread: &str, run: &str) -> Value {
    let messages = json!([{ "id": format!("{run}-asks"), "role": "user", "content": "well?" }]);
    json!({ "op": "run", "agent": agent, "input": { "threadId": thread, "runId": run, "messages": messages } })
}

fn resume(thread: &str, run: &str, payload: &Value) -> Value {
    let entries = json!([{ "interruptId": "refund", "status": "resolved", "payload": payload }]);
    json!({ "op": "resume", "threadId": thread, "of": "asks", "runId": run, "resume": entries })
}

async fn ok(viewer: &mut Viewer, request: Value) -> Value {
    let answer = viewer.ask(request).await;
    assert_eq!(answer["op"], "ok", "{answer}");
    answer
}

async fn status(hub: &Program, thread: &str) -> Value {
    let mut viewer = Viewer::connect(&hub.ws()).await;
    ok(&mut viewer, json!({ "op": "status", "threadId": thread })).await
}

/// Every entry up to the end of a run.
async fn log_to_end(hub: &Program, thread: &str, run: &str) -> Vec<Value> {
    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer.subscribe(thread, Start::Log).await;
    entries(viewer.frames_to_end(thread, run).await)
}

fn entries(frames: Vec<Value>) -> Vec<Value> {
    let is_entry = |frame: &Value| matches!(frame["op"].as_str(), Some("event" | "fact"));
    frames.into_iter().filter(is_entry).collect()
}

fn fact_types(entries: &[Value]) -> Vec<&str> {
    let facts = entries
        .iter()
        .filter_map(|entry| entry["fact"]["type"].as_str());
    facts.collect()
}

/// Goal: whoever watched goes on where it stood, wherever in the run the hub ended. Nothing was
/// lost, so nobody is reset; the agent's call is gone, so the run ends, once.
#[tokio::test(flavor = "multi_thread")]
async fn viewers_of_a_broken_run_resume_and_see_it_end_as_lost() {
    let recording = Recording::load("agui-pydantic-tools-state-reasoning");
    let replay = Replay::start([recording.clone()]).await;
    let data = DataDir::new();
    let mut hub = Program::start_on(&data, &replay.agents()).await;
    let blocks = recording.exchanges[0].blocks.len();
    for (cut, end) in (1..blocks).step_by(4).zip(End::ALL.into_iter().cycle()) {
        let thread = format!("broken-{cut}");
        let hold = replay.hold(&thread);
        hold.allow(cut);
        let mut viewer = Viewer::connect(&hub.ws()).await;
        let subscribed = viewer.subscribe(&thread, Start::Log).await;
        ok(&mut viewer, run(&recording.name, &thread, "broken")).await;
        let mut seen = viewer.frames_to_event(&thread, cut).await;
        let epoch = seen
            .iter()
            .rfind(|frame| frame["op"] == "epoch")
            .unwrap_or(&subscribed);
        let epoch = epoch["epoch"].as_str().unwrap().to_owned();
        // What was on the way counts as well.
        let reading = async move {
            let mut frames = Vec::new();
            while let Some(frame) = viewer.frame().await {
                frames.push(frame);
            }
            frames
        };
        let ((), last) = tokio::join!(end.happen(hub), reading);
        seen.extend(last);
        let seen = entries(seen);
        hub = Program::start_on(&data, &replay.agents()).await;

        let mut back = Viewer::connect(&hub.ws()).await;
        let answer = back
            .subscribe(&thread, Start::LogAfter(&epoch, seen.len() as u64))
            .await;
        assert_eq!(answer["mode"], "resumed", "{end:?} after {cut}: {answer}");
        let whole = log_to_end(&hub, &thread, "broken").await;
        let head = whole.len() as u64;
        let rest = entries(back.frames_to(&thread, head).await);
        let last = rest.last().unwrap();
        assert_eq!(last["event"]["code"], "AGENT_LOST", "{end:?} after {cut}");
        assert_eq!([seen, rest].concat(), whole, "{end:?} after {cut}");
        let seqs = whole.iter().map(|entry| entry["seq"].as_u64().unwrap());
        assert!(seqs.eq(1..=head), "{end:?} after {cut}");
        assert_eq!(status(&hub, &thread).await["status"], "error");
    }
    assert!(replay.requests("broken-1").len() == 1, "nobody calls twice");
}

/// Goal: a run whose agent was never called is called after the restart: nothing can happen twice.
#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_run_that_was_not_dispatched_starts_after_the_restart() {
    for end in End::ALL {
        let door = ClosedDoor::new();
        let agents = [("slow".to_owned(), door.url("slow"))];
        let data = DataDir::new();
        let hub = Program::start_on(&data, &agents).await;
        let mut viewer = Viewer::connect(&hub.ws()).await;
        ok(&mut viewer, run("slow", "quiet", "first")).await;
        drop(viewer);
        end.happen(hub).await;
        let answering = Recording::scripted("slow", &[vec![started(), finished()]]);
        let replay = door.open([answering]);

        let hub = Program::start_on(&data, &agents).await;
        let log = log_to_end(&hub, "quiet", "first").await;
        let kept = ["run.accepted", "run.dispatched"];
        assert_eq!(fact_types(&log), kept, "{end:?}: {log:?}");
        assert_eq!(status(&hub, "quiet").await["status"], "success", "{end:?}");
        assert_eq!(replay.requests("quiet").len(), 1, "{end:?}");
        let content = &replay.requests("quiet")[0]["messages"][0]["content"];
        assert_eq!(content, "well?", "it is asked what was submitted");
    }
}

/// Goal: what was asked before a restart can be answered after it, once.
#[tokio::test(flavor = "multi_thread")]
async fn open_questions_stand_and_are_answered_after_the_restart() {
    for end in End::ALL {
        let runs = [vec![started(), asking()], vec![started(), finished()]];
        let replay = Replay::start([Recording::scripted("asking", &runs)]).await;
        let data = DataDir::new();
        let hub = Program::start_on(&data, &replay.agents()).await;
        let mut viewer = Viewer::connect(&hub.ws()).await;
        viewer.subscribe("refunds", Start::Log).await;
        ok(&mut viewer, run("asking", "refunds", "asks")).await;
        viewer.frames_to_end("refunds", "asks").await;
        drop(viewer);
        end.happen(hub).await;

        let hub = Program::start_on(&data, &replay.agents()).await;
        let before = status(&hub, "refunds").await;
        assert_eq!(
            before["thread"]["interrupts"][0]["interrupt"]["id"],
            "refund"
        );
        let mut viewer = Viewer::connect(&hub.ws()).await;
        let open = viewer.ask(run("asking", "refunds", "other")).await;
        assert_eq!(open["code"], "interrupts_open", "{open}");
        let answer = ok(&mut viewer, resume("refunds", "answers", &json!(true))).await;
        assert_eq!(answer["duplicate"], false, "{end:?}: {answer}");
        log_to_end(&hub, "refunds", "answers").await;
        assert_eq!(replay.requests("refunds")[1]["resume"][0]["payload"], true);
        drop(viewer);
        end.happen(hub).await;

        let hub = Program::start_on(&data, &replay.agents()).await;
        let mut viewer = Viewer::connect(&hub.ws()).await;
        let again = ok(&mut viewer, resume("refunds", "again", &json!(true))).await;
        assert_eq!(again["runId"], "answers", "{end:?}: {again}");
        let late = viewer.ask(resume("refunds", "late", &json!(false))).await;
        assert_eq!(late["code"], "already_resolved", "{end:?}: {late}");
        assert_eq!(replay.requests("refunds").len(), 2, "{end:?}");
    }
}

/// Goal: nobody knows whether an agent acted on an answer that was on the way when the hub ended.
/// That is told, and the same answer may go out again, under the same key.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_on_its_way_is_in_doubt_after_the_restart() {
    for end in End::ALL {
        let done = vec![started(), finished()];
        let runs = [vec![started(), asking()], done.clone(), done];
        let replay = Replay::start([Recording::scripted("asking", &runs)]).await;
        let data = DataDir::new();
        let hub = Program::start_on(&data, &replay.agents()).await;
        let hold = replay.hold("refunds");
        hold.allow(2);
        let mut viewer = Viewer::connect(&hub.ws()).await;
        viewer.subscribe("refunds", Start::Log).await;
        ok(&mut viewer, run("asking", "refunds", "asks")).await;
        viewer.frames_to_end("refunds", "asks").await;
        ok(&mut viewer, resume("refunds", "answers", &json!(true))).await;
        // The agent has the answer, and says nothing to it.
        within("the agent's second call", replay.asked("refunds", 2)).await;
        drop(viewer);
        end.happen(hub).await;
        hold.release();

        let hub = Program::start_on(&data, &replay.agents()).await;
        log_to_end(&hub, "refunds", "answers").await;
        let status = status(&hub, "refunds").await;
        let runs = status["thread"]["runs"].as_array().unwrap();
        let answering = runs.last().unwrap();
        assert_eq!(
            answering["error"]["code"], "AGENT_LOST",
            "{end:?}: {status}"
        );
        assert_eq!(answering["inDoubt"], true, "{end:?}: {status}");
        assert_eq!(status["thread"]["interrupts"], json!([]), "{end:?}");
        let mut viewer = Viewer::connect(&hub.ws()).await;
        let other = viewer.ask(resume("refunds", "other", &json!(false))).await;
        assert_eq!(other["code"], "already_resolved", "{end:?}: {other}");
        let again = ok(&mut viewer, resume("refunds", "again", &json!(true))).await;
        assert_eq!(again["runId"], "again", "{end:?}: {again}");
        log_to_end(&hub, "refunds", "again").await;
        let keys = replay.keys("refunds");
        assert_eq!(keys.len(), 3, "{end:?}");
        assert_eq!(keys[1], keys[2], "{end:?}: one decision, one key");
    }
}

/// Goal: a hub on disk that lost nothing gives a thread as it was, to those who come anew as well.
#[tokio::test(flavor = "multi_thread")]
async fn threads_are_there_after_restarts_as_they_were() {
    let data = DataDir::new();
    let hub = Program::start_on(&data, &[]).await;
    let mut viewer = Viewer::connect(&hub.ws()).await;
    viewer.subscribe("refunds", Start::Log).await;
    ok(&mut viewer, run("demo", "refunds", "first")).await;
    let log = entries(viewer.frames_to_end("refunds", "first").await);
    drop(viewer);
    hub.stop().await;
    for end in [End::Killed, End::Stopped, End::Killed] {
        let hub = Program::start_on(&data, &[]).await;
        assert_eq!(log_to_end(&hub, "refunds", "first").await, log, "{end:?}");
        let mut anew = Viewer::connect(&hub.ws()).await;
        let answer = anew.subscribe("refunds", Start::Snapshot).await;
        assert_eq!(answer["seq"], log.len(), "{answer}");
        drop(anew);
        end.happen(hub).await;
    }
}

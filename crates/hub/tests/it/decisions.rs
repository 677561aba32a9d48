use futures::future::join_all;
use serde_json::{Value, json};
use threadcast_agui::run_input::RunInput;
use threadcast_hub::decisions::CommandError;
use threadcast_run_registry::agent_name::AgentName;
use threadcast_run_registry::decide::{Command, Refusal, RunCommand};
use threadcast_thread_log::engine::Engine;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Position;
use threadcast_thread_log::work::bucket_of;
use threadcast_wire::answer::CommandAnswer;
use threadcast_wire::hub_frame::HubFrame;

use super::support::log::{append, run, thread};
use super::support::viewer::Viewer;
use super::support::{Rig, person};

pub(crate) fn input(thread: &str, run: &str) -> Value {
    json!({
        "threadId": thread, "runId": run, "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{ "id": format!("u-{run}"), "role": "user", "content": "hello" }],
    })
}

pub(crate) fn run_command(agent: &str, thread: &str, run: &str) -> Command {
    let input = RunInput::read(&input(thread, run).to_string()).unwrap();
    Command::Run(RunCommand {
        agent: AgentName::new(agent).unwrap(),
        input,
    })
}

async fn ask_run(viewer: &mut Viewer, agent: &str, thread: &str, run: &str) -> CommandAnswer {
    let answer = viewer
        .ask(json!({ "op": "run", "agent": agent, "input": input(thread, run) }))
        .await;
    let HubFrame::Ok { answer, .. } = answer else {
        panic!("{answer:?}")
    };
    answer.read().unwrap()
}

#[tokio::test]
async fn a_run_is_accepted_started_and_seen_by_every_viewer() {
    let rig = Rig::new();
    let mut asking = rig.watch("t").await;
    let mut watching = rig.watch("t").await;
    let answer = ask_run(&mut asking, "echo", "t", "r1").await;
    assert_eq!(
        (
            answer.run.as_str(),
            answer.status.as_str(),
            answer.duplicate
        ),
        ("r1", "accepted", false)
    );
    for viewer in [&mut asking, &mut watching] {
        viewer.read_to("t", 3).await;
        let kinds: Vec<&str> = viewer.replica("t").history.clone();
        assert_eq!(kinds, ["subscribed", "epoch", "fact", "event", "event"]);
        assert!(viewer.replica("t").entries[0].1.contains("run.accepted"));
    }
    assert_eq!(rig.agents.started(), ["r1"]);
    let again = ask_run(&mut asking, "echo", "t", "r1").await;
    assert_eq!((again.status.as_str(), again.duplicate), ("success", true));
    assert_eq!(rig.agents.started(), ["r1"]);
}

#[tokio::test]
async fn refusals_are_told_by_their_codes() {
    let rig = Rig::new();
    let mut viewer = rig.connect().await;
    let run =
        |agent: &str, id: &str| json!({ "op": "run", "agent": agent, "input": input("t", id) });
    assert_eq!(viewer.refused(run("nobody", "r1")).await, "agent_unknown");
    ask_run(&mut viewer, "idle", "t", "r1").await;
    assert_eq!(viewer.refused(run("idle", "r2")).await, "thread_busy");
    let mut other = input("t", "r1");
    other["messages"][0]["content"] = json!("something else");
    assert_eq!(
        viewer
            .refused(json!({ "op": "run", "agent": "idle", "input": other }))
            .await,
        "run_conflict"
    );
    let entries = json!([{ "interruptId": "i", "status": "cancelled" }]);
    let resume =
        json!({ "op": "resume", "threadId": "t", "of": "r0", "runId": "r3", "resume": entries });
    assert_eq!(viewer.refused(resume).await, "interrupt_unknown");
    let cancel = json!({ "op": "cancel", "threadId": "t", "runId": "nobody" });
    assert_eq!(viewer.refused(cancel).await, "not_found");
    let answer = viewer
        .ask(json!({ "op": "cancel", "threadId": "t", "runId": "r1" }))
        .await;
    assert!(matches!(answer, HubFrame::Ok { .. }), "{answer:?}");
}

/// Goal: of many who ask at once exactly one wins, on however many nodes. Method: two hubs over one engine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_runs_at_once_one_is_accepted() {
    let rig = Rig::new();
    let other = Rig::with(
        rig.engine.clone(),
        threadcast_wire::limits::Limits::default(),
    );
    let asked = (0..40).map(|at| {
        let hub = if at % 2 == 0 {
            rig.hub.clone()
        } else {
            other.hub.clone()
        };
        let command = run_command("idle", "t", &format!("r{at}"));
        async move { hub.command(thread("t"), &person("ann"), command).await }
    });
    let answers = join_all(asked).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    for refused in answers.into_iter().filter_map(Result::err) {
        assert!(
            matches!(refused, CommandError::Refused(Refusal::ThreadBusy { .. })),
            "{refused}"
        );
    }
    assert_eq!(rig.agents.started().len() + other.agents.started().len(), 1);
}

#[tokio::test]
async fn an_append_of_unknown_outcome_is_found_in_the_log() {
    let rig = Rig::new();
    rig.engine.lose_answers(1);
    let answer = rig
        .hub
        .command(thread("t"), &person("ann"), run_command("idle", "t", "r1"))
        .await
        .unwrap();
    assert_eq!((answer.seq.get(), answer.status.as_str()), (1, "accepted"));
    assert_eq!(rig.agents.started(), ["r1"]);
    assert_eq!(rig.engine.told("t").await.len(), 1);
}

#[tokio::test]
async fn a_command_is_carried_out_although_nobody_waits_for_it() {
    let rig = Rig::new();
    rig.engine.close_heads();
    let mut viewer = rig.connect().await;
    viewer
        .send(json!({ "op": "run", "agent": "echo", "input": input("t", "r1"), "id": 1 }))
        .await;
    viewer.ask(json!({ "op": "ping" })).await;
    drop(viewer);
    rig.until(|hub| hub.session_stats().is_empty()).await;
    rig.engine.open_heads();
    let agents = rig.agents.clone();
    rig.until(|_| !agents.started().is_empty()).await;
}

#[tokio::test]
async fn the_index_of_work_names_a_thread_while_it_runs() {
    let rig = Rig::new();
    let is_due = |id: &'static str| {
        let engine = rig.engine.clone();
        async move {
            !engine
                .work(bucket_of(&thread(id)), Millis(u64::MAX), 10)
                .await
                .unwrap()
                .is_empty()
        }
    };
    assert!(!is_due("quiet").await && !is_due("t").await);
    rig.hub
        .command(
            thread("quiet"),
            &person("ann"),
            run_command("idle", "quiet", "r1"),
        )
        .await
        .unwrap();
    assert!(is_due("quiet").await, "its run goes on");

    rig.hub
        .command(thread("t"), &person("ann"), run_command("echo", "t", "r1"))
        .await
        .unwrap();
    let mut tries = 0;
    while rig.engine.told("t").await.len() < 3 || is_due("t").await {
        tries += 1;
        assert!(tries < 10_000, "the thread stays in the index");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_follower_of_entries_gets_each_once() {
    let rig = Rig::new();
    let live = rig.hub.live(&thread("t")).await.unwrap();
    let mut follow = live.follow(&Position::default());
    let mut seqs = Vec::new();
    for at in 0..5 {
        rig.engine.write("t", run("t", at, 30)).await;
        while seqs.len() < (at + 1) * 35 {
            match follow.next().await.unwrap() {
                threadcast_hub::live_thread::Followed::Entries(entries) => {
                    seqs.extend(entries.iter().map(|entry| entry.seq.get()))
                }
                threadcast_hub::live_thread::Followed::Replaced => panic!("nothing was replaced"),
            }
        }
    }
    assert_eq!(seqs, (1..=175).collect::<Vec<_>>());
    rig.engine.delete(&thread("t"), Vec::new()).await.unwrap();
    assert_eq!(
        follow.next().await.unwrap(),
        threadcast_hub::live_thread::Followed::Replaced
    );
}

/// Goal: who waits for the head learns of the last entry, whoever brought it. Method: entries come by the append and by
/// the watch at once, while someone looks all the time whether the head that is told is behind the fold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_head_that_is_told_is_never_behind_the_fold() {
    let rig = Rig::new();
    let live = rig.hub.live(&thread("t")).await.unwrap();
    let looking = {
        let (live, told) = (live.clone(), live.head_changed());
        tokio::task::spawn_blocking(move || {
            loop {
                let folded = live.head().seq;
                let told = *told.borrow();
                assert!(told >= folded, "{told} is told, {folded} is folded");
                if folded.get() >= 20_000 {
                    return;
                }
            }
        })
    };
    for at in 0..4_000 {
        let entries = run("t", at, 0);
        live.append(append("t", live.head(), entries))
            .await
            .unwrap();
    }
    looking.await.unwrap();
}

/// What a fold holds need not be durable yet: neither a repeat nor a refusal is answered before.
#[tokio::test]
async fn nobody_hears_of_a_decision_that_could_still_be_lost() {
    let rig = Rig::new();
    let ask = async |agent: &str, run: &str| {
        let command = run_command(agent, "t", run);
        rig.hub.command(thread("t"), &person("ann"), command).await
    };
    assert!(ask("quiet", "r1").await.is_ok());
    for (agent, run) in [("quiet", "r1"), ("echo", "r1"), ("quiet", "r2")] {
        rig.engine.fail_syncs(1);
        let early = ask(agent, run).await.unwrap_err();
        assert!(matches!(early, CommandError::Engine(_)), "{early:?}");
    }
    assert!(ask("quiet", "r1").await.unwrap().duplicate);
    for (agent, run) in [("echo", "r1"), ("quiet", "r2")] {
        let refused = ask(agent, run).await.unwrap_err();
        assert!(matches!(refused, CommandError::Refused(_)), "{refused:?}");
    }
}

/// Goal: the index of work names a run from before its acceptance on. Method: the end of the run
/// before it is answered only after the next one was begun, whose append has not happened yet.
#[tokio::test]
async fn the_end_of_a_run_takes_no_other_run_from_the_index_of_work() {
    let rig = Rig::new();
    let work = async || {
        let bucket = bucket_of(&thread("t"));
        let due = rig.engine.work(bucket, Millis(u64::MAX), 10).await;
        due.unwrap().first().map(|work| work.due)
    };
    let ask = |run: &str| {
        let (hub, command) = (rig.hub.clone(), run_command("echo", "t", run));
        tokio::spawn(async move { hub.command(thread("t"), &person("ann"), command).await })
    };
    rig.engine.hold_frees(true);
    ask("r1").await.unwrap().unwrap();
    let live = rig.hub.live(&thread("t")).await.unwrap();
    rig.until(|_| live.head().seq.get() == 3).await;
    let first = work().await.unwrap();
    rig.until(|_| threadcast_hub::clock::now() > first).await;
    rig.engine.hold_takes(true);
    let next = ask("r2");
    while work().await == Some(first) {
        tokio::task::yield_now().await;
    }
    let second = work().await;
    rig.engine.hold_frees(false);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(work().await, second, "its own line stays");
    rig.engine.hold_takes(false);
    next.await.unwrap().unwrap();
    rig.until(|_| live.head().seq.get() == 6).await;
}

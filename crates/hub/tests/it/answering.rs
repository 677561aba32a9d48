//! Questions that a run left open, and the answers to them.

use std::sync::mpsc;

use serde_json::{Value, json};
use threadcast_agui::ids::RunId;
use threadcast_agui::interrupt::ResumeEntry;
use threadcast_agui::run_input::RunInput;
use threadcast_hub::decisions::CommandError;
use threadcast_hub::live_thread::LiveThread;
use threadcast_run_registry::agent_name::AgentName;
use threadcast_run_registry::decide::{CancelCommand, Command, Refusal, ResumeCommand, RunCommand};

use super::decisions::{input, run_command};
use super::support::log::thread;
use super::support::{Rig, person};

fn question(schema: &Value) -> Value {
    json!([{ "id": "i", "reason": "input_required", "responseSchema": schema }])
}

fn answer(payload: &Value) -> Value {
    json!({ "interruptId": "i", "status": "resolved", "payload": payload })
}

fn run_id(id: &str) -> RunId {
    RunId::new(id).unwrap()
}

/// A thread whose run `r1` has ended with a question.
async fn asked(rig: &Rig, schema: &Value) -> LiveThread {
    rig.agents.ask(question(schema));
    let run = run_command("echo", "t", "r1");
    rig.hub
        .command(thread("t"), &person("ann"), run)
        .await
        .unwrap();
    let live = rig.hub.live(&thread("t")).await.unwrap();
    rig.until(|_| is_open(&live, "r1")).await;
    live
}

fn is_open(live: &LiveThread, run: &str) -> bool {
    live.with_fold(|fold| {
        let interrupts = fold.registry().interrupts();
        interrupts.has_open() && interrupts.latest_run() == Some(&run_id(run))
    })
}

/// Runs on a runtime whose only thread for slow work is taken, until the given sender is dropped.
fn without_slow_work<F: Future>(test: impl FnOnce(mpsc::Sender<()>) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (free, is_free) = mpsc::channel();
        let slow_work = tokio::task::spawn_blocking(move || is_free.recv());
        test(free).await;
        slow_work.await.unwrap().unwrap_err();
    });
}

/// Goal: a payload that takes long to judge holds up nobody. Method: judging cannot even begin, and meanwhile someone
/// else decides on the same thread.
#[test]
fn a_thread_goes_on_while_a_payload_is_judged() {
    without_slow_work(async |free| {
        let rig = Rig::new();
        asked(&rig, &json!({ "type": "integer" })).await;
        let resume = Command::Resume(ResumeCommand {
            of: run_id("r1"),
            run: run_id("r2"),
            entries: vec![ResumeEntry::read(&answer(&json!(5)).to_string()).unwrap()],
        });
        let hub = rig.hub.clone();
        let answering =
            tokio::spawn(async move { hub.command(thread("t"), &person("ann"), resume).await });
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        assert!(!answering.is_finished(), "judged where nothing may wait");
        let cancel = Command::Cancel(CancelCommand {
            run: run_id("r1"),
            reason: None,
        });
        let given_up = rig.hub.command(thread("t"), &person("bob"), cancel).await;
        assert_eq!(given_up.unwrap().status.as_str(), "accepted");
        drop(free);
        let refused = answering.await.unwrap().unwrap_err();
        assert!(
            matches!(
                &refused,
                CommandError::Refused(Refusal::AlreadyResolved { by, .. }) if *by.id == *"bob"
            ),
            "{refused}"
        );
    });
}

#[test]
fn a_payload_is_judged_again_for_a_question_that_was_raised_meanwhile() {
    without_slow_work(async |free| {
        let rig = Rig::new();
        let live = asked(&rig, &json!({ "type": "integer" })).await;
        let mut input = input("t", "r2");
        input["resume"] = json!([answer(&json!(5))]);
        let resume = Command::Run(RunCommand {
            agent: AgentName::new("echo").unwrap(),
            input: RunInput::read(&input.to_string()).unwrap(),
        });
        let hub = rig.hub.clone();
        let answering =
            tokio::spawn(async move { hub.command(thread("t"), &person("ann"), resume).await });
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        // The run that is told that no answer comes asks once more, for something else.
        rig.agents.ask(question(&json!({ "type": "string" })));
        let cancel = Command::Cancel(CancelCommand {
            run: run_id("r1"),
            reason: None,
        });
        let given_up = rig.hub.command(thread("t"), &person("bob"), cancel).await;
        let again = given_up.unwrap().run.to_string();
        rig.until(|_| is_open(&live, &again)).await;
        drop(free);
        let refused = answering.await.unwrap().unwrap_err();
        assert!(
            matches!(
                &refused,
                CommandError::Refused(Refusal::PayloadInvalid { .. })
            ),
            "{refused}"
        );
    });
}

#[tokio::test]
async fn answers_to_an_agent_that_is_not_configured_any_more_are_refused() {
    let rig = Rig::new();
    asked(&rig, &json!({})).await;
    let mut viewer = rig.connect().await;
    rig.agents.forget("echo");
    let told = rig.engine.told("t").await;
    let resume = json!({
        "op": "resume", "threadId": "t", "of": "r1", "runId": "r2", "resume": [answer(&json!(1))],
    });
    assert_eq!(viewer.refused(resume).await, "agent_unknown");
    let cancel = json!({ "op": "cancel", "threadId": "t", "runId": "r1" });
    assert_eq!(viewer.refused(cancel).await, "agent_unknown");
    assert_eq!(rig.engine.told("t").await, told, "something was accepted");
    assert_eq!(rig.agents.started(), ["r1"]);
}

/// Goal: head and view are of one moment. Method: ask all the time while runs of three entries each go by.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_told_as_of_one_moment() {
    let rig = Rig::new();
    let running = {
        let hub = rig.hub.clone();
        tokio::spawn(async move {
            for at in 0..40 {
                let run = run_command("echo", "t", &format!("r{at}"));
                while hub
                    .command(thread("t"), &person("ann"), run.clone())
                    .await
                    .is_err()
                {
                    tokio::task::yield_now().await;
                }
            }
        })
    };
    let mut seqs = 0;
    let mut last = 0;
    while last < 120 {
        let answer = rig.hub.thread_answer(&thread("t")).await.unwrap();
        let is_between = answer.seq.get() % 3 == 0;
        assert_eq!(answer.thread.active_run.is_none(), is_between, "{answer:?}");
        seqs += usize::from(answer.seq.get() != last);
        last = answer.seq.get();
        tokio::task::yield_now().await;
    }
    assert!(seqs > 1);
    running.await.unwrap();
}

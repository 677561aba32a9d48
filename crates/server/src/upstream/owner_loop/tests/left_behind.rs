//! Runs whose program ended at any moment, and what another one makes of them.

use threadcast_agui::interrupt::ResumeEntry;
use threadcast_run_registry::decide::ResumeCommand;
use threadcast_run_registry::registry::RunRecord;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::memory::MemoryEngine;
use threadcast_thread_log::run_status::RunStatus;
use threadcast_thread_log::work::BUCKETS;

use super::*;

/// What a node finds of a lease that its holder did not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leases {
    /// As it was: the store went on without the program.
    Stand,
    /// Free: the store was opened anew.
    Freed,
}

fn demo(is_enabled: bool) -> DemoConfig {
    DemoConfig {
        enabled: is_enabled,
        speed: "1".parse().unwrap(),
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Scene {
    /// The program ends: nothing more is appended, whatever was under way.
    async fn die(&self) {
        self.stop.cancel();
        self.settle().await;
    }

    /// Another program on the same store.
    fn beside(&self, name: &str) -> Self {
        Self::swept(name, self.engine.log().clone())
    }

    fn swept(name: &str, log: MemoryEngine) -> Self {
        let scene = Self::node(name, FailingEngine::of(log), demo(true));
        scene.sweep();
        scene
    }

    fn sweep(&self) {
        let (hub, stop) = (self.hub.clone(), self.stop.clone());
        tokio::spawn(async move { hub.sweep(stop).await });
    }

    /// The next program on a copy of the store.
    async fn restarted(&self, leases: Leases) -> Self {
        let log = self.engine.log().restarted();
        for bucket in 0..BUCKETS {
            let listed = self.engine.log().work(bucket, Millis(u64::MAX), usize::MAX);
            for work in listed.await.unwrap() {
                log.set_work(&work.thread, work.due).await.unwrap();
            }
        }
        let held = log.head(&self.thread).await.unwrap().lease;
        if let (Leases::Freed, Some(lease)) = (leases, held) {
            let free = change(&self.thread, Some(lease.token), LeaseChange::Free);
            log.append(free).await.unwrap();
        }
        Self::swept("n2", log)
    }

    async fn record(&self, run: &str) -> RunRecord {
        let live = self.hub.live(&self.thread).await.unwrap();
        live.catch_up().await.unwrap();
        live.with_fold(|fold| fold.registry().run(&run.parse().unwrap()).cloned())
            .unwrap()
    }

    /// Waits until a run has ended and its owner has gone.
    async fn ended(&self, run: &str) -> RunRecord {
        for _ in 0..300 {
            sleep(Duration::from_secs(1)).await;
            let record = self.record(run).await;
            if record.status.has_ended() && self.runs.is_empty() {
                return record;
            }
        }
        panic!("run {run} does not end");
    }

    async fn open_interrupts(&self) -> usize {
        let live = self.hub.live(&self.thread).await.unwrap();
        live.catch_up().await.unwrap();
        live.with_fold(|fold| fold.registry().interrupts().open().count())
    }

    /// Whether nothing is left to be looked after.
    async fn assert_settled(&self, whose: &str) {
        let log = self.engine.log();
        assert_eq!(log.head(&self.thread).await.unwrap().lease, None, "{whose}");
        let mut listed = Vec::new();
        for bucket in 0..BUCKETS {
            listed.extend(
                log.work(bucket, Millis(u64::MAX), usize::MAX)
                    .await
                    .unwrap(),
            );
        }
        assert_eq!(listed, [], "{whose}");
    }

    async fn approve(&self, run: &str) {
        let live = self.hub.live(&self.thread).await.unwrap();
        let open = live.with_fold(|fold| {
            let open = fold.registry().interrupts().latest().iter();
            let ids = open.map(|raised| raised.interrupt.id.to_string());
            ids.collect::<Vec<_>>()
        });
        let entry = |id: &String| {
            let entry =
                json!({ "interruptId": id, "status": "resolved", "payload": { "approved": true } });
            ResumeEntry::read(&entry.to_string()).unwrap()
        };
        self.command(Command::Resume(ResumeCommand {
            of: "r".parse().unwrap(),
            run: run.parse().unwrap(),
            entries: open.iter().map(entry).collect(),
        }))
        .await;
    }
}

fn change(thread: &ThreadId, token: Option<LeaseToken>, lease: LeaseChange) -> Append {
    Append {
        thread: thread.clone(),
        known: Position::default(),
        may_create: false,
        guard: Guard {
            lease: token,
            ..Guard::default()
        },
        lease,
        source: None,
        entries: Vec::new(),
        record: None,
        durability: Durability::Durable,
    }
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["type"] == kind).count()
}

/// A program that ended when it had appended so many times since it was asked for run `r`; `None` if the run had ended.
async fn ended_after(appends: usize) -> Option<Scene> {
    let dead = Scene::new("1");
    dead.engine.fail(Failure::AwayAfter { appends });
    dead.start().await;
    sleep(Duration::from_secs(50)).await;
    dead.die().await;
    (!dead.record("r").await.status.has_ended()).then_some(dead)
}

async fn assert_left_behind(appends: usize, leases: Leases, dead: &Scene, whole: &[Value]) {
    let whose = format!("{appends} appends, {leases:?}");
    let before = dead.events().await;
    let was_dispatched = dead.record("r").await.is_dispatched;
    let next = dead.restarted(leases).await;
    let record = next.ended("r").await;
    let events = next.events().await;
    next.assert_settled(&whose).await;
    if !was_dispatched {
        assert_eq!(events, whole, "{whose}");
        return;
    }
    let kept = before.len();
    assert_eq!(events[..kept], before, "{whose}");
    assert_eq!(count(&events, "RUN_STARTED"), 1, "{whose}");
    assert_eq!(events.len(), kept.max(1) + 1, "{whose}");
    assert_eq!(events.last().unwrap()["code"], "AGENT_LOST", "{whose}");
    assert_eq!(record.status, RunStatus::Error, "{whose}");
    assert_eq!(record.in_doubt, before.is_empty(), "{whose}");
    next.start_run("r2").await;
    let record = next.ended("r2").await;
    assert_eq!(record.status, RunStatus::Interrupted, "{whose}");
}

#[tokio::test(start_paused = true)]
async fn a_program_that_ends_between_any_two_appends_leaves_nothing_undone() {
    let whole = undisturbed().await;
    let mut appends = 1;
    while let Some(dead) = ended_after(appends).await {
        for leases in [Leases::Stand, Leases::Freed] {
            assert_left_behind(appends, leases, &dead, &whole).await;
        }
        appends += 1;
    }
    assert!(appends > 20, "only {appends} moments");
}

#[tokio::test(start_paused = true)]
async fn a_resume_that_a_dead_program_left_behind_goes_out_once_or_is_in_doubt() {
    for appends in 1..8 {
        let dead = Scene::new("1");
        dead.start().await;
        dead.ended("r").await;
        assert_eq!(dead.open_interrupts().await, 1);
        dead.engine.fail(Failure::AwayAfter { appends });
        dead.approve("r2").await;
        sleep(Duration::from_secs(50)).await;
        dead.die().await;
        let was = dead.record("r2").await;
        let next = dead.restarted(Leases::Freed).await;
        let record = next.ended("r2").await;
        assert_eq!(
            next.open_interrupts().await,
            0,
            "the answer stands: {appends}"
        );
        if !was.is_dispatched {
            assert_eq!(record.status, RunStatus::Success, "{appends}");
            continue;
        }
        assert_eq!(record.failure.unwrap().code.as_deref(), Some("AGENT_LOST"));
        assert_eq!(record.in_doubt, was.started.is_none(), "{appends}");
        // The same answer may go out again under another run.
        next.approve("r3").await;
        assert_eq!(next.ended("r3").await.status, RunStatus::Success);
    }
}

#[tokio::test(start_paused = true)]
async fn open_interrupts_stand_when_the_program_ends() {
    let dead = Scene::new("1");
    dead.start().await;
    dead.ended("r").await;
    dead.die().await;
    let next = dead.restarted(Leases::Freed).await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(next.open_interrupts().await, 1);
    next.approve("r2").await;
    assert_eq!(next.ended("r2").await.status, RunStatus::Success);
}

#[tokio::test(start_paused = true)]
async fn a_run_left_behind_whose_agent_is_not_configured_any_more_ends() {
    let dead = ended_after(1).await.unwrap();
    let log = dead.engine.log().clone();
    let next = Scene::node("n2", FailingEngine::of(log), demo(false));
    next.sweep();
    sleep(Duration::from_secs(60)).await;
    let event = next.last_event().await;
    assert_eq!(event["code"], "AGENT_UNREACHED");
    assert!(
        event["message"]
            .as_str()
            .unwrap()
            .contains("not configured"),
        "{event}"
    );
    next.assert_settled("refused").await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_left_behind_ends_without_its_agent() {
    let dead = ended_after(1).await.unwrap();
    let log = dead.engine.log().clone();
    let next = Scene::node("n2", FailingEngine::of(log), demo(true));
    let run = RunId::new("r").unwrap();
    next.command(Command::Cancel(CancelCommand { run, reason: None }))
        .await;
    next.sweep();
    let record = next.ended("r").await;
    assert_eq!(record.status, RunStatus::Cancelled);
    assert!(!record.is_dispatched);
    assert_eq!(next.last_event().await["code"], "abort");
}

#[tokio::test(start_paused = true)]
async fn of_two_nodes_one_ends_what_a_third_left_behind() {
    let dead = ended_after(4).await.unwrap();
    let before = dead.events().await;
    let nodes = [dead.beside("n2"), dead.beside("n3")];
    sleep(Duration::from_secs(120)).await;
    let events = nodes[0].events().await;
    assert_eq!(events.len(), before.len() + 1);
    assert_eq!(count(&events, "RUN_ERROR"), 1);
    nodes[1].assert_settled("two nodes").await;
}

#[tokio::test(start_paused = true)]
async fn a_program_that_paused_finds_its_run_ended_and_adds_nothing() {
    let paused = Scene::new("1");
    paused.start().await;
    sleep(Duration::from_secs(2)).await;
    let other = paused.beside("n2");
    paused.engine.fail(Failure::Held);
    sleep(Duration::from_secs(60)).await;
    let events = other.events().await;
    assert_eq!(events.last().unwrap()["code"], "AGENT_LOST");
    paused.engine.fail(Failure::None);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(other.events().await, events);
    assert!(paused.runs.is_empty(), "its owner is gone");
}

#[tokio::test(start_paused = true)]
async fn a_living_run_is_left_alone_however_slow_it_is() {
    let slow = Scene::new("0.01");
    slow.start().await;
    let other = slow.beside("n2");
    sleep(Duration::from_secs(3600)).await;
    assert_eq!(count(&other.events().await, "RUN_ERROR"), 0);
    slow.runs.close();
    slow.runs.wait().await;
    assert_eq!(other.record("r").await.status, RunStatus::Interrupted);
}

#[tokio::test(start_paused = true)]
async fn answers_that_get_lost_end_nothing_twice() {
    for every in [1, 2, 3] {
        for appends in [1, 2, 3, 6] {
            let dead = ended_after(appends).await.unwrap();
            let next = dead.beside("n2");
            next.engine.fail(Failure::AnswerLost { every });
            next.ended("r").await;
            // Whoever's answer got lost cleared no work: the sweeper does.
            sleep(Duration::from_secs(40)).await;
            let whose = format!("{appends} appends, one answer in {every}");
            let events = next.events().await;
            let ends = count(&events, "RUN_ERROR") + count(&events, "RUN_FINISHED");
            assert_eq!((count(&events, "RUN_STARTED"), ends), (1, 1), "{whose}");
            next.assert_settled(&whose).await;
        }
    }
}

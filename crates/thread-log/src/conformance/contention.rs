//! Many tasks at one thread: decisions have one winner, and nothing is lost or doubled.

use std::collections::BTreeSet;

use futures::future::join_all;

use super::Factory;
use super::requests::{entry, take, texts};
use super::subject::{Subject, seq, seqs};
use crate::engine::{Append, Engine, Guard, Outcome, Refused, RefusedReason};
use crate::entry::{Body, Class, Entry};
use crate::position::Position;

const TASKS: u64 = 32;

/// Runs one task a number; the answers in the order of the numbers.
async fn together<E: Engine, T: Send + 'static, W: Future<Output = T> + Send + 'static>(
    subject: &Subject<E>,
    work: impl Fn(Subject<E>, u64) -> W,
) -> Vec<T> {
    let tasks = (1..=TASKS).map(|number| tokio::spawn(work(subject.clone(), number)));
    join_all(tasks)
        .await
        .into_iter()
        .map(|result| result.expect("no task fails"))
        .collect()
}

fn winners<'a>(outcomes: &'a [Outcome], reason: RefusedReason) -> Vec<&'a Outcome> {
    let (won, lost): (Vec<&'a Outcome>, Vec<_>) = outcomes
        .iter()
        .partition(|outcome| matches!(outcome, Outcome::Appended(_)));
    assert!(
        lost.iter().all(
            |outcome| matches!(outcome, Outcome::Refused(refused) if refused.reason == reason)
        )
    );
    won
}

pub async fn one_of_many_conditional_appends_wins(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 0)]))
        .await;
    let known = subject.position().await;
    let outcomes = together(&subject, |subject, number| {
        let append = decision(&subject, known.clone(), 1, number);
        async move { subject.append(append).await }
    })
    .await;
    assert_eq!(winners(&outcomes, RefusedReason::Conflict).len(), 1);
    let log = subject.read_all().await;
    assert_eq!(log.len(), 2);
    for outcome in &outcomes {
        if let Outcome::Refused(Refused { missed, .. }) = outcome {
            assert_eq!(
                missed[..],
                log[1..],
                "each loser is told what the winner wrote"
            );
        }
    }
}

fn decision<E: Engine>(subject: &Subject<E>, known: Position, control: u64, number: u64) -> Append {
    let guard = Guard {
        control: Some(seq(control)),
        ..Guard::default()
    };
    Append {
        guard,
        known,
        ..subject.plain(vec![entry(Class::CONTROL, number)])
    }
}

pub async fn losers_decide_again_until_all_are_in(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    together(&subject, |subject, number| async move {
        let mut known = Position::default();
        let mut control = 0;
        // Each time one loses, another won: as many tries as tasks are enough.
        for _ in 0..TASKS {
            match subject
                .append(decision(&subject, known, control, number))
                .await
            {
                Outcome::Appended(_) => return,
                Outcome::Refused(refused) => {
                    control = refused
                        .missed
                        .last()
                        .expect("whoever loses missed something")
                        .seq
                        .get();
                    let (epoch, _) = refused
                        .head
                        .epochs
                        .last()
                        .expect("a log has an epoch")
                        .clone();
                    known = Position {
                        epoch,
                        seq: seq(control),
                    };
                }
            }
        }
        panic!("task {number} lost more often than others won");
    })
    .await;
    let log = subject.read_all().await;
    let numbers: BTreeSet<String> = log.iter().map(said).collect();
    assert_eq!((log.len() as u64, numbers.len() as u64), (TASKS, TASKS));
}

fn said(entry: &Entry) -> String {
    match &entry.record.body {
        Body::Event { json, .. } => json.to_string(),
        Body::Fact { public, .. } => public.to_string(),
    }
}

pub async fn appends_of_many_tasks_are_gapless(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let places = together(&subject, |subject, number| async move {
        let appended = subject
            .appended(subject.plain(vec![entry(Class::NONE, number); 3]))
            .await;
        (appended.first.get(), number)
    })
    .await;
    let log = subject.read_all().await;
    assert_eq!(seqs(&log), (1..=3 * TASKS).collect::<Vec<u64>>());
    for (first, number) in places {
        let start = usize::try_from(first).expect("seqs of the suite are small") - 1;
        let expected = entry(Class::NONE, number).record;
        assert!(
            log[start..start + 3]
                .iter()
                .all(|entry| entry.record == expected),
            "an append stays together"
        );
    }
}

pub async fn one_of_many_takes_the_lease(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let outcomes = together(&subject, |subject, number| async move {
        subject
            .append(Append {
                lease: take(&number.to_string()),
                ..subject.plain(texts(1))
            })
            .await
    })
    .await;
    let won = winners(&outcomes, RefusedReason::Held);
    let [Outcome::Appended(appended)] = won[..] else {
        panic!("one takes the lease: {won:?}")
    };
    assert_eq!(appended.lease, subject.head().await.lease);
}

pub async fn watcher_follows_many_writers(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let mut follower = subject.follow().await;
    let writing = together(&subject, |subject, _| async move {
        for _ in 0..8 {
            subject.appended(subject.plain(texts(2))).await;
        }
    });
    let (_, ()) = futures::future::join(writing, follower.until(16 * TASKS)).await;
    assert_eq!(follower.seen, subject.read_all().await);
}

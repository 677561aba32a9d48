//! What a watcher is told. Messages may be lost or repeated, so a watcher is judged by what it has
//! in the end.

use super::Factory;
use super::requests::texts;
use super::subject::Subject;
use crate::engine::Engine;

pub async fn watcher_is_told_every_append_in_order(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject.appended(subject.plain(texts(2))).await;
    let mut follower = subject.follow().await;
    follower.catch_up().await;
    for count in [1, 3, 2] {
        subject.appended(subject.plain(texts(count))).await;
    }
    follower.until(8).await;
    assert_eq!(follower.seen, subject.read_all().await);
}

pub async fn nothing_is_lost_between_attaching_and_head(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject.appended(subject.plain(texts(1))).await;
    let mut follower = subject.follow().await;
    subject.appended(subject.plain(texts(1))).await;
    follower.catch_up().await;
    subject.appended(subject.plain(texts(1))).await;
    follower.until(3).await;
    assert_eq!(follower.seen, subject.read_all().await);
}

pub async fn watching_creates_no_log(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let mut follower = subject.follow().await;
    assert!(
        subject
            .engine
            .list(None, 10)
            .await
            .expect("the engine lists")
            .is_empty()
    );
    assert!(subject.head().await.epochs.is_empty());
    subject.appended(subject.plain(texts(2))).await;
    follower.until(2).await;
    assert_eq!(follower.seen, subject.read_all().await);
}

pub async fn every_watcher_is_told(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let mut first = subject.follow().await;
    let gone = subject.follow().await;
    let mut second = subject.follow().await;
    subject.appended(subject.plain(texts(1))).await;
    drop(gone);
    subject.appended(subject.plain(texts(1))).await;
    first.until(2).await;
    second.until(2).await;
    assert_eq!(first.seen, second.seen);
}

pub async fn watcher_that_does_not_read_catches_up(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let mut follower = subject.follow().await;
    for _ in 0..1500 {
        subject.appended(subject.plain(texts(1))).await;
    }
    follower.until(1500).await;
    assert_eq!(follower.seen, subject.read_all().await);
}

pub async fn watcher_is_told_of_a_deletion(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject.appended(subject.plain(texts(2))).await;
    let mut follower = subject.follow().await;
    subject.delete().await;
    while !follower.told_gone {
        follower.next().await;
    }
    subject.appended(subject.plain(texts(3))).await;
    follower.until(3).await;
    assert_eq!(follower.seen, subject.read_all().await);
}

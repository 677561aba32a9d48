//! What is kept over all threads: the listing, the index of work, the nodes' beats.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadcast_agui::ids::ThreadId;

use super::Factory;
use super::requests::{node, texts};
use super::subject::{Subject, thread_id};
use crate::engine::{Append, Engine, Work};
use crate::entry::Millis;
use crate::work::{BUCKETS, bucket_of};

pub async fn listing_goes_by_pages_in_order_of_ids(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let mut ids: Vec<String> = (0..25)
        .map(|number| format!("t{}", number * 7 % 25))
        .collect();
    ids.extend(["T", "é", "t1 ", "{t}:log"].map(String::from));
    for id in &ids {
        let record = Some(id.clone().into_bytes());
        let append = Append {
            thread: thread_id(id),
            record,
            ..subject.plain(texts(1))
        };
        subject.appended(append).await;
    }
    ids.sort_unstable();
    let mut found: Vec<String> = Vec::new();
    let mut after: Option<ThreadId> = None;
    loop {
        let page = subject
            .engine
            .list(after.as_ref(), 4)
            .await
            .expect("the engine lists");
        assert!(page.len() <= 4);
        let Some(last) = page.last() else { break };
        after = Some(last.thread.clone());
        for line in &page {
            assert_eq!(
                line.record.as_deref(),
                Some(line.thread.as_str().as_bytes())
            );
            found.push(line.thread.to_string());
        }
    }
    assert_eq!(found, ids);
}

/// Ids of one bucket, so that one answer can hold them.
fn neighbours(count: usize) -> Vec<ThreadId> {
    let bucket = bucket_of(&thread_id("th_1"));
    let ids = (1..).map(|number| thread_id(&format!("th_{number}")));
    ids.filter(|id| bucket_of(id) == bucket)
        .take(count)
        .collect()
}

impl<E: Engine> Subject<E> {
    /// The same store, another thread.
    fn of(&self, thread: &ThreadId) -> Self {
        Self {
            engine: Arc::clone(&self.engine),
            thread: thread.clone(),
        }
    }

    async fn set_work(&self, due: u64) {
        self.engine
            .set_work(&self.thread, Millis(due))
            .await
            .expect("the engine keeps work");
    }

    async fn clear_work(&self, seen: u64) {
        self.engine
            .clear_work(&self.thread, Millis(seen))
            .await
            .expect("the engine clears work");
    }

    /// What is due in the bucket, by id and time.
    async fn due(&self, bucket: u8, until: u64, limit: usize) -> Vec<(ThreadId, u64)> {
        let work = self.engine.work(bucket, Millis(until), limit).await;
        let work = work.expect("the engine finds work").into_iter();
        work.map(|Work { thread, due }| (thread, due.0)).collect()
    }
}

pub async fn work_is_found_when_due(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let ids = neighbours(4);
    let bucket = bucket_of(&ids[0]);
    for (id, due) in ids.iter().zip([40, 20, 30, 10]) {
        subject.of(id).set_work(due).await;
    }
    let work = |at: usize, due| (ids[at].clone(), due);
    assert_eq!(
        subject.due(bucket, 30, 10).await,
        [work(3, 10), work(1, 20), work(2, 30)]
    );
    assert_eq!(subject.due(bucket, 30, 2).await, [work(3, 10), work(1, 20)]);
    assert!(subject.due(bucket, 9, 10).await.is_empty());
    subject.of(&ids[3]).set_work(50).await;
    assert_eq!(
        subject.due(bucket, 50, 10).await,
        [work(1, 20), work(2, 30), work(0, 40), work(3, 50)]
    );
    for other in (0..=BUCKETS).filter(|other| *other != bucket) {
        assert!(subject.due(other, 50, 10).await.is_empty());
    }
}

pub async fn work_is_cleared_only_as_it_was_seen(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    let bucket = bucket_of(&subject.thread);
    subject.clear_work(10).await;
    subject.set_work(10).await;
    subject.set_work(20).await;
    subject.clear_work(10).await;
    assert_eq!(
        subject.due(bucket, 30, 10).await,
        [(subject.thread.clone(), 20)]
    );
    subject.clear_work(20).await;
    assert!(subject.due(bucket, 30, 10).await.is_empty());
    subject.set_work(20).await;
    assert_eq!(subject.due(bucket, 30, 10).await.len(), 1);
}

pub async fn work_needs_no_log(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject.set_work(1).await;
    assert!(
        subject
            .engine
            .list(None, 10)
            .await
            .expect("the engine lists")
            .is_empty()
    );
    subject.appended(subject.plain(texts(1))).await;
    subject.delete().await;
    assert_eq!(
        subject.due(bucket_of(&subject.thread), 1, 10).await.len(),
        1
    );
}

pub async fn beats_rise_by_node(factory: &impl Factory) {
    let engine = factory.open().await;
    let beats = async || -> BTreeMap<String, u64> {
        let beats = engine.beats().await.expect("the engine tells beats");
        beats
            .into_iter()
            .map(|(node, beat)| (node.0.to_string(), beat))
            .collect()
    };
    assert!(beats().await.is_empty());
    for name in ["n1", "n2", "n1"] {
        let before = beats().await;
        engine.beat(&node(name)).await.expect("the engine beats");
        let after = beats().await;
        for (other, beat) in &before {
            assert_eq!(
                after[other] > *beat,
                other == name,
                "only the node that beats rises"
            );
        }
        assert!(after.contains_key(name));
    }
}

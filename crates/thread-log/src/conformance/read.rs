//! Reading a log in parts.

use super::Factory;
use super::requests::texts;
use super::subject::{ALL, Subject, seqs};
use crate::engine::ReadLimit;

pub async fn read_returns_what_follows(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject.appended(subject.plain(texts(5))).await;
    assert_eq!(seqs(&subject.read(3, ALL).await), [4, 5]);
    assert!(subject.read(5, ALL).await.is_empty());
    assert!(subject.read(9, ALL).await.is_empty());
}

pub async fn read_ends_with_the_entry_that_reaches_a_bound(factory: &impl Factory) {
    let subject = Subject::open(factory).await;
    subject.appended(subject.plain(texts(5))).await;
    let size = subject.read_all().await[0].record.size_bytes();
    let read = async |entries, bytes| seqs(&subject.read(1, ReadLimit { entries, bytes }).await);
    assert_eq!(read(2, usize::MAX).await, [2, 3]);
    assert_eq!(
        read(9, 1).await,
        [2],
        "one entry is read even when it is over the bound"
    );
    assert_eq!(read(9, size).await, [2]);
    assert_eq!(read(9, size + 1).await, [2, 3]);
    assert_eq!(read(9, 3 * size).await, [2, 3, 4]);
}

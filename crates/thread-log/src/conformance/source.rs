//! Which events of its source an append covers.

use super::Factory;
use super::requests::{entry, node, request, take, texts, token};
use super::subject::{Subject, seq};
use crate::engine::{Append, Appended, Engine, Guard, RefusedReason, SourceRange};
use crate::entry::Class;
use crate::lease::{LeaseChange, SeizedSource};

impl<E: Engine> Subject<E> {
    async fn with_owner(factory: &impl Factory<Engine = E>) -> Self {
        let subject = Self::open(factory).await;
        subject
            .appended(Append {
                lease: take("a"),
                ..subject.plain(Vec::new())
            })
            .await;
        subject
    }

    /// One entry for each event of the range, under the owner's lease.
    fn covering(&self, from: u64, to: u64) -> Append {
        let guard = Guard {
            lease: Some(token("a")),
            ..Guard::default()
        };
        let entries = texts(to.saturating_sub(from));
        Append {
            guard,
            source: Some(SourceRange { from, to }),
            entries,
            ..request(&self.thread)
        }
    }

    async fn refused_at(&self, append: Append, source: u64) {
        let refused = self.refused(append, RefusedReason::Position).await;
        assert_eq!(refused.head.source, source);
    }
}

pub async fn source_range_is_appended_once(factory: &impl Factory) {
    let subject = Subject::with_owner(factory).await;
    subject.appended(subject.covering(0, 3)).await;
    subject.refused_at(subject.covering(0, 3), 3).await;
    subject.appended(subject.covering(3, 4)).await;
    subject.refused_at(subject.covering(0, 3), 4).await;
    let head = subject.head().await;
    assert_eq!((head.seq, head.source), (seq(4), 4));
}

pub async fn partly_repeated_range_is_refused_with_the_position(factory: &impl Factory) {
    let subject = Subject::with_owner(factory).await;
    subject.appended(subject.covering(0, 3)).await;
    subject.refused_at(subject.covering(1, 5), 3).await;
    subject.appended(subject.covering(3, 5)).await;
    assert_eq!(subject.head().await.seq, seq(5));
}

pub async fn gap_in_the_source_is_refused(factory: &impl Factory) {
    let subject = Subject::with_owner(factory).await;
    subject.appended(subject.covering(0, 3)).await;
    subject.refused_at(subject.covering(4, 6), 3).await;
    assert_eq!(subject.head().await.seq, seq(3));
}

pub async fn backward_range_is_refused(factory: &impl Factory) {
    let subject = Subject::with_owner(factory).await;
    subject.appended(subject.covering(0, 3)).await;
    subject.refused_at(subject.covering(3, 1), 3).await;
    let empty: Appended = subject.appended(subject.covering(3, 3)).await;
    assert!(empty.first > empty.last);
}

pub async fn decisions_leave_the_source_alone(factory: &impl Factory) {
    let subject = Subject::with_owner(factory).await;
    subject.appended(subject.covering(0, 3)).await;
    subject
        .appended(subject.plain(vec![entry(Class::CONTROL, 9)]))
        .await;
    assert_eq!(subject.head().await.source, 3);
    subject.appended(subject.covering(3, 4)).await;
}

pub async fn taking_a_lease_starts_the_source_anew(factory: &impl Factory) {
    let subject = Subject::with_owner(factory).await;
    let end = Append {
        lease: LeaseChange::Free,
        ..subject.covering(0, 3)
    };
    subject.appended(end).await;
    subject
        .appended(Append {
            lease: take("a"),
            ..request(&subject.thread)
        })
        .await;
    assert_eq!(subject.head().await.source, 0);
    let end = Append {
        lease: LeaseChange::Free,
        ..subject.covering(0, 2)
    };
    subject.appended(end).await;
    let begin = Append {
        guard: Guard::default(),
        lease: take("b"),
        ..subject.covering(0, 1)
    };
    subject.appended(begin).await;
    assert_eq!(
        subject.head().await.source,
        1,
        "the first events may come with the lease"
    );
}

pub async fn seizing_restarts_or_continues_the_source(factory: &impl Factory) {
    let subject = Subject::with_owner(factory).await;
    subject.appended(subject.covering(0, 3)).await;
    for (source, left) in [(SeizedSource::Continue, 3), (SeizedSource::Restart, 0)] {
        let seen = subject.head().await.lease.expect("the lease stands");
        let lease = LeaseChange::Seize {
            token: token("b"),
            node: node("n2"),
            seen_token: seen.token,
            seen_beat: seen.beat,
            source,
        };
        subject
            .appended(Append {
                lease,
                ..request(&subject.thread)
            })
            .await;
        assert_eq!(subject.head().await.source, left);
    }
}

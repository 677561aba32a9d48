//! Taking, holding, seizing and freeing the lease.

use super::Factory;
use super::requests::{entry, node, request, take, texts, token};
use super::subject::{Subject, control, seq};
use crate::engine::{Append, Engine, Guard, RefusedReason};
use crate::entry::Class;
use crate::lease::{Lease, LeaseChange, SeizedSource};
use crate::position::Seq;

fn under(name: &str) -> Guard {
    Guard {
        lease: Some(token(name)),
        ..Guard::default()
    }
}

fn seize(name: &str, seen_name: &str, seen_beat: u64) -> LeaseChange {
    LeaseChange::Seize {
        token: token(name),
        node: node("n2"),
        seen_token: token(seen_name),
        seen_beat,
        source: SeizedSource::Restart,
    }
}

impl<E: Engine> Subject<E> {
    async fn held(factory: &impl Factory<Engine = E>, name: &str) -> (Self, Lease) {
        let subject = Self::open(factory).await;
        let appended = subject
            .appended(Append {
                lease: take(name),
                ..subject.plain(texts(1))
            })
            .await;
        let lease = appended.lease.expect("a lease that was taken stands");
        assert_eq!((&lease.token, &lease.node), (&token(name), &node("n1")));
        assert_eq!(subject.head().await.lease.as_ref(), Some(&lease));
        (subject, lease)
    }

    async fn beat(&self) -> u64 {
        self.head().await.lease.expect("the lease stands").beat
    }
}

pub async fn lease_is_taken_only_while_free(factory: &impl Factory) {
    let (subject, lease) = Subject::held(factory, "a").await;
    for name in ["a", "b"] {
        let append = Append {
            lease: take(name),
            ..subject.plain(texts(1))
        };
        subject.refused(append, RefusedReason::Held).await;
    }
    let head = subject.head().await;
    assert_eq!((head.seq, head.lease), (seq(1), Some(lease)));
}

pub async fn other_token_is_fenced(factory: &impl Factory) {
    let (subject, _) = Subject::held(factory, "a").await;
    subject
        .refused(
            Append {
                guard: under("b"),
                ..subject.plain(texts(1))
            },
            RefusedReason::Fenced,
        )
        .await;
    subject
        .appended(Append {
            guard: under("a"),
            lease: LeaseChange::Free,
            ..request(&subject.thread)
        })
        .await;
    subject
        .refused(
            Append {
                guard: under("a"),
                ..subject.plain(texts(1))
            },
            RefusedReason::Fenced,
        )
        .await;
    assert_eq!(subject.head().await.seq, seq(1));
}

pub async fn every_append_under_a_lease_raises_its_beat(factory: &impl Factory) {
    let (subject, lease) = Subject::held(factory, "a").await;
    let appended = subject
        .appended(Append {
            guard: under("a"),
            ..subject.plain(texts(2))
        })
        .await;
    let raised = appended.lease.expect("the lease stands").beat;
    assert!(raised > lease.beat);
    let renewed = Append {
        guard: under("a"),
        lease: LeaseChange::Renew,
        ..request(&subject.thread)
    };
    let appended = subject.appended(renewed).await;
    assert!(appended.first > appended.last, "a renewal has no entries");
    let renewed = subject.beat().await;
    assert!(renewed > raised);
    let known = subject.position().await;
    subject
        .appended(Append {
            guard: control(0),
            known,
            ..subject.plain(vec![entry(Class::CONTROL, 1)])
        })
        .await;
    assert_eq!(
        subject.beat().await,
        renewed,
        "what others append is no sign of the owner's life"
    );
}

pub async fn standing_lease_is_seized_and_its_owner_fenced(factory: &impl Factory) {
    let (subject, lease) = Subject::held(factory, "a").await;
    let seizing = Append {
        lease: seize("b", "a", lease.beat),
        ..request(&subject.thread)
    };
    let seized = subject
        .appended(seizing)
        .await
        .lease
        .expect("a seized lease stands");
    assert_eq!((&seized.token, &seized.node), (&token("b"), &node("n2")));
    assert!(seized.beat > lease.beat);
    subject
        .refused(
            Append {
                guard: under("a"),
                ..subject.plain(texts(1))
            },
            RefusedReason::Fenced,
        )
        .await;
    subject
        .appended(Append {
            guard: under("b"),
            ..subject.plain(texts(1))
        })
        .await;
}

pub async fn lease_that_moved_is_not_seized(factory: &impl Factory) {
    let (subject, lease) = Subject::held(factory, "a").await;
    subject
        .appended(Append {
            guard: under("a"),
            ..subject.plain(texts(1))
        })
        .await;
    let stale = Append {
        lease: seize("b", "a", lease.beat),
        ..request(&subject.thread)
    };
    subject.refused(stale, RefusedReason::Held).await;
    let other = Append {
        lease: seize("b", "c", subject.beat().await),
        ..request(&subject.thread)
    };
    subject.refused(other, RefusedReason::Held).await;
    subject
        .appended(Append {
            guard: under("a"),
            lease: LeaseChange::Free,
            ..request(&subject.thread)
        })
        .await;
    let free = Append {
        lease: seize("b", "a", lease.beat),
        ..request(&subject.thread)
    };
    subject.refused(free, RefusedReason::Held).await;
}

pub async fn lease_is_freed_with_the_last_entries(factory: &impl Factory) {
    let (subject, lease) = Subject::held(factory, "a").await;
    let end = Append {
        guard: under("a"),
        lease: LeaseChange::Free,
        ..subject.plain(vec![entry(Class::CONTROL, 2)])
    };
    let appended = subject.appended(end).await;
    assert_eq!((appended.last, appended.lease), (seq(2), None));
    assert_eq!(subject.head().await.lease, None);
    let next = Append {
        lease: take("b"),
        ..subject.plain(Vec::new())
    };
    let taken = subject
        .appended(next)
        .await
        .lease
        .expect("a lease that was taken stands");
    assert!(taken.beat > lease.beat, "a beat never comes back");
    assert_eq!(subject.head().await.seq, Seq::ZERO.plus(2));
}

use std::sync::atomic::AtomicU64;
use std::thread;

use futures::task::noop_waker;

use super::*;

fn drained(ready: &ReadyList) -> Vec<u32> {
    let mut slots = Vec::new();
    ready.drain(|slot| slots.push(slot));
    slots
}

#[test]
fn a_flag_is_listed_once_until_it_is_cleared() {
    let ready = Arc::new(ReadyList::default());
    let flag = ReadyFlag::new(Arc::clone(&ready), 7);
    flag.mark();
    flag.mark();
    assert_eq!(drained(&ready), [7]);
    flag.mark();
    assert!(drained(&ready).is_empty());
    flag.clear();
    flag.mark();
    assert_eq!(drained(&ready), [7]);
}

#[test]
fn subscribers_come_and_go_in_any_order() {
    let ready = Arc::new(ReadyList::default());
    ready.reserve(5);
    let subscribers = Subscribers::default();
    let flags: Vec<_> = (0..5)
        .map(|slot| ReadyFlag::new(Arc::clone(&ready), slot))
        .collect();
    flags.iter().for_each(|flag| subscribers.add(flag));
    assert!(!subscribers.remove(&flags[0]));
    assert!(!subscribers.remove(&flags[4]));
    assert!(!subscribers.remove(&flags[2]));
    subscribers.mark_all();
    let mut slots = drained(&ready);
    slots.sort_unstable();
    assert_eq!(slots, [1, 3]);
    assert!(!subscribers.remove(&flags[1]));
    assert!(subscribers.remove(&flags[3]));
    assert!(subscribers.is_empty());
}

/// One thread advances a number and marks; the other clears and reads: it never rests before the last number.
#[test]
fn no_advance_is_missed() {
    const LAST: u64 = 200_000;
    let ready = Arc::new(ReadyList::default());
    ready.reserve(1);
    ready.register(&noop_waker());
    let flag = ReadyFlag::new(Arc::clone(&ready), 0);
    let number = Arc::new(AtomicU64::new(0));
    let advancing = {
        let (flag, number) = (Arc::clone(&flag), Arc::clone(&number));
        thread::spawn(move || {
            for at in 1..=LAST {
                number.store(at, Ordering::Release);
                flag.mark();
            }
        })
    };
    let mut seen = 0;
    loop {
        let is_over = advancing.is_finished();
        let slots = drained(&ready);
        for _ in &slots {
            flag.clear();
            seen = number.load(Ordering::Acquire);
        }
        // All was said before the list was looked at, and nothing is on it: what was seen last must be the last.
        if is_over && slots.is_empty() {
            break;
        }
    }
    advancing.join().unwrap();
    assert_eq!(seen, LAST);
}

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::{Body, Class, Millis, Origin, Record};

use super::*;

fn texts() -> impl Strategy<Value = Arc<str>> {
    "\\PC{0,12}".prop_map(Arc::from)
}

fn seqs() -> impl Strategy<Value = Seq> {
    (0..=Seq::MAX.get()).prop_map(|seq| Seq::new(seq).unwrap())
}

fn metas() -> impl Strategy<Value = Stored> {
    let log = prop_oneof![
        Just(LogState::None),
        texts().prop_map(|id| LogState::Live(LogId(id))),
        Just(LogState::Gone),
    ];
    let holder = (texts(), texts()).prop_map(|(token, node)| Holder {
        token: LeaseToken(token),
        node: NodeId(node),
    });
    let epochs = vec((texts().prop_map(Epoch::new), seqs()), 0..5);
    (
        (any::<u32>(), log, option::of(texts()), epochs),
        (seqs(), seqs(), seqs(), seqs()),
        (option::of(holder), any::<u64>(), any::<u64>()),
        option::of(vec(any::<u8>(), 0..300)),
    )
        .prop_map(|(cold, seqs, (holder, beat, source), record)| {
            let (life, log, incarnation, epochs) = cold;
            let (head, first, control, state) = seqs;
            let meta = Meta {
                log,
                incarnation: incarnation.map(Incarnation),
                epochs,
                head,
                first,
                versions: Versions { control, state },
                holder,
                beat,
                source,
                record,
            };
            Stored {
                life: Life(life),
                meta,
            }
        })
}

proptest! {
    #[test]
    fn meta_comes_back_as_it_was(stored in metas()) {
        prop_assert_eq!(read(&hot(&stored), &cold(&stored)).unwrap(), stored);
    }

    #[test]
    fn cold_part_is_written_when_it_changes(before in metas(), after in metas()) {
        prop_assert_eq!(is_cold_changed(&before, &after), cold(&before) != cold(&after));
        let moved = Stored {
            meta: Meta { head: after.meta.head, beat: after.meta.beat, ..before.meta.clone() },
            ..before.clone()
        };
        prop_assert!(!is_cold_changed(&before, &moved));
    }

    #[test]
    fn shortened_and_lengthened_metas_are_told(stored in metas(), cut in any::<proptest::sample::Index>()) {
        let (hot, cold) = (hot(&stored), cold(&stored));
        prop_assert!(read(&hot[..cut.index(hot.len())], &cold).is_err());
        prop_assert!(read(&hot, &cold[..cut.index(cold.len())]).is_err());
        let longer = |bytes: &[u8]| [bytes, &[0]].concat();
        prop_assert!(read(&longer(&hot), &cold).is_err());
        prop_assert!(read(&hot, &longer(&cold)).is_err());
    }

    #[test]
    fn values_of_two_lives_are_told(stored in metas()) {
        let next = Stored { life: Life(stored.life.0 ^ 1), meta: stored.meta.clone() };
        let are_told = matches!(read(&hot(&stored), &cold(&next)), Err(Damage::Lives { .. }));
        prop_assert!(are_told);
    }

    #[test]
    fn any_bytes_are_read_or_refused(hot in vec(any::<u8>(), 0..200), cold in vec(any::<u8>(), 0..200)) {
        drop(read(&hot, &cold));
        drop(read_entry(Seq::ZERO, &hot));
        drop(read_checkpoint_head(&hot));
        drop(read_number(&hot));
    }

    #[test]
    fn entry_comes_back_as_it_was(control in any::<bool>(), state in any::<bool>(), at in any::<u64>()) {
        let json = RawJson::from_trusted(format!("{{\"type\":\"CUSTOM\",\"value\":{at}}}"));
        let body = Body::Event { json, from_chunk: control };
        let record = Record { at: Millis(at), run: None, origin: Origin::Agent, body };
        let new = NewEntry { class: Class { control, state }, record: Arc::new(record) };
        let found = read_entry(Seq::MAX, &entry(&new)).unwrap();
        let expected = Entry { seq: Seq::MAX, class: new.class, record: new.record };
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn checkpoint_head_comes_back_as_it_was(save in any::<u64>(), length in any::<u64>(), epoch in texts()) {
        let head = CheckpointHead { epoch: Epoch::new(epoch), save, length };
        prop_assert_eq!(read_checkpoint_head(&checkpoint_head(&head)).unwrap(), head);
        prop_assert_eq!(read_number(&number(save)).unwrap(), save);
    }
}

#[test]
fn a_meta_of_nothing_but_numbers_is_short() {
    let stored = Stored::default();
    assert!(hot(&stored).len() < 64, "it is written with every append");
}

use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};

use super::*;

fn ids() -> impl Strategy<Value = ThreadId> {
    "[a-c é\u{10ffff}~!]{1,4}".prop_map(|id| ThreadId::new(id).unwrap())
}

fn seqs() -> impl Strategy<Value = Seq> {
    (0..=Seq::MAX.get()).prop_map(|seq| Seq::new(seq).unwrap())
}

fn lives() -> impl Strategy<Value = Life> {
    any::<u32>().prop_map(Life)
}

proptest! {
    #[test]
    fn entries_sort_by_thread_then_life_then_seq(
        one in (ids(), lives(), seqs()), other in (ids(), lives(), seqs()),
    ) {
        let key = |(id, life, seq): &(ThreadId, Life, Seq)| entry(id, *life, *seq);
        let place = |(id, life, seq): &(ThreadId, Life, Seq)| (id.clone(), life.0, *seq);
        prop_assert_eq!(key(&one).cmp(&key(&other)), place(&one).cmp(&place(&other)));
    }

    #[test]
    fn range_of_entries_holds_those_of_its_log_only(
        of in (ids(), lives(), seqs(), seqs()), one in (ids(), lives(), seqs()),
    ) {
        let (id, life, first, last) = of;
        let is_meant = one.0 == id && one.1 == life && (first..=last).contains(&one.2);
        let range = entries(&id, life, first, last);
        prop_assert_eq!(range.contains(&entry(&one.0, one.1, one.2)), is_meant);
    }

    #[test]
    fn checkpoints_and_parts_are_found_by_thread_life_and_seq(
        of in (ids(), lives(), seqs()), one in (ids(), lives(), seqs()),
        save in any::<u64>(), number in any::<u32>(),
    ) {
        let (id, life, through) = of;
        let is_meant = one.0 == id && one.1 == life && one.2 <= through;
        let line = checkpoint(&one.0, one.1, one.2);
        prop_assert_eq!(checkpoints(&id, life, through).contains(&line), is_meant);
        let piece = part(&one.0, one.1, one.2, save, number);
        prop_assert_eq!(parts_through(&id, life, through).contains(&piece), is_meant);
        prop_assert!(parts(&one.0, one.1, one.2, save).contains(&piece));
        prop_assert!(!parts(&one.0, one.1, one.2, save ^ 1).contains(&piece));
        prop_assert!(!checkpoints(&id, life, through).contains(&piece));
    }

    #[test]
    fn keys_tell_what_they_were_made_of(
        id in ids(), life in lives(), seq in seqs(), bucket in 0..64_u8, due in any::<u64>(),
    ) {
        prop_assert_eq!(thread_of(thread(&id)), Some(id.clone()));
        prop_assert_eq!(seq_of(&entry(&id, life, seq)), Some(seq));
        prop_assert_eq!(seq_of(&checkpoint(&id, life, seq)), Some(seq));
        prop_assert_eq!(dropped_of(&dropped(&id, life)), Some((id.clone(), life)));
        let work = work_by_time(bucket, Millis(due), &id);
        prop_assert_eq!(work_of(&work), Some((Millis(due), id)));
    }

    #[test]
    fn work_is_found_by_bucket_and_time(
        id in ids(), bucket in 0..4_u8, due in 0..4_u64, of in 0..4_u8, until in 0..4_u64,
    ) {
        let (first, end) = work_until(of, Millis(until));
        let key = work_by_time(bucket, Millis(due), &id);
        prop_assert_eq!((first..end).contains(&key), bucket == of && due <= until);
    }

    #[test]
    fn work_of_every_time_is_found_at_the_end_of_time(id in ids(), due in any::<u64>()) {
        let (first, end) = work_until(3, Millis(u64::MAX));
        prop_assert!((first..end).contains(&work_by_time(3, Millis(due), &id)));
    }

    #[test]
    fn strange_keys_are_told(bytes in proptest::collection::vec(any::<u8>(), 0..7)) {
        prop_assert_eq!(seq_of(&bytes), None);
        prop_assert_eq!(work_of(&bytes), None);
    }
}

#[test]
fn chores_do_not_stand_among_each_other() {
    let id = ThreadId::new("t").unwrap();
    let dropped = dropped(&id, Life(1));
    assert!(dropped.starts_with(&all_dropped()));
    for other in [work_by_time(100, Millis(1), &id), work_by_thread(&id)] {
        assert!(!other.starts_with(&all_dropped()));
    }
    let (first, end) = work_until(0, Millis(u64::MAX));
    assert!(!(first.clone()..end.clone()).contains(&work_by_thread(&id)));
    assert!(!(first..end).contains(&dropped));
}

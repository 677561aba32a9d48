//! What a position is worth.

use threadcast_thread_log::position::{Epoch, Position, PositionVerdict, Seq, verdict};

use PositionVerdict::{Beyond, Trimmed, UnknownEpoch, Valid};

fn seq(seq: u64) -> Seq {
    Seq::new(seq).unwrap()
}

/// Judges positions on a log with these epochs, first kept seq and head.
fn check(epochs: &[(&str, u64)], first: u64, head: u64, cases: &[(&str, u64, PositionVerdict)]) {
    let epochs: Vec<(Epoch, Seq)> = epochs
        .iter()
        .map(|(epoch, first)| (Epoch::new(*epoch), seq(*first)))
        .collect();
    for (epoch, at, expected) in cases {
        let position = Position {
            epoch: Epoch::new(*epoch),
            seq: seq(*at),
        };
        assert_eq!(
            verdict(&epochs, seq(first), seq(head), &position),
            *expected,
            "({epoch}, {at})"
        );
    }
}

#[test]
fn position_is_valid_before_the_next_epoch_or_up_to_the_head() {
    let cases = [
        ("a", 0, Valid),
        ("a", 4, Valid),
        ("a", 5, Beyond),
        ("b", 2, Valid),
        ("b", 6, Valid),
        ("b", 7, Beyond),
        ("c", 9, Valid),
        ("c", 10, Beyond),
        ("c", Seq::MAX.get(), Beyond),
        ("d", 1, UnknownEpoch),
        ("", 1, UnknownEpoch),
        ("", 0, Valid),
    ];
    check(&[("a", 1), ("b", 5), ("c", 7)], 1, 9, &cases);
}

#[test]
fn thread_without_a_log_knows_only_the_empty_position() {
    check(
        &[],
        1,
        0,
        &[
            ("", 0, Valid),
            ("a", 0, UnknownEpoch),
            ("", 3, UnknownEpoch),
        ],
    );
}

#[test]
fn position_before_what_is_kept_is_trimmed() {
    let cases = [
        ("a", 1, Trimmed),
        ("a", 2, Trimmed),
        ("a", 3, Valid),
        ("b", 2, Trimmed),
        ("", 0, Trimmed),
    ];
    check(&[("a", 1), ("b", 6)], 4, 9, &cases);
    check(
        &[("a", 1)],
        4,
        3,
        &[("a", 3, Valid), ("a", 2, Trimmed), ("a", 4, Beyond)],
    );
}

#[test]
fn epoch_that_wrote_nothing_ends_where_it_began() {
    check(
        &[("a", 1), ("b", 5), ("c", 5)],
        1,
        8,
        &[
            ("a", 4, Valid),
            ("a", 5, Beyond),
            ("b", 4, Valid),
            ("b", 5, Beyond),
        ],
    );
}

#[test]
fn epoch_that_came_back_counts_by_its_latest_reign() {
    let cases = [
        ("a", 9, Valid),
        ("a", 10, Beyond),
        ("b", 6, Valid),
        ("b", 7, Beyond),
        ("z", 2, Valid),
        ("z", 3, Beyond),
    ];
    check(&[("z", 1), ("a", 3), ("b", 5), ("a", 7)], 1, 9, &cases);
}

#[test]
fn seq_is_at_most_what_every_client_holds_exactly() {
    assert_eq!(Seq::new(1 << 53), None);
    assert_eq!(Seq::new((1 << 53) - 1), Some(Seq::MAX));
}

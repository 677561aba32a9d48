//! One suite that every engine passes: what the [`Engine`] trait promises, as cases, and a
//! comparison of the engine with [`admit`](crate::admit::admit) on generated histories.
//!
//! Not about crashes or partitions: those belong to the engine that can have them. A case gets an
//! engine over an empty store and panics with what it found.
//! [`engine_conformance!`](crate::engine_conformance) makes one test of each case.

use std::sync::Arc;

use crate::engine::Engine;

pub mod append;
pub mod checkpoint;
pub mod contention;
pub mod delete;
pub mod epoch;
pub mod histories;
pub mod index;
pub mod lease;
pub mod matching;
pub mod model;
pub mod read;
pub mod refusal;
pub mod requests;
pub mod source;
mod subject;
pub mod watch;

/// Opens engines for the suite.
pub trait Factory: Sync {
    type Engine: Engine;

    /// An engine over an empty store of its own.
    fn open(&self) -> impl Future<Output = Arc<Self::Engine>> + Send;
}

/// A factory whose stores can be opened again.
pub trait Reopen: Factory {
    /// The same logs under another incarnation, nothing lost. Leases may be freed.
    fn reopen(&self, engine: Arc<Self::Engine>) -> impl Future<Output = Arc<Self::Engine>> + Send;
}

macro_rules! suite {
    ($d:tt $bound:ident $run_all:ident $tests:ident $(#[$doc:meta])* { $($topic:ident: $($case:ident)*;)* }) => {
        /// Runs every case, one after another.
        pub async fn $run_all(factory: &impl $bound) {
            $($(
                $topic::$case(factory).await;
            )*)*
        }

        $(#[$doc])*
        #[macro_export]
        macro_rules! $tests {
            ($d factory:expr) => {
                $($(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $case() {
                        $d crate::conformance::$topic::$case(&$d factory).await;
                    }
                )*)*
            };
        }
    };
}

suite! {
    $ Factory run_all engine_conformance
    /// One test for each case of the suite, for the engines of a
    /// [`Factory`](crate::conformance::Factory).
    {
        append:
            first_append_begins_the_log
            thread_without_a_log_has_the_default_head
            append_without_leave_to_create_is_refused
            records_come_back_as_they_were_appended
            thread_record_stays_until_another_is_given
            too_long_a_thread_record_writes_nothing
            versions_are_the_last_seqs_of_their_class
            what_is_held_becomes_durable_and_nothing_is_written;
        refusal:
            moved_version_is_a_conflict
            tokens_never_make_a_decision_lose
            refusal_carries_the_missed_entries
            refusal_carries_at_most_256_entries
            refusal_ends_with_the_entry_that_reaches_a_mebibyte
            position_of_another_log_is_a_conflict;
        lease:
            lease_is_taken_only_while_free
            other_token_is_fenced
            every_append_under_a_lease_raises_its_beat
            standing_lease_is_seized_and_its_owner_fenced
            lease_that_moved_is_not_seized
            lease_is_freed_with_the_last_entries;
        source:
            source_range_is_appended_once
            partly_repeated_range_is_refused_with_the_position
            gap_in_the_source_is_refused
            backward_range_is_refused
            decisions_leave_the_source_alone
            taking_a_lease_starts_the_source_anew
            seizing_restarts_or_continues_the_source;
        read:
            read_returns_what_follows
            read_ends_with_the_entry_that_reaches_a_bound;
        watch:
            watcher_is_told_every_append_in_order
            nothing_is_lost_between_attaching_and_head
            watching_creates_no_log
            every_watcher_is_told
            watcher_that_does_not_read_catches_up
            watcher_is_told_of_a_deletion;
        checkpoint:
            latest_checkpoint_at_or_before_a_seq_is_loaded
            checkpoint_takes_the_place_of_one_at_its_seq
            checkpoint_may_be_large
            checkpoint_of_another_log_is_not_kept
            trim_needs_a_checkpoint
            trim_drops_what_the_checkpoint_holds
            trim_drops_the_checkpoints_before_it
            log_goes_on_after_all_of_it_was_trimmed;
        delete:
            deletion_removes_everything
            owner_of_a_deleted_thread_is_refused
            log_after_a_deletion_is_another
            deleting_what_is_not_there_changes_nothing
            deletion_leaves_its_note
            too_long_a_note_deletes_nothing
            deleted_thread_keeps_no_checkpoint;
        index:
            listing_goes_by_pages_in_order_of_ids
            work_is_found_when_due
            work_is_cleared_only_as_it_was_seen
            work_needs_no_log
            beats_rise_by_node;
        contention:
            one_of_many_conditional_appends_wins
            losers_decide_again_until_all_are_in
            appends_of_many_tasks_are_gapless
            one_of_many_takes_the_lease
            watcher_follows_many_writers;
        matching:
            generated_requests_get_the_answers_of_admit;
    }
}

suite! {
    $ Reopen run_all_reopened engine_reopen_conformance
    /// One test for each case that opens a store again, for the engines of a
    /// [`Reopen`](crate::conformance::Reopen).
    {
        epoch:
            reopened_log_is_as_it_was
            first_append_after_reopening_starts_an_epoch
            decision_from_before_reopening_still_stands
            oldest_epochs_are_forgotten
            checkpoint_outlives_the_epoch_it_was_made_in;
        matching:
            generated_requests_get_the_answers_of_admit_when_reopened;
    }
}

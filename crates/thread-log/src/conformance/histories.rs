//! Generated histories of one thread.
//!
//! A generated [`Intent`] is relative to where the thread stands, so that histories get far and
//! every refusal is met.

use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use proptest::{collection, option};
use threadcast_agui::ids::ThreadId;

use super::requests::{entry, node, token};
use crate::engine::{Append, Durability, Guard, Head, SourceRange};
use crate::entry::Class;
use crate::lease::{LeaseChange, LeaseToken, SeizedSource};
use crate::position::{Epoch, Position, Seq};

/// One step of a generated history.
#[derive(Clone, Debug)]
pub enum Step {
    Append(Intent),
    /// Deletes the thread and leaves that note.
    Delete {
        note: u8,
    },
    /// Stores a checkpoint that many entries behind the head.
    SaveCheckpoint {
        behind: u64,
    },
    /// Trims through that many entries behind the head.
    Trim {
        behind: u64,
    },
    /// Opens the store again; only in histories that ask for it.
    Reopen,
}

/// What an append is to ask, relative to the thread's head.
#[derive(Clone, Debug)]
pub struct Intent {
    pub known: KnownIntent,
    pub may_create: bool,
    pub lease_guard: TokenIntent,
    pub control: Option<VersionIntent>,
    pub state: Option<VersionIntent>,
    pub lease: LeaseIntent,
    pub source: Option<SourceIntent>,
    pub classes: Vec<Class>,
    pub record: Option<u8>,
    pub durability: Durability,
}

#[derive(Clone, Copy, Debug)]
pub enum KnownIntent {
    Head,
    Nothing,
    Behind(u64),
    Beyond(u64),
    /// The last seq that could stand in an older epoch, and one more if `lost`.
    Older {
        back: usize,
        lost: bool,
    },
    Foreign,
}

#[derive(Clone, Copy, Debug)]
pub enum TokenIntent {
    None,
    Holder,
    Token(u8),
}

#[derive(Clone, Copy, Debug)]
pub enum VersionIntent {
    Current,
    At(u64),
}

#[derive(Clone, Copy, Debug)]
pub enum LeaseIntent {
    Keep,
    Take(u8),
    Seize {
        token: u8,
        source: SeizedSource,
        beat_off: u64,
    },
    Free,
    Renew,
}

/// Where a range begins and ends, from the source's position.
#[derive(Clone, Copy, Debug)]
pub struct SourceIntent {
    pub from_off: i64,
    pub length: i64,
}

impl Intent {
    /// The append for a thread that stands at `head`.
    pub fn resolve(&self, thread: &ThreadId, head: &Head) -> Append {
        let entry_at = |(at, class): (u64, &Class)| entry(*class, head.seq.get() + at);
        Append {
            thread: thread.clone(),
            known: self.known.resolve(head),
            may_create: self.may_create,
            guard: Guard {
                lease: self.lease_guard.resolve(head),
                control: self
                    .control
                    .map(|version| version.resolve(head.versions.control)),
                state: self
                    .state
                    .map(|version| version.resolve(head.versions.state)),
            },
            lease: self.lease.resolve(head),
            source: self.source.map(|source| source.resolve(head)),
            entries: (1..).zip(&self.classes).map(entry_at).collect(),
            record: self.record.map(|byte| vec![byte; usize::from(byte)]),
            durability: self.durability,
        }
    }
}

impl KnownIntent {
    fn resolve(self, head: &Head) -> Position {
        let at = |back: usize, seq: u64| {
            let epoch = head
                .epochs
                .iter()
                .rev()
                .nth(back)
                .map(|(epoch, _)| epoch.clone())
                .unwrap_or_default();
            Position {
                epoch,
                seq: Seq::new(seq).unwrap_or(Seq::MAX),
            }
        };
        let seq = head.seq.get();
        match self {
            Self::Head => at(0, seq),
            Self::Nothing => Position::default(),
            Self::Behind(behind) => at(0, seq.saturating_sub(behind)),
            Self::Beyond(beyond) => at(0, seq + beyond),
            Self::Older { back, lost } => {
                let next_first = head
                    .epochs
                    .iter()
                    .rev()
                    .nth(back)
                    .map_or(1, |(_, first)| first.get());
                at(back + 1, next_first - u64::from(!lost))
            }
            Self::Foreign => Position {
                epoch: Epoch::new("foreign"),
                seq: head.seq,
            },
        }
    }
}

impl TokenIntent {
    fn resolve(self, head: &Head) -> Option<LeaseToken> {
        match self {
            Self::None => None,
            Self::Holder => head.lease.as_ref().map(|lease| lease.token.clone()),
            Self::Token(number) => Some(numbered_token(number)),
        }
    }
}

impl VersionIntent {
    fn resolve(self, current: Seq) -> Seq {
        match self {
            Self::Current => current,
            Self::At(seq) => Seq::new(seq).unwrap_or(Seq::MAX),
        }
    }
}

impl LeaseIntent {
    fn resolve(self, head: &Head) -> LeaseChange {
        match self {
            Self::Keep => LeaseChange::Keep,
            Self::Take(number) => LeaseChange::Take {
                token: numbered_token(number),
                node: node("n1"),
            },
            Self::Seize {
                token,
                source,
                beat_off,
            } => {
                let seen = head.lease.as_ref();
                LeaseChange::Seize {
                    token: numbered_token(token),
                    node: node("n2"),
                    seen_token: seen
                        .map_or_else(|| numbered_token(token), |lease| lease.token.clone()),
                    seen_beat: seen.map_or(0, |lease| lease.beat).wrapping_add(beat_off),
                    source,
                }
            }
            Self::Free => LeaseChange::Free,
            Self::Renew => LeaseChange::Renew,
        }
    }
}

impl SourceIntent {
    fn resolve(self, head: &Head) -> SourceRange {
        let from = head.source.saturating_add_signed(self.from_off);
        SourceRange {
            from,
            to: from.saturating_add_signed(self.length),
        }
    }
}

fn numbered_token(number: u8) -> LeaseToken {
    token(&format!("lease-{number}"))
}

/// Histories without reopening.
pub fn histories() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        20 => intents().prop_map(Step::Append),
        1 => any::<u8>().prop_map(|note| Step::Delete { note }),
        2 => (0..8_u64).prop_map(|behind| Step::SaveCheckpoint { behind }),
        2 => (0..8_u64).prop_map(|behind| Step::Trim { behind }),
    ];
    collection::vec(step, 1..40)
}

/// Histories in which the store is opened again and again.
pub fn histories_with_reopening() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => intents().prop_map(Step::Append),
        1 => any::<u8>().prop_map(|note| Step::Delete { note }),
        1 => (0..8_u64).prop_map(|behind| Step::SaveCheckpoint { behind }),
        1 => (0..8_u64).prop_map(|behind| Step::Trim { behind }),
        3 => Just(Step::Reopen),
    ];
    collection::vec(step, 1..40)
}

pub fn intents() -> impl Strategy<Value = Intent> {
    let guards = (
        lease_guards(),
        option::weighted(0.3, versions()),
        option::weighted(0.2, versions()),
    );
    let classes = collection::vec(classes(), 0..4);
    let record = option::weighted(0.2, any::<u8>());
    let durability = prop_oneof![Just(Durability::Held), Just(Durability::Durable)];
    let source = option::weighted(0.3, sources());
    (
        known(),
        prop_oneof![3 => Just(true), 1 => Just(false)],
        guards,
        leases(),
        source,
        classes,
        record,
        durability,
    )
        .prop_map(
            |(known, may_create, guards, lease, source, classes, record, durability)| {
                let (lease_guard, control, state) = guards;
                Intent {
                    known,
                    may_create,
                    lease_guard,
                    control,
                    state,
                    lease,
                    source,
                    classes,
                    record,
                    durability,
                }
            },
        )
}

pub fn classes() -> impl Strategy<Value = Class> {
    (any::<bool>(), any::<bool>()).prop_map(|(control, state)| Class { control, state })
}

fn known() -> BoxedStrategy<KnownIntent> {
    prop_oneof![
        8 => Just(KnownIntent::Head),
        2 => Just(KnownIntent::Nothing),
        2 => (1..20_u64).prop_map(KnownIntent::Behind),
        1 => (1..3_u64).prop_map(KnownIntent::Beyond),
        2 => (0..4_usize, any::<bool>()).prop_map(|(back, lost)| KnownIntent::Older { back, lost }),
        1 => Just(KnownIntent::Foreign),
    ]
    .boxed()
}

fn lease_guards() -> BoxedStrategy<TokenIntent> {
    prop_oneof![
        3 => Just(TokenIntent::None),
        4 => Just(TokenIntent::Holder),
        1 => (0..3_u8).prop_map(TokenIntent::Token),
    ]
    .boxed()
}

fn versions() -> BoxedStrategy<VersionIntent> {
    prop_oneof![4 => Just(VersionIntent::Current), 1 => (0..20_u64).prop_map(VersionIntent::At)]
        .boxed()
}

fn leases() -> BoxedStrategy<LeaseIntent> {
    let source = prop_oneof![Just(SeizedSource::Restart), Just(SeizedSource::Continue)];
    prop_oneof![
        8 => Just(LeaseIntent::Keep),
        2 => (0..3_u8).prop_map(LeaseIntent::Take),
        2 => (0..3_u8, source, prop_oneof![3 => Just(0), 1 => Just(1)])
            .prop_map(|(token, source, beat_off)| LeaseIntent::Seize { token, source, beat_off }),
        1 => Just(LeaseIntent::Free),
        1 => Just(LeaseIntent::Renew),
    ]
    .boxed()
}

fn sources() -> BoxedStrategy<SourceIntent> {
    let from_off = prop_oneof![6 => Just(0), 1 => -4..4_i64];
    let length = prop_oneof![6 => 0..5_i64, 1 => Just(-1)];
    (from_off, length)
        .prop_map(|(from_off, length)| SourceIntent { from_off, length })
        .boxed()
}

//! The tables of docs/protocol.md say what the code does.
//!
//! Facts and codes are enums without a list of their own that could be trusted to be complete: here
//! each names the one after it, so that a new one does not compile before it has its place.

use std::collections::BTreeSet;

use serde_json::Value;
use threadcast_agui::ids::{InterruptId, MessageId, RunId};
use threadcast_agui::interrupt::ResumeStatus;
use threadcast_agui::json::RawJson;
use threadcast_agui::legacy::QUESTIONS_BYTES_MAX;
use threadcast_run_registry::agent_name::{AGENT_NAME_BYTES_MAX, AgentName};
use threadcast_run_registry::conversation::THREAD_MESSAGES_BYTES_MAX;
use threadcast_run_registry::decide::MESSAGES_BYTES_MAX;
use threadcast_run_registry::ending::{ErrorCode, QUOTED_BYTES_MAX};
use threadcast_run_registry::export::EXPORT_LINE_BYTES_MAX;
use threadcast_run_registry::fact::{
    AcceptedResume, ActivityDiverged, AnsweredEntry, AttemptId, Fact, FailedOperation, ForkedFrom,
    InterruptReopened, InterruptResolved, RunAccepted, RunCancelRequested, RunDispatched,
    RunTrailing, StateDiverged, StatePatched, StreamRepaired, Submission, SubmittedContent,
    ThreadForked,
};
use threadcast_run_registry::fingerprint::Fingerprint;
use threadcast_run_registry::import::PRIVATE_BYTES_MAX;
use threadcast_run_registry::patch::StateLimits;
use threadcast_run_registry::registry::FAILURE_BYTES_MAX;
use threadcast_run_registry::verify::Rule;
use threadcast_run_registry::{event_bounds, owner, schema};
use threadcast_thread_log::engine::{EPOCHS_MAX, MISSED_BYTES_MAX, MISSED_MAX, RECORD_BYTES_MAX};
use threadcast_thread_log::entry::Body;
use threadcast_thread_log::position::{Epoch, Seq};
use threadcast_thread_log::principal::Principal;

const PROTOCOL: &str = include_str!("../../../../docs/protocol.md");

/// The rows of the first table after the heading, cell by cell, without the head.
fn table(heading: &str) -> Vec<Vec<String>> {
    let (_, section) = PROTOCOL
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("no `{heading}`"));
    let lines = section
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'));
    lines.skip(2).map(cells).collect()
}

fn cells(line: &str) -> Vec<String> {
    let inner = line
        .strip_prefix('|')
        .and_then(|line| line.strip_suffix('|'));
    let cells = inner
        .unwrap_or_else(|| panic!("`{line}` is no row"))
        .split('|');
    cells.map(|cell| cell.trim().to_owned()).collect()
}

/// The first cells of a table; every row must say something beside its name.
fn names(heading: &str) -> Vec<String> {
    let named = |row: Vec<String>| {
        assert!(!row[1].is_empty(), "`{}` of {heading} has no text", row[0]);
        row[0].replace('`', "")
    };
    table(heading).into_iter().map(named).collect()
}

/// Members that must be there, and those that may be.
type Members = (BTreeSet<String>, BTreeSet<String>);

/// Reads a cell such as `` `of`, `resume`? {`entries`} ``; what is in braces is deeper.
fn members_of_cell(cell: &str) -> Members {
    let mut outer = String::new();
    let mut depth = 0;
    for char in cell.chars() {
        match char {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ if depth == 0 => outer.push(char),
            _ => {}
        }
    }
    let (mut always, mut optional) = Members::default();
    for member in outer
        .split(',')
        .map(str::trim)
        .filter(|member| !member.is_empty())
    {
        let (name, behind) = member
            .strip_prefix('`')
            .and_then(|member| member.split_once('`'))
            .unwrap_or_else(|| panic!("`{member}` is no member"));
        match behind.trim() {
            "" => always.insert(name.to_owned()),
            "?" => optional.insert(name.to_owned()),
            other => panic!("`{other}` stands behind member `{name}`"),
        };
    }
    (always, optional)
}

fn members_of_json(json: Option<&RawJson>) -> BTreeSet<String> {
    match json.map(|json| json.to_value().unwrap()) {
        None => BTreeSet::new(),
        Some(Value::Object(members)) => members.keys().cloned().collect(),
        Some(other) => panic!("{other} is no object"),
    }
}

/// Whether optional members are there.
#[derive(Clone, Copy, PartialEq)]
enum Optional {
    Absent,
    Present,
}

fn run() -> RunId {
    RunId::new("r").unwrap()
}

fn hub() -> Principal {
    Principal::hub()
}

fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn some<T>(optional: Optional, value: T) -> Option<T> {
    (optional == Optional::Present).then_some(value)
}

/// The fact after `fact` in the order of the table; the first one after none.
fn next(fact: Option<&Fact>, optional: Optional) -> Option<Fact> {
    let Some(fact) = fact else {
        return Some(Fact::ActivityDiverged(ActivityDiverged {
            by: hub(),
            run_id: run(),
            message_id: MessageId::new("m").unwrap(),
            failure: failed(optional),
        }));
    };
    match fact {
        Fact::ActivityDiverged(_) => Some(Fact::InterruptReopened(InterruptReopened {
            by: hub(),
            of: run(),
            interrupt_ids: Vec::new(),
            run_id: run(),
        })),
        Fact::InterruptReopened(_) => Some(Fact::InterruptResolved(InterruptResolved {
            by: hub(),
            of: run(),
            interrupt_id: InterruptId::new("i").unwrap(),
            status: ResumeStatus::Resolved,
            payload: some(optional, json("1")),
            run_id: run(),
            unchecked: some(optional, "too large".into()),
        })),
        Fact::InterruptResolved(_) => Some(accepted(optional)),
        Fact::RunAccepted { .. } => Some(Fact::RunCancelRequested {
            public: RunCancelRequested {
                by: hub(),
                run_id: run(),
                reason: some(optional, "why".into()),
            },
            attempt: AttemptId("x".into()),
        }),
        Fact::RunCancelRequested { .. } => Some(Fact::RunDispatched(RunDispatched {
            by: hub(),
            run_id: run(),
        })),
        Fact::RunDispatched(_) => Some(Fact::RunTrailing(RunTrailing {
            by: hub(),
            run_id: run(),
            event_type: "RAW".into(),
            is_last: optional == Optional::Present,
        })),
        Fact::RunTrailing(_) => Some(Fact::StateDiverged(StateDiverged {
            by: hub(),
            run_id: run(),
            failure: failed(optional),
        })),
        Fact::StateDiverged(_) => Some(Fact::StatePatched(StatePatched {
            by: hub(),
            patch: json("[]"),
        })),
        Fact::StatePatched(_) => Some(Fact::StreamRepaired(StreamRepaired {
            by: hub(),
            run_id: run(),
            closed: Vec::new(),
            more: usize::from(optional == Optional::Present),
        })),
        Fact::StreamRepaired(_) => Some(Fact::ThreadForked(ThreadForked {
            by: hub(),
            from: ForkedFrom {
                thread_id: "t".parse().unwrap(),
                epoch: Epoch::new("log.one"),
                seq: Seq::ZERO,
            },
            run_id: run(),
        })),
        Fact::ThreadForked(_) => None,
    }
}

fn failed(optional: Optional) -> FailedOperation {
    FailedOperation {
        operation: 0,
        path: "/a".into(),
        reason: "leads nowhere".into(),
        stricter: optional == Optional::Present,
    }
}

fn accepted(optional: Optional) -> Fact {
    let resume = AcceptedResume {
        of: run(),
        entries: vec![AnsweredEntry {
            interrupt_id: InterruptId::new("i").unwrap(),
            status: ResumeStatus::Resolved,
        }],
    };
    Fact::RunAccepted {
        public: RunAccepted {
            by: hub(),
            run_id: run(),
            agent: AgentName::new("demo").unwrap(),
            messages: json("[]"),
            resume: some(optional, resume),
        },
        submission: Submission {
            attempt: AttemptId("x".into()),
            fingerprint: Fingerprint::of_json(&json("1")),
            content: SubmittedContent::Input(json("{}")),
        },
    }
}

fn facts(optional: Optional) -> Vec<Fact> {
    let first = next(None, optional);
    std::iter::successors(first, |fact| next(Some(fact), optional)).collect()
}

#[test]
fn facts_are_the_table_of_section_7_2() {
    let rows = table("### 7.2 The facts");
    let types: Vec<_> = rows.iter().map(|row| row[0].replace('`', "")).collect();
    let expected: Vec<_> = facts(Optional::Present)
        .iter()
        .map(Fact::fact_type)
        .collect();
    assert_eq!(types, expected);
    let least = facts(Optional::Absent);
    for ((row, most), least) in rows.iter().zip(facts(Optional::Present)).zip(&least) {
        assert!(!row[3].is_empty(), "{} has no text", row[0]);
        assert_eq!(members(&most, least), members_of_row(row), "{}", row[0]);
    }
}

/// The members of a fact, public and private, by what it has with and without optional ones.
fn members(most: &Fact, least: &Fact) -> [Members; 2] {
    let parts = |fact: &Fact| match fact.to_body() {
        Body::Fact { public, private } => {
            let mut public = members_of_json(Some(&public));
            assert!(public.remove("type") && public.remove("by"), "{public:?}");
            [public, members_of_json(private.as_ref())]
        }
        Body::Event { .. } => panic!("a fact is no event"),
    };
    let [most_public, most_private] = parts(most);
    let [public, private] = parts(least);
    [(most_public, public), (most_private, private)].map(|(most, least)| {
        let optional = &most - &least;
        (least, optional)
    })
}

fn members_of_row(row: &[String]) -> [Members; 2] {
    [members_of_cell(&row[1]), members_of_cell(&row[2])]
}

/// The code after `code`; the first one after none.
fn next_code(code: Option<ErrorCode>) -> Option<ErrorCode> {
    let Some(code) = code else {
        return Some(ErrorCode::Abort);
    };
    match code {
        ErrorCode::Abort => Some(ErrorCode::AgentLost),
        ErrorCode::AgentLost => Some(ErrorCode::AgentRefused),
        ErrorCode::AgentRefused => Some(ErrorCode::AgentTimeout),
        ErrorCode::AgentTimeout => Some(ErrorCode::AgentTruncated),
        ErrorCode::AgentTruncated => Some(ErrorCode::AgentUnreached),
        ErrorCode::AgentUnreached => Some(ErrorCode::EngineUnavailable),
        ErrorCode::EngineUnavailable => Some(ErrorCode::LogDiverged),
        ErrorCode::LogDiverged => Some(ErrorCode::ProtocolViolation),
        ErrorCode::ProtocolViolation => Some(ErrorCode::TooLarge),
        ErrorCode::TooLarge => None,
    }
}

#[test]
fn ending_codes_are_the_table_of_section_8_5() {
    let all: Vec<_> =
        std::iter::successors(next_code(None), |code| next_code(Some(*code))).collect();
    assert_eq!(ErrorCode::ALL.as_slice(), all);
    let codes: Vec<_> = all.into_iter().map(ErrorCode::as_str).collect();
    assert_eq!(names("### 8.5 Endings"), codes);
}

fn number(cell: &str) -> usize {
    let digits = cell.replace(',', "");
    digits
        .parse()
        .unwrap_or_else(|_| panic!("`{cell}` is no number"))
}

#[test]
fn limits_are_the_table_of_section_12_2() {
    let StateLimits {
        bytes_max,
        operations_max,
        depth_max,
    } = StateLimits::default();
    let expected = [
        ("eventBytes", event_bounds::EVENT_BYTES_MAX),
        ("stateSnapshotBytes", event_bounds::STATE_SNAPSHOT_BYTES_MAX),
        ("activityBytes", event_bounds::ACTIVITY_BYTES_MAX),
        ("messagesBytes", MESSAGES_BYTES_MAX),
        ("threadMessagesBytes", THREAD_MESSAGES_BYTES_MAX),
        ("keptDepth", event_bounds::KEPT_DEPTH_MAX),
        ("questionsBytes", QUESTIONS_BYTES_MAX),
        ("stateBytes", bytes_max),
        ("copiedBytes", bytes_max),
        ("patchOperations", operations_max),
        ("patchDepth", depth_max),
        ("batchEvents", owner::BATCH_EVENTS_MAX),
        ("batchBytes", owner::BATCH_BYTES_MAX),
        ("mendedItems", owner::MENDED_MAX),
        ("repairedItems", owner::REPAIRED_LISTED_MAX),
        ("trailingFacts", owner::TRAILING_MAX),
        ("runErrorBytes", FAILURE_BYTES_MAX),
        ("quotedBytes", QUOTED_BYTES_MAX),
        ("exportLineBytes", EXPORT_LINE_BYTES_MAX),
        ("privateBytes", PRIVATE_BYTES_MAX),
        ("schemaBytes", schema::SCHEMA_BYTES_MAX),
        ("schemaRefs", schema::REFS_MAX),
        ("schemaVisits", schema::VISITS_MAX),
        ("schemaAllVisits", schema::ALL_VISITS_MAX),
        ("schemaNesting", schema::NESTING_MAX),
        ("patternBytes", schema::PATTERN_BYTES_MAX),
        ("patternBacktracks", schema::BACKTRACK_MAX),
        ("payloadBytes", schema::PAYLOAD_BYTES_MAX),
        ("payloadErrors", schema::ERRORS_MAX),
        ("payloadErrorBytes", schema::ERROR_BYTES_MAX),
        ("epochs", EPOCHS_MAX),
        ("missedEntries", MISSED_MAX),
        ("missedBytes", MISSED_BYTES_MAX),
        ("recordBytes", RECORD_BYTES_MAX),
    ];
    let written: Vec<_> = table("### 12.2 Agents, patches and answers")
        .into_iter()
        .map(|row| (row[0].replace('`', ""), number(&row[1])))
        .collect();
    assert_eq!(
        written,
        expected.map(|(name, value)| (name.to_owned(), value))
    );
}

#[test]
fn agent_names_are_as_long_as_section_12_1_says() {
    let row = table("### 12.1 Sockets and requests")
        .into_iter()
        .find(|row| row[0] == "`agentNameBytes`");
    assert_eq!(row.map(|row| number(&row[1])), Some(AGENT_NAME_BYTES_MAX));
}

#[test]
fn rules_are_the_table_of_section_14_4() {
    let rules = Rule::ALL.iter();
    let rules: Vec<_> = rules
        .map(|rule| vec![format!("`{rule}`"), rule.describes().to_owned()])
        .collect();
    assert_eq!(table("### 14.4 Verification"), rules);
}

//! The core reads AG-UI streams as the published client does, but for what is told in
//! `docs/protocol.md` §14.7.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use threadcast_run_registry::stream_judge::{StreamJudge, Unfinished};
use threadcast_tests::differential::cases::cases;
use threadcast_tests::differential::{Oracle, Stop, Until, compare, read, report};
use threadcast_tests::repository;

const PROTOCOL: &str = include_str!("../../docs/protocol.md");

async fn assert_agreement(seed: u64, histories: u64) {
    println!("{histories} histories from seed {seed}");
    let tally = compare(seed..seed + histories, 2).await;
    if let Some(seed) = tally.differing.first() {
        panic!(
            "{} of {histories} histories are read differently\n{}",
            tally.differing.len(),
            report(*seed).await
        );
    }
    assert!(tally.legal > histories / 3, "{tally:?}");
    assert!(tally.broken > histories / 5, "{tally:?}");
    assert!(tally.in_part < histories / 5, "{tally:?}");
    assert!(tally.rules.len() > 20, "{tally:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_streams_are_read_as_the_published_client_reads_them() {
    assert_agreement(0, 2_000).await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    assert_agreement(now.as_millis() as u64, 500).await;
}

#[tokio::test]
async fn the_two_part_where_they_are_said_to() {
    let mut oracle = Oracle::start();
    for case in cases() {
        let reading = read(&case.events, Until::End);
        let refuses = match reading.stop {
            Stop::Broken { index, rule } => Some((index, rule)),
            _ => None,
        };
        assert_eq!(refuses, case.hub_refuses, "{}", case.name);
        let answer = oracle.compare(&case.events, Until::End).await;
        assert_eq!(
            answer.broken, case.client_gives_up,
            "{}: {:?}",
            case.name, answer.error
        );
        assert_eq!(
            answer.parts, case.parts,
            "{}: {:.500}",
            case.name, answer.differs
        );
    }
}

/// The client takes a stream that stops anywhere for a run that went well.
#[tokio::test]
async fn a_stream_that_stops_inside_its_run_is_whole_to_the_client_alone() {
    let started = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#.to_owned();
    let run = "r".parse().unwrap();
    let mut oracle = Oracle::start();
    for (events, why) in [
        (vec![], Unfinished::Empty),
        (vec![started], Unfinished::InsideRun(run)),
    ] {
        let mut judge = StreamJudge::new();
        for event in &events {
            judge.take(event).unwrap();
        }
        assert_eq!(judge.finish(), Some(why));
        let answer = oracle.compare(&events, Until::End).await;
        assert_eq!((answer.broken, answer.error), (None, None));
    }
}

/// The last cells of the table name cases, or functions that are tests.
#[test]
fn every_difference_is_told_and_every_row_has_its_test() {
    let (_, section) = PROTOCOL.split_once("\n### 14.7 ").unwrap();
    let rows = section
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2);
    let mut named = BTreeSet::new();
    for row in rows {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let names: Vec<_> = last.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "{row} names no test");
        named.extend(names);
    }
    let cases = cases();
    let cases: BTreeSet<_> = cases.iter().map(|case| case.name).collect();
    let untold: Vec<_> = cases.difference(&named).collect();
    assert!(untold.is_empty(), "{untold:?}");
    let mut sources = String::new();
    for folder in ["crates", "tests"] {
        collect(&repository(folder), &mut sources);
    }
    for name in named.difference(&cases) {
        let definition = format!("fn {name}(");
        assert!(sources.contains(&definition), "there is no test `{name}`");
    }
}

fn collect(folder: &Path, sources: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            *sources += &std::fs::read_to_string(&path).unwrap();
        }
    }
}

//! The golden files, judged by software nobody here wrote.

use std::fs;

use serde_json::json;
use threadcast_tests::node::script;
use threadcast_tests::repository;

fn files(folder: &str, extension: &str) -> Vec<std::path::PathBuf> {
    let folder = repository(folder);
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_str().unwrap().ends_with(extension));
    files.sort();
    files
}

/// Validates the events of files, as text: the published parser reads what no Rust string can hold.
async fn assert_valid(folder: &str, least: usize) {
    let files = files(folder, ".json").into_iter().map(|path| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        json!({ "name": name, "text": fs::read_to_string(&path).unwrap() })
    });
    let verdicts = script("check_events.mjs", &json!(files.collect::<Vec<_>>())).await;
    let verdicts = verdicts.as_array().unwrap();
    let refused: Vec<_> = verdicts
        .iter()
        .filter(|verdict| verdict.get("error").is_some())
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
    assert!(
        verdicts.len() >= least,
        "{folder} has {} events, at least {least} are expected",
        verdicts.len()
    );
}

#[tokio::test]
async fn event_fixtures_pass_the_published_schemas() {
    assert_valid("proto-fixtures/events", 31).await;
}

#[tokio::test]
async fn events_inside_frame_fixtures_pass_the_published_schemas() {
    assert_valid("proto-fixtures/frames/hub", 2).await;
}

#[tokio::test]
async fn the_published_client_folds_the_histories_as_their_fixtures_say() {
    let histories = files("proto-fixtures/histories", ".jsonl")
        .into_iter()
        .map(|path| {
            let events = fs::read_to_string(&path).unwrap();
            let events: Vec<&str> = events.lines().collect();
            let fold = fs::read_to_string(path.with_extension("fold.json")).unwrap();
            json!({ "name": path.file_stem().unwrap().to_str(), "events": events, "fold": fold })
        });
    let verdicts = script("check_histories.mjs", &json!(histories.collect::<Vec<_>>())).await;
    let verdicts = verdicts.as_array().unwrap();
    assert!(verdicts.len() >= 6, "{} histories", verdicts.len());
    let wrong: Vec<_> = verdicts
        .iter()
        .filter(|verdict| verdict.get("error").is_some())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

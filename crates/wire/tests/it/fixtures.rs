//! Golden files under `proto-fixtures`: compared, rewritten with `UPDATE_FIXTURES=1`, written and
//! failing once if absent.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folder `name` under `proto-fixtures`.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../proto-fixtures")
        .join(name)
}

/// Compares every `(file name, text)` with its file in `folder`, and `folder` with the list.
pub(crate) fn check(folder: &Path, fixtures: &[(String, String)]) {
    let wrong: Vec<String> = fixtures
        .iter()
        .filter_map(|(name, text)| check_one(&folder.join(name), text))
        .collect();
    assert!(
        wrong.is_empty(),
        "{}\nUPDATE_FIXTURES=1 cargo test -p threadcast-wire rewrites them",
        wrong.join("\n")
    );
    let listed: BTreeSet<&str> = fixtures.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(listed.len(), fixtures.len(), "two fixtures share a name");
    for name in names(folder) {
        assert!(
            listed.contains(name.as_str()),
            "{}/{name} is tested by nobody",
            folder.display()
        );
    }
}

/// The names of the files in `folder`.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn check_one(path: &Path, text: &str) -> Option<String> {
    let expected = format!("{text}\n");
    let shown = path.display();
    let found = match std::fs::read_to_string(path) {
        Ok(found) if found == expected => return None,
        Ok(found) => found,
        Err(_) => {
            std::fs::write(path, expected).unwrap();
            return Some(format!("{shown} was missing and is written now: review it"));
        }
    };
    if is_update() {
        std::fs::write(path, expected).unwrap();
        return None;
    }
    Some(format!(
        "{shown} differs\n  file: {found}  code: {expected}"
    ))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a switch of the test run, not a setting of the program"
)]
fn is_update() -> bool {
    std::env::var("UPDATE_FIXTURES").is_ok_and(|value| value == "1")
}

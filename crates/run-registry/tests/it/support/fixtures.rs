//! Files under `proto-fixtures`.

use std::path::PathBuf;

pub(crate) fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../proto-fixtures")
        .join(name)
}

/// The files of a folder with this ending, by name.
pub(crate) fn files(folder_name: &str, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(folder_name)).expect("the fixtures are there");
    let paths = entries.map(|entry| entry.expect("the folder is readable").path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.to_str().is_some_and(|path| path.ends_with(ending)))
        .collect();
    paths.sort();
    paths
}

pub(crate) fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares `text` with a golden file; rewrites it with `UPDATE_FIXTURES=1`, writes it and fails
/// once if it is absent.
#[track_caller]
pub(crate) fn check(path: &std::path::Path, text: &str) {
    let is_update = std::env::var_os("UPDATE_FIXTURES").is_some_and(|value| value == "1");
    let is_absent = !path.exists();
    if is_update || is_absent {
        std::fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    assert!(
        is_update || !is_absent,
        "{} was absent and is written now; review it",
        path.display()
    );
    let hint = "UPDATE_FIXTURES=1 cargo test -p threadcast-run-registry rewrites it";
    assert_eq!(read(path), text, "{} differs; {hint}", path.display());
}

//! House rules as code: file sizes, who may know whom, and what the core must not link.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::command::{cargo, output, root};

/// A file over this is split.
const LINES_MAX: usize = 600;

/// Each crate of ours with the crates of ours that it may depend on.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("agui", &[]),
    ("thread-log", &["agui"]),
    ("disk-log", &["agui", "thread-log"]),
    ("wire", &["agui", "thread-log"]),
    ("run-registry", &["agui", "thread-log"]),
    ("hub", &["agui", "thread-log", "wire", "run-registry"]),
    ("client", &["agui", "thread-log", "wire"]),
    (
        "server",
        &[
            "agui",
            "thread-log",
            "disk-log",
            "wire",
            "run-registry",
            "hub",
            "client",
        ],
    ),
];

/// Crates without runtime, clock and socket.
const PURE: &[&str] = &["agui", "wire", "run-registry"];

/// What a pure crate must not link. A library's own seed for its hash maps is not meant.
const IMPURE: &[&str] = &[
    "chrono", "hyper", "mio", "rand", "redis", "socket2", "time", "tokio",
];

/// Checks every rule and reports all that is broken.
///
/// # Errors
/// A rule is broken; the message lists each case.
pub(crate) fn tidy() -> anyhow::Result<()> {
    let mut broken = Vec::new();
    file_sizes(&mut broken)?;
    directions(&mut broken)?;
    purity(&mut broken)?;
    if broken.is_empty() {
        println!("house rules hold");
        return Ok(());
    }
    bail!("house rules are broken:\n  {}", broken.join("\n  "))
}

fn file_sizes(broken: &mut Vec<String>) -> anyhow::Result<()> {
    for file in rust_files()? {
        let lines = fs::read_to_string(&file)?.lines().count();
        if lines > LINES_MAX {
            broken.push(format!(
                "{} has {lines} lines, at most {LINES_MAX} are allowed",
                file.display()
            ));
        }
    }
    Ok(())
}

fn directions(broken: &mut Vec<String>) -> anyhow::Result<()> {
    for (name, allowed) in MAY_KNOW {
        let path = root().join("crates").join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(&path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let linked = manifest
            .split("[dev-dependencies]")
            .next()
            .unwrap_or_default();
        for (other, _) in MAY_KNOW {
            let depends = linked
                .lines()
                .any(|line| line.starts_with(&format!("threadcast-{other}")));
            if depends && !allowed.contains(other) {
                broken.push(format!(
                    "crate `{name}` depends on `{other}`, which it may not know"
                ));
            }
        }
    }
    Ok(())
}

fn purity(broken: &mut Vec<String>) -> anyhow::Result<()> {
    for name in PURE {
        let package = format!("threadcast-{name}");
        let tree = cargo(&[
            "tree",
            "--package",
            &package,
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ]);
        let tree = output(tree)
            .with_context(|| format!("the dependencies of `{package}` cannot be listed"))?;
        for line in tree.lines() {
            let linked = line.split(' ').next().unwrap_or_default();
            if IMPURE.contains(&linked) {
                broken.push(format!(
                    "crate `{name}` links `{linked}`: it has no runtime, no clock, no socket"
                ));
            }
        }
    }
    Ok(())
}

fn rust_files() -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in ["crates", "tests", "xtask"] {
        collect(&root().join(folder), &mut found)?;
    }
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in
        fs::read_dir(folder).with_context(|| format!("{} cannot be listed", folder.display()))?
    {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

//! What the tests need besides Rust: language packages under `target/`, system programs by apt-get
//! where that works.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::command::{output, program, root, run, target};

/// Where the installed packages are.
pub(crate) struct Installed {
    /// A folder with the scripts of `tests/node` and their `node_modules`.
    pub(crate) node: PathBuf,
    /// The interpreter of a virtual environment with the packages of `tests/python`.
    pub(crate) python: PathBuf,
}

/// Installs what is missing; does nothing when the lists have not changed.
///
/// # Errors
/// A program is missing or too old and cannot be installed from here: the message has the line that
/// does it.
pub(crate) fn install() -> anyhow::Result<Installed> {
    let node = install_node()?;
    require("python3", "--version", (3, 10), "python3 python3-venv")?;
    Ok(Installed {
        node,
        python: python_packages()?,
    })
}

/// Installs the published client alone; the folder of [`Installed::node`].
///
/// # Errors
/// As of [`install`].
pub(crate) fn install_node() -> anyhow::Result<PathBuf> {
    require("node", "--version", (20, 0), "nodejs npm")?;
    require("npm", "--version", (9, 0), "npm")?;
    node_packages()
}

fn node_packages() -> anyhow::Result<PathBuf> {
    let dir = target().join("tests/node");
    let lists =
        ["package.json", "package-lock.json"].map(|name| root().join("tests/node").join(name));
    fresh(&dir, &lists, || {
        fs::create_dir_all(&dir)?;
        for list in &lists {
            fs::copy(list, dir.join(list.file_name().expect("a list is a file")))?;
        }
        let mut npm = program(
            "npm",
            &["ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        );
        npm.current_dir(&dir);
        run(npm)
    })?;
    // Scripts are found beside node_modules, where their imports resolve.
    for script in fs::read_dir(root().join("tests/node"))? {
        let script = script?.path();
        if script
            .extension()
            .is_some_and(|extension| extension == "mjs")
        {
            fs::copy(
                &script,
                dir.join(script.file_name().expect("a script is a file")),
            )?;
        }
    }
    Ok(dir)
}

fn python_packages() -> anyhow::Result<PathBuf> {
    let dir = target().join("tests/python");
    let python = dir.join("bin/python");
    let lists = [root().join("tests/python/requirements.txt")];
    fresh(&dir, &lists, || {
        let place = dir.to_string_lossy().into_owned();
        if run(program("python3", &["-m", "venv", "--clear", &place])).is_err() {
            apt_get("python3-venv", "`python3 -m venv` does not work")?;
            run(program("python3", &["-m", "venv", "--clear", &place]))?;
        }
        let list = lists[0].to_string_lossy().into_owned();
        run(program(
            &python,
            &[
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "-r",
                &list,
            ],
        ))
    })?;
    Ok(python)
}

/// Runs `install` unless it has succeeded in `dir` for the same lists before.
fn fresh(
    dir: &Path,
    lists: &[PathBuf],
    install: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut wanted = String::new();
    for list in lists {
        wanted += &fs::read_to_string(list)
            .with_context(|| format!("{} cannot be read", list.display()))?;
    }
    let stamp = dir.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    install()?;
    Ok(fs::write(stamp, wanted)?)
}

/// Sees to it that a program is there and new enough.
fn require(name: &str, flag: &str, wanted: (u32, u32), packages: &str) -> anyhow::Result<()> {
    let what = format!("`{name}` {}.{} or newer is needed", wanted.0, wanted.1);
    if version(name, flag).is_none() {
        apt_get(packages, &what)?;
    }
    match version(name, flag) {
        Some(found) if found >= wanted => Ok(()),
        Some(found) => bail!(
            "{what}, found {}.{}: install a newer one and run this again",
            found.0,
            found.1
        ),
        None => bail!("{what}, found none after installing {packages}"),
    }
}

fn version(name: &str, flag: &str) -> Option<(u32, u32)> {
    let printed = output(program(name, &[flag]))?;
    let digits = printed.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut numbers = digits.split('.').map(|number| number.trim().parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// Installs Debian packages when that is possible from here.
fn apt_get(packages: &str, what: &str) -> anyhow::Result<()> {
    let line = format!("apt-get install --yes {packages}");
    let is_root = output(program("id", &["-u"])).as_deref() == Some("0");
    if !is_root || !Path::new("/etc/debian_version").exists() {
        bail!("{what}: install it (on Debian as root: `{line}`) and run this again");
    }
    run(program("apt-get", &["update"]))?;
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    run(program("apt-get", &words))
}

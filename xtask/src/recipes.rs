//! One function a recipe.

use crate::command::{cargo, run as run_command};
use crate::install::{install, install_node};
use crate::tidy;

/// Starts the hub with its main job working at once.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let mut serve = cargo(&[
        "run",
        "--quiet",
        "--package",
        "threadcast-server",
        "--bin",
        "threadcast",
        "--",
        "serve",
    ]);
    serve.args(args);
    run_command(serve)
}

/// Installs what the tests need and runs them all; `args` go to `cargo test`.
pub(crate) fn test(args: &[String]) -> anyhow::Result<()> {
    let installed = install()?;
    // The end-to-end tests start the program itself.
    run_command(cargo(&[
        "build",
        "--package",
        "threadcast-server",
        "--bin",
        "threadcast",
    ]))?;
    let mut test = cargo(&["test", "--workspace"]);
    test.args(args);
    test.env("THREADCAST_TESTS_NODE", &installed.node)
        .env("THREADCAST_TESTS_PYTHON", &installed.python);
    run_command(test)
}

/// Format, lints and house rules.
pub(crate) fn check() -> anyhow::Result<()> {
    run_command(cargo(&["fmt", "--all", "--check"]))?;
    run_command(cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "--deny",
        "warnings",
    ]))?;
    tidy::tidy()
}

/// Compares the core with the published AG-UI client on generated streams; `args` are `--histories`
/// and `--seed`.
pub(crate) fn differential(args: &[String]) -> anyhow::Result<()> {
    let mut differential = cargo(&[
        "run",
        "--release",
        "--package",
        "threadcast-tests",
        "--bin",
        "differential",
        "--",
    ]);
    differential.args(args);
    differential.env("THREADCAST_TESTS_NODE", install_node()?);
    run_command(differential)
}

/// Runs a program of `tests/` that starts the hub itself: `torture` or `measure`.
pub(crate) fn beside_the_program(name: &str, args: &[String]) -> anyhow::Result<()> {
    // Both stand in one folder, where the one finds the other.
    run_command(cargo(&[
        "build",
        "--release",
        "--package",
        "threadcast-server",
        "--bin",
        "threadcast",
    ]))?;
    let mut run = cargo(&[
        "run",
        "--release",
        "--package",
        "threadcast-tests",
        "--bin",
        name,
        "--",
    ]);
    run.args(args);
    run_command(run)
}

/// Rewrites the golden files; what they say then is reviewed like code.
pub(crate) fn fixtures() -> anyhow::Result<()> {
    let mut test = cargo(&["test", "--workspace", "--exclude", "threadcast-tests"]);
    test.env("UPDATE_FIXTURES", "1").env("UPDATE_EXPECT", "1");
    run_command(test)
}

/// The benchmarks; `args` go to `cargo bench`.
pub(crate) fn bench(args: &[String]) -> anyhow::Result<()> {
    let mut bench = cargo(&["bench", "--workspace", "--exclude", "threadcast-tests"]);
    bench.args(args);
    run_command(bench)
}

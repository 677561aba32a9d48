//! The project's recipes, each of which can be typed by hand too: every command is printed before
//! it runs.

mod command;
mod install;
mod recipes;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask run [ARGS…]   start the hub with its demo agent; ARGS go to `threadcast serve`
cargo xtask test          install what the tests need (under target/) and run them all
cargo xtask check         format, lints, house rules
cargo xtask differential  compare the core with the published AG-UI client on generated streams;
                          ARGS: --histories N (100,000), --seed S (another one each time)
cargo xtask torture       kill a hub at random moments, under load, and look for what it lost;
                          ARGS: --kills N (200), --seed S (another one each time)
cargo xtask measure       the program end to end, measured; ARGS: opening, latency or many
cargo xtask fixtures      rewrite the golden files from what the code says now
cargo xtask bench         the benchmarks";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let recipe = args.next();
    let rest: Vec<String> = args.collect();
    let done = match recipe.as_deref() {
        Some("run") => recipes::run(&rest),
        Some("test") => recipes::test(&rest),
        Some("check") => recipes::check(),
        Some("differential") => recipes::differential(&rest),
        Some("torture") => recipes::beside_the_program("torture", &rest),
        Some("measure") => recipes::beside_the_program("measure", &rest),
        Some("fixtures") => recipes::fixtures(),
        Some("bench") => recipes::bench(&rest),
        Some("help" | "--help" | "-h") | None => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Some(other) => {
            eprintln!("there is no recipe `{other}`\n\n{HELP}");
            return ExitCode::FAILURE;
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

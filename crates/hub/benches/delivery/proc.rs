//! CPU and memory from `/proc`.

use std::fs;
use std::time::Duration;

/// CPU time so far of this process's threads of that name.
pub(crate) fn threads_cpu(name: &str) -> Duration {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    tasks
        .map(|task| task.unwrap().path())
        .filter(|task| comm(task) == name)
        .map(|task| on_cpu(&task))
        .sum()
}

fn comm(task: &std::path::Path) -> String {
    fs::read_to_string(task.join("comm"))
        .unwrap_or_default()
        .trim_end()
        .to_owned()
}

fn on_cpu(task: &std::path::Path) -> Duration {
    let schedstat = fs::read_to_string(task.join("schedstat")).unwrap_or_default();
    Duration::from_nanos(
        schedstat
            .split(' ')
            .next()
            .and_then(|nanos| nanos.parse().ok())
            .unwrap_or(0),
    )
}

/// Proportional set size of a process in bytes: user-space memory alone.
pub(crate) fn pss(process: u32) -> usize {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap();
    let line = rollup
        .lines()
        .find(|line| line.starts_with("Pss:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<usize>()
        .unwrap()
        * 1024
}

/// How many files this process may have open.
pub(crate) fn files_max() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .unwrap();
    line.split_whitespace()
        .nth(3)
        .unwrap()
        .parse()
        .unwrap_or(usize::MAX)
}

//! `threadcast replay`: an export happens again, as fast as it did, before whoever watches.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use futures::stream::{self, BoxStream, StreamExt};
use serde::Deserialize;
use threadcast_agui::ids::ThreadId;
use tokio::time::{Instant, sleep_until};

use super::exported::{ExportedArgs, import};
use super::hub::{HubArgs, quietly};
use super::terminal::{ColourArgs, Output};
use crate::config::DemoSpeed;
use crate::random;

/// Let an export happen again in a new thread, at the pace it had.
///
/// Whoever watches the new thread sees every entry come. Nothing is called and nobody is asked:
/// what the agent said and what was answered are what they were. Ctrl-C ends it, and the thread
/// with it. Exit codes: 0, or 1 on an error, which leaves no thread.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    #[command(flatten)]
    file: ExportedArgs,
    /// The new thread; a new name by default
    #[arg(long)]
    thread: Option<ThreadId>,
    /// How fast: 2 is twice as fast as it was, `instant` without any pause
    #[arg(long, value_name = "SPEED", default_value = "1")]
    speed: DemoSpeed,
    #[command(flatten)]
    hub: HubArgs,
    #[command(flatten)]
    colour: ColourArgs,
}

/// How often the hub is told that more is to come.
const EMPTY_LINE_EVERY: Duration = Duration::from_secs(10);

pub async fn run(args: ReplayArgs) -> anyhow::Result<ExitCode> {
    quietly(replay(args).await)
}

async fn replay(args: ReplayArgs) -> anyhow::Result<ExitCode> {
    let exported = args.file.open().await?;
    let thread = match args.thread {
        Some(thread) => thread,
        None => ThreadId::new(format!("replay-{}", random::hex(4)))?,
    };
    let output = Output::new(&args.colour);
    let of = &exported.head.thread_id;
    output.line(&format!("── thread {thread}, as {of} was"))?;
    let lines = paced(exported.into_lines(), args.speed);
    let entries = import(&args.hub, &thread, lines).await?;
    output.line(&format!("entries {entries}"))?;
    Ok(ExitCode::SUCCESS)
}

/// When an entry came, in milliseconds since 1970.
#[derive(Deserialize)]
struct Came {
    at: Option<u64>,
}

/// Where a replay stands.
struct Pace {
    lines: BoxStream<'static, io::Result<String>>,
    speed: DemoSpeed,
    /// When the first entry came, then and now.
    began: Option<(u64, Instant)>,
    /// A line that is not due yet.
    next: Option<(Instant, String)>,
}

/// The lines, each when it is due; empty ones in between, so that nobody takes silence for an end.
fn paced(
    lines: BoxStream<'static, io::Result<String>>,
    speed: DemoSpeed,
) -> BoxStream<'static, io::Result<String>> {
    let pace = Pace {
        lines,
        speed,
        began: None,
        next: None,
    };
    stream::unfold(pace, async |mut pace| Some((pace.next().await?, pace))).boxed()
}

impl Pace {
    async fn next(&mut self) -> Option<io::Result<String>> {
        let (due, line) = match self.next.take() {
            Some(next) => next,
            None => match self.lines.next().await? {
                Ok(line) => (self.due(&line), line),
                Err(error) => return Some(Err(error)),
            },
        };
        let patience = Instant::now() + EMPTY_LINE_EVERY;
        if due > patience {
            self.next = Some((due, line));
            sleep_until(patience).await;
            return Some(Ok("\n".to_owned()));
        }
        sleep_until(due).await;
        Some(Ok(line))
    }

    fn due(&mut self, line: &str) -> Instant {
        let now = Instant::now();
        // What cannot be read is for the hub to refuse.
        let came = serde_json::from_str::<Came>(line)
            .ok()
            .and_then(|came| came.at);
        let Some(at) = came else { return now };
        let (first, began) = *self.began.get_or_insert((at, now));
        // Clocks go back at times; an entry does not come before the one before it.
        let behind = Duration::from_millis(at.saturating_sub(first));
        began + self.speed.pause(behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The moments at which lines come whose entries came at `times`.
    async fn moments(times: &[u64], speed: &str) -> Vec<u64> {
        let mut lines = vec![Ok("{\"threadcast\":1}\n".to_owned())];
        lines.extend(times.iter().map(|at| Ok(format!("{{\"at\":{at}}}\n"))));
        let began = Instant::now();
        let mut paced = paced(stream::iter(lines).boxed(), speed.parse().unwrap());
        let mut moments = Vec::new();
        while let Some(line) = paced.next().await {
            if line.unwrap() != "\n" {
                moments.push(u64::try_from(began.elapsed().as_millis()).unwrap());
            }
        }
        moments
    }

    #[tokio::test(start_paused = true)]
    async fn entries_come_at_the_pace_they_had() {
        let times = [5000, 5000, 5100, 65_100, 65_000];
        assert_eq!(moments(&times, "1").await, [0, 0, 0, 100, 60_100, 60_100]);
        assert_eq!(moments(&times, "2").await, [0, 0, 0, 50, 30_050, 30_050]);
        assert_eq!(moments(&times, "instant").await, [0; 6]);
    }

    #[tokio::test(start_paused = true)]
    async fn long_silence_is_filled_with_empty_lines() {
        let lines = ["{\"at\":0}\n", "{\"at\":35000}\n"].map(|line| Ok(line.to_owned()));
        let paced = paced(stream::iter(lines).boxed(), DemoSpeed::default());
        let lines: Vec<_> = paced.map(|line| line.unwrap()).collect().await;
        assert_eq!(
            lines,
            ["{\"at\":0}\n", "\n", "\n", "\n", "{\"at\":35000}\n"]
        );
    }
}

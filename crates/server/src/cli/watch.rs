//! `threadcast watch`: a thread as it grows, for people or as frames.

use std::pin::pin;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use threadcast_agui::ids::ThreadId;
use threadcast_client::{Epoch, Position, Seq, Start, Subscription};
use tokio::signal;

use super::hub::{HubArgs, quietly, refused};
use super::render::Renderer;
use super::terminal::{ColourArgs, Output};

/// Show a thread as it grows, until Ctrl-C.
///
/// It begins with what the thread amounts to now. Broken connections are made again by themselves,
/// and nothing is shown twice. Exit codes: 0 when the reader of the output went away, 1 on an
/// error, 130 after Ctrl-C.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// The thread; it need not exist yet
    thread: ThreadId,
    #[command(flatten)]
    hub: HubArgs,
    /// Print every frame as the hub sent it, one JSON object a line
    #[arg(long)]
    json: bool,
    /// Show only what follows this position
    #[arg(long, value_name = "EPOCH:SEQ", value_parser = parse_position)]
    after: Option<Position>,
    #[command(flatten)]
    colour: ColourArgs,
}

pub async fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    let client = args.hub.connect().await?;
    let start = args.after.map_or(Start::Snapshot, Start::After);
    let thread = client
        .subscribe(args.thread, start)
        .await
        .map_err(refused)?;
    let output = Output::new(&args.colour);
    let watching = if args.json {
        print_frames(thread, &output).await
    } else {
        print_lines(thread, &output).await
    };
    quietly(watching)
}

/// Ctrl-C by convention of shells: 128 and the number of the signal.
pub(super) const INTERRUPTED: u8 = 130;

async fn print_frames(mut thread: Subscription, output: &Output) -> anyhow::Result<ExitCode> {
    let mut interrupt = pin!(signal::ctrl_c());
    loop {
        tokio::select! {
            update = thread.next_update() => match update.map_err(refused)? {
                Some(_) => if let Some(frame) = thread.frame() { output.json_line(frame)? },
                None => return Ok(ExitCode::SUCCESS),
            },
            pressed = &mut interrupt => {
                pressed.context("Ctrl-C cannot be heard")?;
                return Ok(ExitCode::from(INTERRUPTED));
            }
        }
    }
}

async fn print_lines(mut thread: Subscription, output: &Output) -> anyhow::Result<ExitCode> {
    let mut interrupt = pin!(signal::ctrl_c());
    let mut renderer = Renderer::new(thread.thread().as_str());
    let ended = loop {
        tokio::select! {
            update = thread.next_update() => match update.map_err(refused) {
                Ok(Some(update)) => output.write(&renderer.update(&update))?,
                Ok(None) => break Ok(ExitCode::SUCCESS),
                Err(error) => break Err(error),
            },
            pressed = &mut interrupt => break pressed.map(|()| ExitCode::from(INTERRUPTED)).map_err(Into::into),
        }
    };
    output.write(&renderer.finish())?;
    ended
}

fn parse_position(text: &str) -> anyhow::Result<Position> {
    let (epoch, seq) = text.rsplit_once(':').context("expected EPOCH:SEQ")?;
    let seq = seq
        .parse()
        .ok()
        .and_then(Seq::new)
        .with_context(|| format!("`{seq}` is no seq"))?;
    Ok(Position {
        epoch: Epoch::new(epoch),
        seq,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_epoch_and_seq() {
        let position = parse_position("a:b:12").unwrap();
        assert_eq!((position.epoch.as_str(), position.seq.get()), ("a:b", 12));
        assert_eq!(parse_position(":0").unwrap(), Position::default());
        for text in ["12", "e:", "e:-1", "e:9007199254740992"] {
            assert!(parse_position(text).is_err(), "{text}");
        }
    }
}

//! An export in a file: read line by line, sent to a hub as it is read.
//!
//! Only its first line is looked into here, for the thread it names; the hub judges the rest.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use clap::Args;
use futures::stream::{self, BoxStream, StreamExt};
use http::Method;
use http_body_util::StreamBody;
use hyper::body::Frame;
use serde_json::Value;
use threadcast_agui::ids::ThreadId;
use threadcast_run_registry::export::{EXPORT_LINE_BYTES_MAX, ExportHead, ExportReader, Taken};
use tokio::sync::mpsc;

use super::http::{send, thread_path, whole};
use super::hub::HubArgs;

/// Which export.
#[derive(Debug, Args)]
pub(super) struct ExportedArgs {
    /// The file, as `threadcast export` writes it; `-` reads standard input
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

/// Lines on the way between the file and the hub.
const LINES_AHEAD: usize = 256;

/// Its lines, the first one apart.
#[derive(Debug)]
pub(super) struct Exported {
    pub(super) head: ExportHead,
    /// The line of `head`.
    first: String,
    rest: mpsc::Receiver<io::Result<String>>,
}

impl ExportedArgs {
    /// Opens the file and reads its first line.
    ///
    /// # Errors
    /// It cannot be read, or is no export.
    pub(super) async fn open(&self) -> anyhow::Result<Exported> {
        let name = self.path.display();
        let mut rest = lines_of(&self.path).with_context(|| format!("{name}"))?;
        let Some(first) = rest.recv().await.transpose()? else {
            bail!("{name}: the file is empty");
        };
        let taken = ExportReader::new().take(first.trim_end());
        let Taken::Head(head) = taken.with_context(|| format!("{name}: it is no export"))? else {
            unreachable!("the first line of an export is its head")
        };
        Ok(Exported { head, first, rest })
    }
}

/// Reads in a thread of its own, for files and pipes make one wait.
fn lines_of(path: &Path) -> io::Result<mpsc::Receiver<io::Result<String>>> {
    let input: Box<dyn Read + Send> = if path.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path)?)
    };
    let (lines, received) = mpsc::channel(LINES_AHEAD);
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        while let Some(line) = next_line(&mut input).transpose() {
            let has_failed = line.is_err();
            if lines.blocking_send(line).is_err() || has_failed {
                return;
            }
        }
    });
    Ok(received)
}

/// The next line with its end; the last one is given one.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let max = EXPORT_LINE_BYTES_MAX as u64 + 1;
    if input.take(max).read_line(&mut line)? == 0 {
        return Ok(None);
    }
    if !line.ends_with('\n') {
        line.push('\n');
    }
    Ok(Some(line))
}

impl Exported {
    /// The lines in order, each with its end.
    pub(super) fn into_lines(self) -> BoxStream<'static, io::Result<String>> {
        let rest = stream::unfold(self.rest, async |mut rest| Some((rest.recv().await?, rest)));
        stream::once(std::future::ready(Ok(self.first)))
            .chain(rest)
            .boxed()
    }
}

/// Sends lines to be the log of a new thread; how many entries it has then.
///
/// # Errors
/// The hub refuses, or the lines cannot be read.
pub(super) async fn import(
    hub: &HubArgs,
    thread: &ThreadId,
    lines: BoxStream<'static, io::Result<String>>,
) -> anyhow::Result<u64> {
    let frames = lines.map(|line| line.map(|line| Frame::data(Bytes::from(line))));
    let path = thread_path(thread.as_str(), "/import");
    let answer = send(hub, Method::POST, &path, StreamBody::new(frames)).await?;
    let answer: Value = serde_json::from_slice(&whole(answer).await?)?;
    answer["seq"]
        .as_u64()
        .context("the hub did not say what it imported")
}

//! The line between a viewer and the hub: how much it lets through in a time, and how often the hub writes to it.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// How often a slow line lets bytes through.
const TICK: Duration = Duration::from_millis(10);

/// One end of a line.
#[derive(Debug)]
pub(crate) struct Line {
    stream: DuplexStream,
    pace: Option<Pace>,
    writes: Arc<AtomicUsize>,
}

/// What a slow line lets through.
#[derive(Debug)]
struct Pace {
    ticks: Interval,
    bytes_per_tick: usize,
    left: usize,
}

impl Line {
    pub(crate) fn new(stream: DuplexStream) -> Self {
        Self {
            stream,
            pace: None,
            writes: Arc::default(),
        }
    }

    /// From now on only so many bytes a second can be read.
    pub(crate) fn slow_down(&mut self, bytes_per_second: usize) {
        let ticks_per_second = usize::try_from(1000 / TICK.as_millis()).unwrap();
        let mut ticks = interval(TICK);
        // What was not used is lost: a line saves nothing up.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.pace = Some(Pace {
            ticks,
            bytes_per_tick: bytes_per_second / ticks_per_second,
            left: 0,
        });
    }

    /// How often bytes were written here.
    pub(crate) fn writes(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.writes)
    }

    fn count(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(_)) = written {
            self.writes.fetch_add(1, Ordering::SeqCst);
        }
        written
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Some(pace) = &mut self.pace else {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        };
        while pace.left == 0 {
            ready!(pace.ticks.poll_tick(cx));
            pace.left = pace.bytes_per_tick;
        }
        let mut bytes = vec![0; pace.left.min(buf.remaining())];
        let mut part = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut part))?;
        let read = part.filled().len();
        buf.put_slice(part.filled());
        if let Some(pace) = &mut self.pace {
            pace.left -= read;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

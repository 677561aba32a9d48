//! The line between a viewer and its hub, which a test can cut or make slow.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Bytes a counted viewer reads at once: less than any frame has.
const COUNTED_READ: usize = 16;

/// How often a slow line lets bytes through.
const SLOW_TICK: Duration = Duration::from_millis(20);

/// A stream that dies after a number of bytes read, or lets only so many through in a second.
#[derive(Debug)]
pub(super) struct Line {
    stream: TcpStream,
    remaining: Arc<AtomicUsize>,
    received: Arc<AtomicUsize>,
    pace: Option<Pace>,
}

/// What a slow line lets through.
#[derive(Debug)]
struct Pace {
    ticks: Interval,
    bytes_per_tick: usize,
    left: usize,
}

impl Line {
    /// Dies after `remaining` bytes; `usize::MAX` is never.
    pub(super) fn new(stream: TcpStream, remaining: usize) -> Self {
        Self {
            stream,
            remaining: Arc::new(AtomicUsize::new(remaining)),
            received: Arc::default(),
            pace: None,
        }
    }

    pub(super) fn slow(stream: TcpStream, bytes_per_second: usize) -> Self {
        let ticks_per_second =
            usize::try_from(Duration::from_secs(1).as_millis() / SLOW_TICK.as_millis()).unwrap();
        let mut ticks = interval(SLOW_TICK);
        // What was not used is lost: a line saves nothing up.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let pace = Pace {
            ticks,
            bytes_per_tick: bytes_per_second / ticks_per_second,
            left: 0,
        };
        Self {
            pace: Some(pace),
            ..Self::new(stream, usize::MAX)
        }
    }

    /// How many more bytes it lives for.
    pub(super) fn remaining(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.remaining)
    }

    /// How many bytes came.
    pub(super) fn received(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.received)
    }
}

impl Pace {
    /// How many bytes may come now, at least one.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        while self.left == 0 {
            ready!(self.ticks.poll_tick(cx));
            self.left = self.bytes_per_tick;
        }
        Poll::Ready(self.left)
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let remaining = self.remaining.load(Ordering::SeqCst);
        if remaining == 0 {
            return Poll::Ready(Err(std::io::ErrorKind::ConnectionReset.into()));
        }
        let mut piece = [0; 4096];
        let most = match &mut self.pace {
            Some(pace) => ready!(pace.poll_room(cx)),
            None if remaining == usize::MAX => piece.len(),
            None => COUNTED_READ,
        };
        let room = buf.remaining().min(remaining).min(most).min(piece.len());
        let mut part = ReadBuf::new(&mut piece[..room]);
        let polled = Pin::new(&mut self.stream).poll_read(cx, &mut part);
        let read = part.filled().len();
        buf.put_slice(part.filled());
        if let Some(pace) = &mut self.pace {
            pace.left -= read;
        }
        if remaining != usize::MAX {
            self.remaining.fetch_sub(read, Ordering::SeqCst);
        }
        self.received.fetch_add(read, Ordering::SeqCst);
        polled
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

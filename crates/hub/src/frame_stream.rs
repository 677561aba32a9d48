//! The stream under a session's WebSocket: ready frames go straight to the socket, past the WebSocket's encoder.
//!
//! ```text
//! tungstenite (pong, close) ─▶ ┐
//! answers ───────────────────▶ ├─ own bytes ─▶ ┐
//! rest of a started frame ───▶ ┘               ├─▶ one vectored write
//! slices of shared ready frames ─────────────▶ ┘
//! ```
//!
//! Bytes of the session's own go first, whole frames in the order they came. Shared slices are only borrowed for a
//! write: when the socket blocks, the rest of the frame that was begun is copied and all else is the caller's to offer
//! again. Invariant: what the socket was given is whole frames followed by a beginning of the own bytes' first frame.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::defaults::SLICES_MAX;
use crate::frame::{length, whole_frames};

#[derive(Debug)]
pub(crate) struct FrameStream<S> {
    socket: S,
    own: Vec<u8>,
    /// How much of `own` the socket took.
    taken: usize,
    /// How many of the bytes of `own` that are left belong to a shared frame that was begun.
    rest: usize,
    needs_flush: bool,
    has_received: bool,
}

/// What became of slices that were offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Bytes of whole frames that need not be offered again.
    pub(crate) bytes: usize,
    /// Whether the socket takes no more now; the caller's task will be woken.
    pub(crate) is_blocked: bool,
    /// Whether the socket took anything at all.
    pub(crate) has_moved: bool,
}

impl<S> FrameStream<S> {
    pub(crate) fn new(socket: S) -> Self {
        Self {
            socket,
            own: Vec::new(),
            taken: 0,
            rest: 0,
            needs_flush: false,
            has_received: false,
        }
    }

    /// Queues one or more ready frames of the session's own.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.own);
    }

    /// Bytes that this stream holds, to be sent before anything else.
    pub(crate) fn held_bytes(&self) -> usize {
        self.own.len() - self.taken
    }

    /// Whether there is anything to write or to flush, apart from what is offered.
    pub(crate) fn has_work(&self) -> bool {
        self.held_bytes() > 0 || self.needs_flush
    }

    /// Bytes of the session's own frames that wait.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.held_bytes() - self.rest
    }

    /// Whether bytes came since this was last asked.
    pub(crate) fn take_has_received(&mut self) -> bool {
        std::mem::take(&mut self.has_received)
    }

    fn advance_own(&mut self, written: usize) {
        self.taken += written;
        self.rest = self.rest.saturating_sub(written);
        if self.taken == self.own.len() {
            self.own = Vec::new();
            self.taken = 0;
        }
    }

    /// Copies the rest of the frame that stands `within` bytes into the slices, so that the slices can be let go;
    /// gives where that frame ends.
    fn keep_started(&mut self, slices: &[Bytes], within: usize) -> usize {
        debug_assert!(self.own.is_empty());
        let mut before = 0;
        for slice in slices {
            if within < before + slice.len() {
                let (_, start) = whole_frames(slice, within - before);
                let end = start + length(&slice[start..]);
                self.own.extend_from_slice(&slice[within - before..end]);
                self.rest = self.own.len();
                return before + end;
            }
            before += slice.len();
        }
        before
    }
}

impl<S: AsyncWrite + Unpin> FrameStream<S> {
    /// Writes the own bytes and then the slices, which hold whole ready frames, as far as the socket takes them.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, slices: &[Bytes]) -> io::Result<Sent> {
        let total: usize = slices.iter().map(Bytes::len).sum();
        let (mut sent, mut has_moved) = (0, false);
        while self.held_bytes() > 0 || sent < total {
            match self.poll_write_once(cx, slices, sent) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(written)) => {
                    has_moved = true;
                    self.needs_flush = true;
                    let own = written.min(self.held_bytes());
                    self.advance_own(own);
                    sent += written - own;
                }
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => {
                    let bytes = if self.held_bytes() == 0 {
                        self.keep_started(slices, sent)
                    } else {
                        0
                    };
                    return Ok(Sent {
                        bytes,
                        is_blocked: true,
                        has_moved,
                    });
                }
            }
        }
        if self.needs_flush {
            match Pin::new(&mut self.socket).poll_flush(cx)? {
                Poll::Ready(()) => self.needs_flush = false,
                Poll::Pending => {
                    return Ok(Sent {
                        bytes: sent,
                        is_blocked: true,
                        has_moved,
                    });
                }
            }
        }
        Ok(Sent {
            bytes: sent,
            is_blocked: false,
            has_moved,
        })
    }

    fn poll_write_once(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[Bytes],
        sent: usize,
    ) -> Poll<io::Result<usize>> {
        let mut parts = [IoSlice::new(&[]); SLICES_MAX];
        let mut count = 0;
        if self.held_bytes() > 0 {
            parts[0] = IoSlice::new(&self.own[self.taken..]);
            count = 1;
        }
        let mut skip = sent;
        for slice in slices {
            if skip >= slice.len() {
                skip -= slice.len();
            } else if count < SLICES_MAX {
                parts[count] = IoSlice::new(&slice[skip..]);
                skip = 0;
                count += 1;
            }
        }
        Pin::new(&mut self.socket).poll_write_vectored(cx, &parts[..count])
    }

    pub(crate) fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FrameStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.socket).poll_read(cx, buf);
        self.has_received |= buf.filled().len() > before;
        polled
    }
}

/// The WebSocket's own frames (pong, ping, close) are taken whole and wait for their turn. They cannot pile up: a
/// session stops reading, and so ponging, while too much waits.
impl<S: AsyncWrite + Unpin> AsyncWrite for FrameStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.own.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_close(cx)
    }
}

#[cfg(test)]
mod tests;

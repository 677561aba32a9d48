//! The end of a socket: the last frames are sent, and the other side gets the time to read them.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::stream::FusedStream;
use futures::{SinkExt, StreamExt};
use threadcast_wire::close::CloseCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use super::{Ending, Session};
use crate::defaults::LINGER;
use crate::frame_stream::FrameStream;

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<'_, S> {
    /// Sends what is left, says why, and lets go.
    pub(super) async fn close(mut self, ending: Ending) {
        match ending {
            Ending::Close(code) => self.push_close(code),
            Ending::Gone => {}
            Ending::Dead(_) | Ending::Io(_) => return,
        }
        let is_readable = !self.socket.is_terminated();
        let mut is_shut = false;
        let finish = poll_fn(|cx| {
            ready!(poll_flush(self.socket.get_mut(), cx, &mut is_shut))?;
            // The other side's close frame is the end; bytes that are no frames are read away to their end.
            if is_readable {
                poll_close_frame(&mut self.socket, cx)
            } else {
                poll_read_away(self.socket.get_mut(), cx)
            }
        });
        // Whether the other side took its time or failed, nothing is left to do for it.
        let _ = timeout(LINGER, finish).await;
    }

    fn push_close(&mut self, code: CloseCode) {
        let frame = CloseFrame {
            code: code.code().into(),
            reason: code.reason().into(),
        };
        // Fails only when the other side has closed already.
        let _ = self.socket.start_send_unpin(Message::Close(Some(frame)));
    }
}

/// Writes the own bytes and ends the writing side.
fn poll_flush<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut FrameStream<S>,
    cx: &mut Context<'_>,
    is_shut: &mut bool,
) -> Poll<io::Result<()>> {
    if !*is_shut {
        if stream.poll_send(cx, &[])?.is_blocked {
            return Poll::Pending;
        }
        ready!(stream.poll_close(cx))?;
        *is_shut = true;
    }
    Poll::Ready(Ok(()))
}

fn poll_close_frame<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<FrameStream<S>>,
    cx: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    loop {
        match ready!(socket.poll_next_unpin(cx)) {
            Some(Ok(Message::Close(_)) | Err(_)) | None => return Poll::Ready(Ok(())),
            Some(Ok(_)) => {}
        }
    }
}

fn poll_read_away<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut FrameStream<S>,
    cx: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    let mut bytes = [0; 1024];
    loop {
        let mut buffer = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer))?;
        if buffer.filled().is_empty() {
            return Poll::Ready(Ok(()));
        }
    }
}

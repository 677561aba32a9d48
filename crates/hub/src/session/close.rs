//! The end of a socket: the last frames are sent, and the other side gets the time to read them.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::SinkExt;
use threadcast_wire::close::CloseCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
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
        let mut is_shut = false;
        let finish = poll_fn(|cx| poll_finish(self.socket.get_mut(), cx, &mut is_shut));
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

/// Writes the own bytes, ends the writing side, and reads away what comes until the other side ends too.
fn poll_finish<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut FrameStream<S>,
    cx: &mut Context<'_>,
    is_shut: &mut bool,
) -> Poll<io::Result<()>> {
    if !*is_shut && !stream.poll_send(cx, &[])?.is_blocked {
        ready!(stream.poll_close(cx))?;
        *is_shut = true;
    }
    let mut bytes = [0; 1024];
    loop {
        let mut buffer = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer))?;
        if buffer.filled().is_empty() {
            return if *is_shut {
                Poll::Ready(Ok(()))
            } else {
                Poll::Pending
            };
        }
    }
}

//! Viewers that check every frame they are sent, as cheaply as can be: they share a core with the kernel's work.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// What all viewers of one run share.
#[derive(Default)]
pub(crate) struct Received {
    /// Last seq of each viewer.
    seqs: RefCell<Vec<u64>>,
    slowest: Cell<u64>,
    moved: Notify,
}

impl Received {
    /// Waits until every viewer has had the entry of that seq.
    pub(crate) async fn all_have(&self, seq: u64) {
        while self.slowest.get() < seq {
            self.moved.notified().await;
        }
    }

    pub(crate) fn slowest(&self) -> u64 {
        self.slowest.get()
    }

    fn advance(&self, viewer: usize, seq: u64) {
        let mut seqs = self.seqs.borrow_mut();
        let before = std::mem::replace(&mut seqs[viewer], seq);
        if before == self.slowest.get() {
            let slowest = seqs.iter().copied().min().unwrap();
            if slowest > before {
                self.slowest.set(slowest);
                self.moved.notify_one();
            }
        }
    }
}

/// Connects viewers that follow `thread` from its tail; returns when all are subscribed.
pub(crate) async fn connect(address: SocketAddr, thread: &str, viewers: usize) -> Rc<Received> {
    let received = Rc::new(Received::default());
    received.seqs.borrow_mut().resize(viewers, 0);
    for viewer in 0..viewers {
        let mut socket = subscribe(address, thread).await;
        let received = Rc::clone(&received);
        tokio::task::spawn_local(async move {
            let mut reader = FrameReader::default();
            let mut buffer = vec![0; 256 << 10];
            loop {
                let read = socket.read(&mut buffer).await.unwrap();
                assert!(read > 0, "the hub closed a viewer");
                reader.take(&buffer[..read]);
                received.advance(viewer, reader.seq);
            }
        });
    }
    received
}

/// A connection whose subscription stands.
pub(crate) async fn subscribe(address: SocketAddr, thread: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.set_nodelay(true).unwrap();
    let text = format!(r#"{{"op":"subscribe","threadId":"{thread}","start":"tail","id":1}}"#);
    // A client's frame is masked; a mask of zeros changes nothing.
    let mut frame = vec![0x81, 0x80 | u8::try_from(text.len()).unwrap(), 0, 0, 0, 0];
    frame.extend(text.bytes());
    socket.write_all(&frame).await.unwrap();
    let mut seen = Vec::new();
    while !seen.windows(12).any(|window| window == b"\"subscribed\"") || !seen.ends_with(b"}") {
        assert!(socket.read_buf(&mut seen).await.unwrap() > 0);
    }
    socket
}

/// Splits a byte stream into frames and checks that their seqs follow each other.
#[derive(Default)]
struct FrameReader {
    rest: Vec<u8>,
    seq: u64,
}

impl FrameReader {
    fn take(&mut self, bytes: &[u8]) {
        if self.rest.is_empty() {
            let used = self.frames(bytes);
            self.rest.extend_from_slice(&bytes[used..]);
        } else {
            let mut all = std::mem::take(&mut self.rest);
            all.extend_from_slice(bytes);
            let used = self.frames(&all);
            all.drain(..used);
            self.rest = all;
        }
    }

    /// Checks the whole frames in `bytes`; gives where they end.
    fn frames(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let [_, length, more @ ..] = &bytes[at..] {
            let (header, length) = match (*length, more) {
                (126, [high, low, ..]) => (4, usize::from(*high) << 8 | usize::from(*low)),
                (short, _) if short < 126 => (2, usize::from(short)),
                _ => break,
            };
            let Some(payload) = bytes.get(at + header..at + header + length) else {
                break;
            };
            if payload.starts_with(b"{\"op\":\"event\"") {
                self.check(payload);
            }
            at += header + length;
        }
        at
    }

    fn check(&mut self, payload: &[u8]) {
        let name = b"\"seq\":";
        let start = payload
            .windows(name.len())
            .position(|window| window == name)
            .unwrap()
            + name.len();
        let digits = payload[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let seq = digits.fold(0, |seq, digit| seq * 10 + u64::from(digit - b'0'));
        assert_eq!(seq, self.seq + 1, "lost, doubled or out of order");
        self.seq = seq;
    }
}

/// Runs `measure` on a runtime of the viewers' own thread.
pub(crate) fn run<T>(measure: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, measure)
}

/// Whether a run is over.
pub(crate) fn is_over(start: Instant, length: Duration) -> bool {
    start.elapsed() >= length
}

use proptest::prelude::*;

use super::*;
use crate::frame::push_frame;

/// A socket that takes what a script allows: so many bytes, or (0) nothing now.
#[derive(Debug)]
struct Scripted {
    script: Vec<usize>,
    got: Vec<u8>,
}

impl AsyncWrite for Scripted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // Out of script, all is taken.
        let takes = self.script.pop().unwrap_or(usize::MAX).min(bytes.len());
        if takes == 0 {
            return Poll::Pending;
        }
        self.got.extend_from_slice(&bytes[..takes]);
        Poll::Ready(Ok(takes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_vec()).collect();
        self.poll_write(cx, &bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A frame whose payload is its kind and number, filled up.
fn frame(kind: char, number: usize, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_frame(&mut bytes, |out| {
        out.extend(
            format!("{kind}{number:06}")
                .bytes()
                .chain(std::iter::repeat_n(b'.', length)),
        );
    });
    bytes
}

/// Splits what a socket got into its frames' payloads.
fn payloads(mut bytes: &[u8]) -> Vec<String> {
    let mut payloads = Vec::new();
    while !bytes.is_empty() {
        let (frame, rest) = bytes.split_at(length(bytes));
        let header = if frame[1] < 126 { 2 } else { 4 };
        payloads.push(String::from_utf8(frame[header..].to_vec()).unwrap());
        bytes = rest;
    }
    payloads
}

proptest! {
    /// Goal: whatever the socket takes when, shared frames come once each and in order, and the session's own frames
    /// stand between them, never inside one. Method: offer what is left until all is taken, adding own frames between.
    #[test]
    fn frames_stay_whole_however_the_socket_takes_them(
        lengths in prop::collection::vec(0..2_000_usize, 1..30),
        cuts in prop::collection::vec(1..8_usize, 1..10),
        script in prop::collection::vec(prop_oneof![Just(0), 1..3_000_usize], 0..60),
        own in prop::collection::vec(0..4_usize, 0..60),
    ) {
        let mut stream = FrameStream::new(Scripted { script, got: Vec::new() });
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let frames: Vec<_> = lengths.iter().enumerate().map(|(at, length)| frame('s', at, *length)).collect();
        let mut sent_frames = 0;
        let mut own = own.into_iter().chain(std::iter::repeat(0));
        let mut own_count = 0;
        let mut cuts = cuts.into_iter().cycle();
        while sent_frames < frames.len() || stream.held_bytes() > 0 {
            for _ in 0..own.next().unwrap() {
                stream.push(|bytes| bytes.extend(frame('o', own_count, 5)));
                own_count += 1;
            }
            let mut slices = Vec::new();
            let mut at = sent_frames;
            while at < frames.len() && slices.len() < 8 {
                let end = frames.len().min(at + cuts.next().unwrap());
                slices.push(Bytes::from(frames[at..end].concat()));
                at = end;
            }
            let sent = stream.poll_send(&mut cx, &slices).unwrap();
            let (count, end) = whole_frames(&slices.concat(), sent.bytes);
            prop_assert_eq!(end, sent.bytes, "whole frames");
            sent_frames += usize::try_from(count).unwrap();
            // What is kept is at most one shared frame and the own frames.
            let largest = frames.iter().map(Vec::len).max().unwrap();
            prop_assert!(stream.held_bytes() - stream.waiting_bytes() <= largest);
            prop_assert!(!sent.is_blocked || stream.held_bytes() > 0, "a blocked stream holds what it waits with");
        }
        let got = payloads(&stream.socket.got);
        let of = |kind: char| got.iter().filter(|payload| payload.starts_with(kind)).map(|payload| payload[1..7].parse::<usize>().unwrap()).collect::<Vec<_>>();
        prop_assert_eq!(of('s'), (0..frames.len()).collect::<Vec<_>>());
        prop_assert_eq!(of('o'), (0..own_count).collect::<Vec<_>>());
        prop_assert_eq!(got.len(), frames.len() + own_count);
    }
}

#[test]
fn nothing_is_kept_when_all_was_taken() {
    let mut stream = FrameStream::new(Scripted {
        script: Vec::new(),
        got: Vec::new(),
    });
    let mut cx = Context::from_waker(std::task::Waker::noop());
    stream.push(|own| own.extend(frame('o', 1, 10)));
    let sent = stream
        .poll_send(&mut cx, &[frame('s', 1, 10).into()])
        .unwrap();
    assert_eq!(
        (sent.is_blocked, stream.held_bytes(), stream.own.capacity()),
        (false, 0, 0)
    );
}

//! Ready frames: complete WebSocket text frames as a server sends them (unmasked, final), header and JSON payload.
//!
//! Written once and shared by all who are sent them. Invariant: bytes that leave this module as ready frames are whole
//! frames, so a length can always be read off their headers.

use bytes::Bytes;
use threadcast_thread_log::entry::{Body, Entry};
use threadcast_wire::hub_frame::{ThreadTag, write_event, write_fact};

/// Final frame, opcode text.
const TEXT: u8 = 0x81;

/// Room left for the header; the usual one, for payloads of 126 to 65,535 bytes, fills it.
const HEADER_USUAL: usize = 4;

/// Appends one ready frame whose payload `write` appends.
pub(crate) fn push_frame(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[TEXT; HEADER_USUAL]);
    write(out);
    finish(out, start);
}

/// Writes the header of the frame that begins at `start` and whose payload follows the usual room for one.
fn finish(out: &mut Vec<u8>, start: usize) {
    let payload = start + HEADER_USUAL;
    let length = out.len() - payload;
    match u16::try_from(length) {
        Ok(short) if short < 126 => {
            out.copy_within(payload.., start + 2);
            out.truncate(out.len() - 2);
            out[start + 1] = short.to_le_bytes()[0];
        }
        Ok(usual) => {
            out[start + 1] = 126;
            out[start + 2..payload].copy_from_slice(&usual.to_be_bytes());
        }
        Err(_) => {
            out.extend_from_slice(&[0; 6]);
            out.copy_within(payload..payload + length, payload + 6);
            out[start + 1] = 127;
            out[start + 2..start + 10].copy_from_slice(&(length as u64).to_be_bytes());
        }
    }
}

/// One ready frame of its own.
pub(crate) fn ready(write: impl FnOnce(&mut Vec<u8>)) -> Bytes {
    let mut out = Vec::with_capacity(256);
    push_frame(&mut out, write);
    out.into()
}

/// Length of the ready frame at the beginning of `bytes`, which hold at least its header.
pub(crate) fn length(bytes: &[u8]) -> usize {
    let be = |from: usize, to: usize| {
        bytes[from..to]
            .iter()
            .fold(0, |sum: usize, byte| sum << 8 | usize::from(*byte))
    };
    match bytes[1] & 0x7f {
        126 => 4 + be(2, 4),
        127 => 10 + be(2, 10),
        short => 2 + usize::from(short),
    }
}

/// How many of the ready frames in `bytes` end at or before `within`, and where the last of them ends.
pub(crate) fn whole_frames(bytes: &[u8], within: usize) -> (u64, usize) {
    let (mut count, mut end) = (0, 0);
    while end < bytes.len() {
        let next = end + length(&bytes[end..]);
        if next > within {
            break;
        }
        (count, end) = (count + 1, next);
    }
    (count, end)
}

/// Frames of consecutive entries as they go into a tail.
#[derive(Debug)]
pub(crate) enum Encoded {
    /// Ready frames, one an entry; `ends` holds where each ends.
    Frames { bytes: Vec<u8>, ends: Vec<u32> },
    /// The payload of one frame that is too long for one piece.
    Long(Bytes),
}

/// The frames of `entries`: runs of ready frames of about `chunk_bytes`, and payloads over `long_over` by themselves.
pub(crate) fn encode(
    thread: &ThreadTag,
    entries: &[Entry],
    chunk_bytes: usize,
    long_over: usize,
) -> Vec<Encoded> {
    let mut encoder = Encoder {
        encoded: Vec::with_capacity(1),
        bytes: Vec::with_capacity(frames_estimate(entries).min(chunk_bytes)),
        ends: Vec::with_capacity(entries.len()),
        chunk_bytes,
        long_over,
    };
    for entry in entries {
        encoder.push(|out| write_entry(out, thread, entry));
    }
    encoder.finish()
}

/// Makes frames one after the other.
pub(crate) struct Encoder {
    encoded: Vec<Encoded>,
    bytes: Vec<u8>,
    ends: Vec<u32>,
    chunk_bytes: usize,
    long_over: usize,
}

impl Encoder {
    /// Runs of ready frames of about `chunk_bytes`, and payloads over `long_over` by themselves.
    pub(crate) fn new(chunk_bytes: usize, long_over: usize) -> Self {
        Self {
            encoded: Vec::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            chunk_bytes,
            long_over,
        }
    }

    /// One frame more, whose payload `write` appends.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.bytes.len() >= self.chunk_bytes {
            self.end_run();
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[TEXT; HEADER_USUAL]);
        write(&mut self.bytes);
        if self.bytes.len() - start - HEADER_USUAL > self.long_over {
            let payload = self.bytes.split_off(start + HEADER_USUAL);
            self.bytes.truncate(start);
            self.end_run();
            self.encoded.push(Encoded::Long(payload.into()));
        } else {
            finish(&mut self.bytes, start);
            let end = u32::try_from(self.bytes.len());
            self.ends
                .push(end.expect("a run of frames is about as long as a chunk"));
        }
    }

    fn end_run(&mut self) {
        if !self.ends.is_empty() {
            self.encoded.push(Encoded::Frames {
                bytes: std::mem::take(&mut self.bytes),
                ends: std::mem::take(&mut self.ends),
            });
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Encoded> {
        self.end_run();
        self.encoded
    }
}

/// What stands around an event in its frame, beside the thread's id: op, seq, time, names.
const ENVELOPE_BYTES: usize = 96;

fn frames_estimate(entries: &[Entry]) -> usize {
    entries
        .iter()
        .map(|entry| entry.record.size_bytes() + ENVELOPE_BYTES)
        .sum()
}

/// Appends the payload of an entry's frame: the event as it entered the log, or the public part of a fact.
pub(crate) fn write_entry(out: &mut Vec<u8>, thread: &ThreadTag, entry: &Entry) {
    let at = entry.record.at;
    match &entry.record.body {
        Body::Event { json, .. } => write_event(out, thread, entry.seq, at, json),
        Body::Fact { public, .. } => write_fact(out, thread, entry.seq, at, public),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio_tungstenite::tungstenite::protocol::frame::FrameSocket;

    use super::*;

    proptest! {
        #[test]
        fn a_ready_frame_is_what_a_websocket_reader_reads(lengths in prop::collection::vec(
            prop_oneof![0..300_usize, 65_500..65_600_usize], 1..6,
        )) {
            let mut bytes = Vec::new();
            for length in &lengths {
                push_frame(&mut bytes, |out| out.extend(std::iter::repeat_n(b'x', *length)));
            }
            prop_assert_eq!(whole_frames(&bytes, bytes.len()), (lengths.len() as u64, bytes.len()));
            prop_assert_eq!(whole_frames(&bytes, bytes.len() - 1).0, lengths.len() as u64 - 1);

            let mut socket = FrameSocket::new(std::io::Cursor::new(bytes));
            for length in lengths {
                let frame = socket.read(None).unwrap().unwrap();
                prop_assert!(frame.header().is_final && frame.header().mask.is_none());
                prop_assert_eq!(frame.into_payload().len(), length);
            }
            prop_assert!(socket.read(None).unwrap().is_none());
        }
    }
}

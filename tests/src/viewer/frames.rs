//! Frames of one thread, up to some place.

use serde_json::Value;

use super::Viewer;

impl Viewer {
    /// Frames of `thread` up to and including the one that brings its seq to `seq`.
    pub async fn frames_to(&mut self, thread: &str, seq: u64) -> Vec<Value> {
        let mut frames = Vec::new();
        while last_seq(&frames) < seq {
            let frame = self
                .frame()
                .await
                .expect("frames come before the line ends");
            if frame["threadId"] == thread {
                frames.push(frame);
            }
        }
        frames
    }

    /// Frames of `thread` until they hold `count` AG-UI events.
    pub async fn frames_to_event(&mut self, thread: &str, count: usize) -> Vec<Value> {
        let mut frames = Vec::new();
        while events_of(&frames).len() < count {
            let frame = self
                .frame()
                .await
                .expect("frames come before the line ends");
            if frame["threadId"] == thread {
                frames.push(frame);
            }
        }
        frames
    }

    /// Frames of `thread` up to and including the end of run `run`.
    pub async fn frames_to_end(&mut self, thread: &str, run: &str) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let frame = self
                .frame()
                .await
                .expect("frames come before the line ends");
            if frame["threadId"] != thread {
                continue;
            }
            let events = events_of(std::slice::from_ref(&frame));
            frames.push(frame);
            // A frame with several events ends as its last run did.
            let ends = events
                .last()
                .is_some_and(|it| it["type"] == "RUN_FINISHED" || it["type"] == "RUN_ERROR");
            if ends
                && self
                    .current_runs
                    .get(thread)
                    .is_some_and(|current| current == run)
            {
                return frames;
            }
        }
    }
}

/// The AG-UI events of frames, in order.
#[must_use]
pub fn events_of(frames: &[Value]) -> Vec<Value> {
    let mut events = Vec::new();
    for frame in frames {
        match frame["op"].as_str() {
            Some("event") => events.push(frame["event"].clone()),
            Some("events") => events.extend(frame["events"].as_array().unwrap().iter().cloned()),
            _ => {}
        }
    }
    events
}

/// The seq that frames bring their viewer to.
#[must_use]
pub fn last_seq(frames: &[Value]) -> u64 {
    let carried = frames
        .iter()
        .rev()
        .find(|frame| matches!(frame["op"].as_str(), Some("event" | "fact" | "events")));
    carried.and_then(|frame| frame["seq"].as_u64()).unwrap_or(0)
}

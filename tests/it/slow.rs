//! A viewer behind a thin line: live, whole, and for a fraction of the bytes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use threadcast_tests::node::apply;
use threadcast_tests::program::Program;
use threadcast_tests::recording::Recording;
use threadcast_tests::replay::{Hold, Replay};
use threadcast_tests::viewer::{Start, Viewer, events_of};
use tokio::time::{interval, timeout};

/// What the thin line lets through.
const BYTES_PER_SECOND: usize = 10 * 1024;

const TOKENS_PER_SECOND: usize = 200;

/// How long the run is, unless `THREADCAST_SLOW_SECONDS` says otherwise.
const SECONDS: usize = 20;

/// How far behind the slow viewer may be, on a machine that has nothing else to do.
const STALE_MAX: Duration = Duration::from_secs(2);

#[expect(
    clippy::disallowed_methods,
    reason = "a length of the test run, not a setting of the program"
)]
fn asked_seconds() -> Option<usize> {
    let asked = std::env::var("THREADCAST_SLOW_SECONDS").ok();
    asked.map(|seconds| seconds.parse().unwrap())
}

fn seconds() -> usize {
    asked_seconds().unwrap_or(SECONDS)
}

/// A run that says one token after the other, as a model does.
fn tokens(count: usize) -> Vec<Value> {
    let message = "msg_0d7c3a52-61d8-4b2e-9a94-5c1f0e2b7a10";
    let words = [
        " the", " viewer", " of", " a", " long", " story", ",", " told", " by", " it", ".\n",
    ];
    let mut events = vec![
        json!({ "type": "RUN_STARTED", "threadId": "THREAD", "runId": "RUN" }),
        json!({ "type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant" }),
    ];
    events.extend((0..count).map(|at| {
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": words[at % words.len()] })
    }));
    events.push(json!({ "type": "TEXT_MESSAGE_END", "messageId": message }));
    events.push(json!({ "type": "RUN_FINISHED", "threadId": "THREAD", "runId": "RUN" }));
    events
}

/// Frames of one viewer, each with the time at which it came.
type Received = Vec<(u64, Value)>;

fn now_ms() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since_1970.as_millis()).unwrap()
}

async fn to_the_end(viewer: &mut Viewer) -> Received {
    let mut received = Received::new();
    loop {
        let frame = viewer.frame().await.expect("nobody is disconnected");
        let is_end = events_of(std::slice::from_ref(&frame))
            .iter()
            .any(|event| event["type"] == "RUN_FINISHED");
        received.push((now_ms(), frame));
        if is_end {
            return received;
        }
    }
}

/// The first and last entry that a frame stands for.
fn range(frame: &Value) -> Option<(u64, u64)> {
    let seq = frame["seq"].as_u64();
    match frame["op"].as_str()? {
        "event" | "fact" => Some((seq?, seq?)),
        "events" => Some((frame["from"].as_u64()?, seq?)),
        _ => None,
    }
}

/// How old each entry was when the slow viewer had it, in milliseconds, the oldest last.
fn staleness(fast: &Received, slow: &Received) -> Vec<u64> {
    let mut written = std::collections::HashMap::new();
    for (_, frame) in fast {
        if let (Some((seq, _)), Some(at)) = (range(frame), frame["at"].as_u64()) {
            written.insert(seq, at);
        }
    }
    let mut ages: Vec<u64> = slow
        .iter()
        .filter_map(|(came, frame)| Some((came, range(frame)?)))
        .flat_map(|(came, (from, to))| (from..=to).map(move |seq| (*came, seq)))
        .filter_map(|(came, seq)| Some(came.saturating_sub(*written.get(&seq)?)))
        .collect();
    ages.sort_unstable();
    ages
}

/// How many entries the fast viewer had beyond what the slow one had, whenever a frame came to that one; sorted.
fn lags(fast: &Received, slow: &Received) -> Vec<u64> {
    let had: Vec<(u64, u64)> = fast
        .iter()
        .filter_map(|(came, frame)| Some((*came, range(frame)?.1)))
        .collect();
    let lag = |came: u64, seq: u64| {
        let before = had.partition_point(|(at, _)| *at <= came);
        let live = before.checked_sub(1).map_or(0, |last| had[last].1);
        live.saturating_sub(seq)
    };
    let frames = slow.iter();
    let mut lags: Vec<u64> = frames
        .filter_map(|(came, frame)| Some(lag(*came, range(frame)?.1)))
        .collect();
    lags.sort_unstable();
    lags
}

/// The run goes on while both viewers watch; what each received.
async fn tell(
    count: usize,
    hold: &Hold,
    fast: &mut Viewer,
    slow: &mut Viewer,
) -> (Received, Received) {
    let telling = async {
        let pause = Duration::from_secs(1) / u32::try_from(TOKENS_PER_SECOND).unwrap();
        let mut ticks = interval(pause);
        for _ in 0..count {
            ticks.tick().await;
            hold.allow(1);
        }
    };
    let watching = async { tokio::join!(telling, to_the_end(fast), to_the_end(slow)) };
    let patience = Duration::from_secs(2 * u64::try_from(seconds()).unwrap() + 60);
    let ((), fast, slow) = timeout(patience, watching).await.unwrap();
    (fast, slow)
}

/// Goal: a viewer behind a line of 10 KB/s on a run of 200 tokens a second is never disconnected,
/// stays live, ends equal and costs a fraction of the bytes. Method: a reader with a small receive
/// buffer beside a fast one. How far behind it was is counted in entries, which a busy machine
/// delays for both; who sets the length of the run has it judged by the clock as well.
#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_behind_a_thin_line_stays_live_and_ends_equal() {
    let story = tokens(seconds() * TOKENS_PER_SECOND);
    let count = story.len();
    let replay = Replay::start([Recording::scripted("telling", &[story])]).await;
    let hub = Program::start(&replay.agents()).await;
    let hold = replay.hold("story");
    let mut slow = Viewer::connect_slow(&hub.ws(), BYTES_PER_SECOND).await;
    slow.subscribe("story", Start::Snapshot).await;
    let mut fast = Viewer::connect(&hub.ws()).await;
    fast.subscribe("story", Start::Snapshot).await;
    let messages = json!([{ "id": "u1", "role": "user", "content": "tell me" }]);
    let input = json!({ "threadId": "story", "runId": "run", "messages": messages });
    let answer = fast
        .ask(json!({ "op": "run", "agent": "telling", "input": input }))
        .await;
    assert_eq!(answer["op"], "ok", "{answer}");

    let (fast_frames, slow_frames) = tell(count, &hold, &mut fast, &mut slow).await;
    let (slow_bytes, fast_bytes) = (slow.received_bytes(), fast.received_bytes());
    let ages = staleness(&fast_frames, &slow_frames);
    println!(
        "{} s: {slow_bytes} of {fast_bytes} bytes ({:.1} %), {} frames for {} entries, stale p50 {} ms, p99 {} ms, max {} ms",
        seconds(),
        slow_bytes as f64 / fast_bytes as f64 * 100.0,
        slow_frames.len(),
        ages.len(),
        ages[ages.len() / 2],
        ages[ages.len() * 99 / 100],
        ages[ages.len() - 1],
    );
    assert_touching(&slow_frames);
    let lags = lags(&fast_frames, &slow_frames);
    let most = lags[lags.len() * 99 / 100];
    let allowed = (2 * STALE_MAX.as_secs()) * TOKENS_PER_SECOND as u64;
    assert!(most <= allowed, "{most} entries behind");
    if asked_seconds().is_some() {
        let stale = Duration::from_millis(ages[ages.len() - 1]);
        assert!(stale <= STALE_MAX, "{stale:?} behind");
    }
    assert!(
        slow_bytes * 100 <= fast_bytes * 15,
        "{slow_bytes} of {fast_bytes} bytes"
    );
    let ends = apply("story", &[events(&fast_frames), events(&slow_frames)]).await;
    assert_eq!(ends[0].error, None);
    assert_eq!(ends[1], ends[0], "the slow viewer and the fast one");
}

fn events(received: &Received) -> Vec<Value> {
    let frames: Vec<Value> = received.iter().map(|(_, frame)| frame.clone()).collect();
    events_of(&frames)
}

fn assert_touching(received: &Received) {
    let mut held = 0;
    for (from, to) in received.iter().filter_map(|(_, frame)| range(frame)) {
        assert_eq!(from, held + 1, "ranges touch");
        held = to;
    }
}

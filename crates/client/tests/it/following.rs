//! Following threads: nothing lost, nothing doubled, whatever happens to the line.

use std::time::Duration;

use threadcast_client::{Client, Epoch, Mode, Options, Position, Seq, Start, Subscription, Update};
use threadcast_wire::client_frame::{ClientOp, SubscribeStart};
use threadcast_wire::part::pieces;

use crate::fake_hub::{FakeHub, event, number, on_the_wire, options, subscribed, within};

mod endings;

const HEAD: u64 = 9;

fn at(seq: u64) -> Position {
    Position {
        epoch: Epoch::new("e"),
        seq: Seq::new(seq).unwrap(),
    }
}

/// The frames after `seq` of a thread with nine entries: an epoch, events, a fact, a range and one
/// in parts.
fn frames_after(seq: u64) -> Vec<String> {
    let range = r#"{"op":"events","threadId":"th","from":4,"seq":6,"events":[{"type":"CUSTOM","name":"n","value":6}],"thread":{"status":"running","runs":[],"interrupts":[]}}"#;
    let fact = r#"{"op":"fact","threadId":"th","seq":8,"at":1,"fact":{"type":"run.trailing","by":{"id":"hub"}}}"#;
    let mut frames = Vec::new();
    if seq == 0 {
        frames.push(r#"{"op":"epoch","threadId":"th","epoch":"e","seq":0}"#.to_owned());
    }
    frames.extend((seq + 1..=3).map(|seq| event("th", seq)));
    match seq {
        0..=3 => frames.push(range.to_owned()),
        4..=6 => frames.extend((seq + 1..=6).map(|seq| event("th", seq))),
        _ => {}
    }
    if seq < 7 {
        let whole = event("th", 7);
        let parts: Vec<&str> = pieces(&whole, 40).collect();
        for (n, text) in parts.iter().enumerate() {
            let last = n + 1 == parts.len();
            let text = serde_json::to_string(text).unwrap();
            frames.push(format!(
                r#"{{"op":"part","threadId":"th","n":{},"last":{last},"text":{text}}}"#,
                n + 1
            ));
        }
    }
    if seq < 8 {
        frames.push(fact.to_owned());
    }
    if seq < 9 {
        frames.push(event("th", 9));
    }
    frames
}

fn bytes_after(id: i64, seq: u64) -> Vec<Vec<u8>> {
    let mut frames = vec![subscribed(
        id,
        "th",
        if seq == 0 { "log" } else { "resumed" },
        HEAD,
    )];
    frames.extend(frames_after(seq));
    frames.iter().map(|frame| on_the_wire(frame)).collect()
}

/// Takes updates until `head`; checks that the entries follow each other, and gives where each
/// update ended.
async fn read_to(thread: &mut Subscription, after: u64, head: u64) -> Vec<u64> {
    let mut ends = Vec::new();
    let mut held = after;
    while held < head {
        let update = within(thread.next_update())
            .await
            .unwrap()
            .expect("the subscription goes on");
        let Some((from, to)) = update.range() else {
            continue;
        };
        assert_eq!(from.get(), held + 1, "{update:?} does not follow {held}");
        held = to.get();
        ends.push(held);
        assert_eq!(thread.position(), Some(&at(held)));
    }
    ends
}

/// Serves `cuts` connections, each up to that many bytes, then one to the end; the reader must have
/// everything once.
async fn check_cuts(cuts: &[usize]) {
    let (hub, client, mut line) = FakeHub::joined(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    let play = async {
        for &cut in cuts {
            let (id, after) = asked(&mut line).await;
            let bytes = bytes_after(id, after).concat();
            line.send_bytes_and_cut(&bytes[..cut.min(bytes.len())])
                .await;
            line = hub.accept().await;
        }
        let (id, after) = asked(&mut line).await;
        line.send(&subscribed(
            id,
            "th",
            if after == 0 { "log" } else { "resumed" },
            HEAD,
        ))
        .await;
        for frame in frames_after(after) {
            line.send(&frame).await;
        }
        line
    };
    let (ends, _line) = tokio::join!(read_to(&mut thread, 0, HEAD), play);
    assert_eq!(ends.last(), Some(&HEAD), "cut at {cuts:?}");
}

async fn asked(line: &mut crate::fake_hub::Line) -> (i64, u64) {
    let (id, _, start) = line.subscribe().await;
    match start {
        SubscribeStart::Log => (id, 0),
        SubscribeStart::LogAfter(position) => (id, position.seq.get()),
        other => panic!("the client asked for {other:?}"),
    }
}

/// Where every frame begins, ends and is in its middle.
fn cut_points() -> Vec<usize> {
    let mut points = vec![0];
    let mut begin = 0;
    for frame in bytes_after(1, 0) {
        let end = begin + frame.len();
        points.extend([begin + 1, begin + frame.len() / 2, end - 1, end]);
        begin = end;
    }
    points
}

#[tokio::test]
async fn every_cut_resumes_whole() {
    for cut in cut_points() {
        check_cuts(&[cut]).await;
    }
}

#[tokio::test]
async fn cuts_in_a_row_resume_whole() {
    let points = cut_points();
    for (at, &cut) in points.iter().enumerate() {
        check_cuts(&[
            cut,
            points[at * 7 % points.len()],
            0,
            points[at * 3 % points.len()],
        ])
        .await;
    }
}

#[tokio::test]
async fn a_kept_position_resumes_on_another_client() {
    let (hub, client, mut line) = FakeHub::joined(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::After(at(7))))
        .await
        .unwrap();
    let start = line.subscribed("resumed", HEAD).await;
    assert_eq!(start, SubscribeStart::Position(at(7)));
    for frame in frames_after(7) {
        line.send(&frame).await;
    }
    assert_eq!(read_to(&mut thread, 7, HEAD).await, [8, 9]);
    // The run is over and nothing comes any more; a return costs nothing and yields nothing.
    line.cut();
    let mut line = hub.accept().await;
    assert_eq!(
        line.subscribed("resumed", HEAD).await,
        SubscribeStart::Position(at(HEAD))
    );
    let lost = within(thread.next_update()).await.unwrap();
    assert!(matches!(lost, Some(Update::Lost { .. })), "{lost:?}");
    let back = within(thread.next_update()).await.unwrap();
    assert!(
        matches!(
            back,
            Some(Update::Subscribed {
                mode: Mode::Resumed,
                ..
            })
        ),
        "{back:?}"
    );
}

fn baseline(seq: u64) -> String {
    format!(
        r#"{{"op":"events","threadId":"th","from":1,"seq":{seq},"events":[{{"type":"CUSTOM","name":"n","value":1}}],"thread":{{"status":"success","runs":[],"interrupts":[]}}}}"#
    )
}

#[tokio::test]
async fn a_reset_voids_what_is_held_and_a_baseline_follows() {
    let (hub, client, mut line) = FakeHub::joined(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    line.subscribed("log", 2).await;
    line.send(&event("th", 1)).await;
    line.send(r#"{"op":"reset","threadId":"th","epoch":"f","seq":1,"reason":"lost"}"#)
        .await;
    // Cut before the baseline: the client holds nothing, and asks for a snapshot.
    line.cut();
    let mut line = hub.accept().await;
    assert_eq!(
        line.subscribed("snapshot", 1).await,
        SubscribeStart::Snapshot
    );
    line.send(&baseline(1)).await;

    let mut seen = Vec::new();
    loop {
        let update = within(thread.next_update()).await.unwrap().unwrap();
        seen.push(match &update {
            Update::Subscribed { mode, .. } => format!("subscribed {mode:?}"),
            Update::Event { seq, .. } => format!("event {seq}"),
            Update::Reset { reason } => format!("reset {reason}"),
            Update::Lost { .. } => "lost".to_owned(),
            Update::Baseline { seq, view, .. } => {
                format!("baseline {seq} {}", view.as_ref().unwrap().status)
            }
            other => panic!("{other:?}"),
        });
        if matches!(update, Update::Baseline { .. }) {
            break;
        }
        if matches!(update, Update::Reset { .. }) {
            assert_eq!(thread.position(), None);
        }
    }
    assert_eq!(
        seen,
        [
            "subscribed Log",
            "event 1",
            "reset lost",
            "lost",
            "subscribed Snapshot",
            "baseline 1 success"
        ]
    );
    assert_eq!(thread.position(), Some(&at(1)));
    assert_eq!(thread.frame(), Some(baseline(1).as_str()));
}

#[tokio::test]
async fn frames_of_later_versions_are_ignored() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Tail))
        .await
        .unwrap();
    line.subscribed("tail", 0).await;
    line.send(r#"{"op":"aurora","threadId":"th","seq":1,"colours":["green"]}"#)
        .await;
    line.send(r#"{"op":"error","code":"bad_frame","message":"of nobody","retryable":false}"#)
        .await;
    line.send(&event("another", 1)).await;
    line.send(&event("th", 1).replace("\"at\"", "\"hue\":1,\"at\""))
        .await;
    assert_eq!(read_to(&mut thread, 0, 1).await, [1]);
}

#[tokio::test]
async fn a_gap_on_the_wire_is_asked_for_again() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    line.subscribed("log", 3).await;
    line.send(&event("th", 1)).await;
    line.send(&event("th", 3)).await;
    assert_eq!(
        line.subscribed("resumed", 3).await,
        SubscribeStart::LogAfter(at(1))
    );
    line.send(&event("th", 2)).await;
    line.send(&event("th", 3)).await;
    assert_eq!(read_to(&mut thread, 0, 3).await, [1, 2, 3]);
}

#[tokio::test]
async fn many_threads_share_one_socket_and_return_together() {
    const THREADS: usize = 50;
    let (hub, client, mut line) = FakeHub::joined(options()).await;
    let mut threads = Vec::new();
    for n in 0..THREADS {
        threads.push(
            within(client.subscribe(format!("th{n}").parse().unwrap(), Start::Log))
                .await
                .unwrap(),
        );
    }
    let play = async {
        for _ in 0..THREADS {
            let (id, thread, _) = line.subscribe().await;
            line.send(&subscribed(id, &thread, "log", 2)).await;
            line.send(&event(&thread, 1)).await;
        }
        line.cut();
        let mut line = hub.accept().await;
        for _ in 0..THREADS {
            let (id, thread, start) = line.subscribe().await;
            let SubscribeStart::LogAfter(position) = start else {
                // Its first entry may have been lost with the connection's last bytes.
                line.send(&subscribed(id, &thread, "log", 2)).await;
                line.send(&event(&thread, 1)).await;
                line.send(&event(&thread, 2)).await;
                continue;
            };
            line.send(&subscribed(id, &thread, "resumed", 2)).await;
            for seq in position.seq.get() + 1..=2 {
                line.send(&event(&thread, seq)).await;
            }
        }
        line
    };
    let read = async {
        for thread in &mut threads {
            read_to(thread, 0, 2).await;
        }
    };
    tokio::join!(read, play);
}

/// What a reader does not take is not read from the socket either, and is all there when it goes
/// on.
#[tokio::test]
async fn a_slow_reader_stops_the_socket_and_loses_nothing() {
    const ENTRIES: u64 = 2_000;
    let tight = Options {
        subscription_bytes: 1 << 10,
        request_timeout: Duration::from_millis(100),
        ..options()
    };
    let (_hub, client, mut line) = FakeHub::joined(tight).await;
    let mut slow = within(client.subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    line.subscribed("log", ENTRIES).await;
    let (stalled, ()) = within(async {
        tokio::join!(client.ping(), async {
            let id = number(&line.next().await.id.unwrap());
            for seq in 1..=ENTRIES {
                line.send(&event("th", seq)).await;
            }
            line.send(&format!(r#"{{"op":"ok","id":{id}}}"#)).await;
        })
    })
    .await;
    assert_eq!(
        stalled.unwrap_err().code(),
        "timeout",
        "the answer waits behind what the reader does not take"
    );
    assert_eq!(read_to(&mut slow, 0, ENTRIES).await.len() as u64, ENTRIES);
    let play = async {
        let id = number(&line.next().await.id.unwrap());
        line.send(&format!(r#"{{"op":"ok","id":{id}}}"#)).await;
    };
    let (pinged, ()) = within(async { tokio::join!(client.ping(), play) }).await;
    pinged.unwrap();
}

/// An answer that nobody reads is not late: it waits behind what another thread's reader leaves.
#[tokio::test]
async fn a_subscription_asked_for_while_another_reader_is_behind_has_its_time_left() {
    const ENTRIES: u64 = 100;
    let tight = Options {
        subscription_bytes: 256,
        request_timeout: Duration::from_millis(300),
        ..options()
    };
    let (_hub, client, mut line) = FakeHub::joined(tight).await;
    let mut slow = within(client.subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    line.subscribed("log", ENTRIES).await;
    for seq in 1..=ENTRIES {
        line.send(&event("th", seq)).await;
    }
    let mut other = within(client.subscribe("other".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    let (id, ..) = line.subscribe().await;
    line.send(&subscribed(id, "other", "log", 1)).await;
    // Pings as a clock: each takes as long as the subscription has.
    for _ in 0..2 {
        assert_eq!(within(client.ping()).await.unwrap_err().code(), "timeout");
    }
    assert_eq!(read_to(&mut slow, 0, ENTRIES).await.len() as u64, ENTRIES);
    let first = within(other.next_update()).await.unwrap();
    assert!(
        matches!(first, Some(Update::Subscribed { .. })),
        "{first:?}"
    );
    line.send(&event("other", 1)).await;
    assert_eq!(read_to(&mut other, 0, 1).await, [1]);
}

/// An update that waits for its reader when the connection breaks is neither lost nor sent for
/// again.
#[tokio::test]
async fn a_break_while_the_reader_is_behind_loses_nothing() {
    let tight = Options {
        subscription_bytes: 256,
        ..options()
    };
    let (hub, client, mut line) = FakeHub::joined(tight).await;
    let mut slow = within(client.subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    line.subscribed("log", 100).await;
    for seq in 1..=20 {
        line.send(&event("th", seq)).await;
    }
    line.cut();
    let play = async {
        let mut line = hub.accept().await;
        let (id, after) = asked(&mut line).await;
        line.send(&subscribed(id, "th", "resumed", 100)).await;
        for seq in after + 1..=100 {
            line.send(&event("th", seq)).await;
        }
        line
    };
    let (ends, _line) = tokio::join!(read_to(&mut slow, 0, 100), play);
    assert_eq!(ends, (1..=100).collect::<Vec<u64>>());
}

#[tokio::test]
async fn a_dropped_subscription_is_unsubscribed_and_may_be_made_again() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let thread = within(client.subscribe("th".parse().unwrap(), Start::Tail))
        .await
        .unwrap();
    line.subscribed("tail", 0).await;
    let second = within(client.clone().subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap_err();
    assert_eq!(second.code(), "already_subscribed");
    drop(thread);
    let frame = line.next().await;
    assert_eq!(
        frame.op,
        ClientOp::Unsubscribe {
            thread: "th".parse().unwrap()
        }
    );
    let mut again = within(client.subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    let (id, ..) = line.subscribe().await;
    // What is still under way for the first subscription is not taken for the second.
    line.send(&event("th", 8)).await;
    line.send(&subscribed(id, "th", "log", 1)).await;
    line.send(&event("th", 1)).await;
    assert_eq!(read_to(&mut again, 0, 1).await, [1]);
}

#[tokio::test]
async fn a_refused_subscription_ends_unless_trying_again_may_help() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Snapshot))
        .await
        .unwrap();
    let refuse = |id: i64, code: &str, retryable: bool| {
        format!(
            r#"{{"op":"error","id":{id},"code":"{code}","message":"no","retryable":{retryable}}}"#
        )
    };
    let (id, ..) = line.subscribe().await;
    line.send(&refuse(id, "overloaded", true)).await;
    let (id, ..) = line.subscribe().await;
    line.send(&refuse(id, "forbidden", false)).await;
    assert_eq!(
        within(thread.next_update()).await.unwrap_err().code(),
        "forbidden"
    );
    assert!(within(thread.next_update()).await.unwrap().is_none());
}

#[tokio::test]
async fn a_client_that_starts_before_its_hub_finds_it() {
    let hub = FakeHub::new().await;
    let client = Client::connect_in_background(&hub.url, options()).unwrap();
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    drop(hub.accept_tcp().await);
    let mut line = hub.accept().await;
    line.subscribed("log", 1).await;
    line.send(&event("th", 1)).await;
    assert_eq!(read_to(&mut thread, 0, 1).await, [1]);
}

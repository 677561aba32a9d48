//! What ends a subscription, what only seems to, and frames at the bounds of what is read.

use super::*;

fn unsubscribed(thread: &str, code: &str) -> String {
    format!(r#"{{"op":"unsubscribed","threadId":"{thread}","code":"{code}","message":"no log"}}"#)
}

#[tokio::test]
async fn a_subscription_that_the_hub_ends_for_now_goes_on_from_its_position() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    line.subscribed("log", 2).await;
    line.send(&event("th", 1)).await;
    for _ in 0..5 {
        line.send(&unsubscribed("th", "unavailable")).await;
        assert_eq!(
            line.subscribed("resumed", 2).await,
            SubscribeStart::LogAfter(at(1))
        );
    }
    line.send(&event("th", 2)).await;
    assert_eq!(read_to(&mut thread, 0, 2).await, [1, 2]);
    line.send(&unsubscribed("th", "forbidden")).await;
    let error = within(thread.next_update()).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("forbidden", false));
}

/// A gap while as many `subscribe`s are in flight as there may be: the thread waits for its turn,
/// and what is still under way for it is no further fault.
#[tokio::test]
async fn a_gap_among_many_open_questions_costs_no_connection() {
    const OTHERS: usize = 16;
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    line.subscribed("log", 9).await;
    let mut others = Vec::new();
    let mut ids = Vec::new();
    for n in 0..OTHERS {
        let other = client.subscribe(format!("th{n}").parse().unwrap(), Start::Log);
        others.push(within(other).await.unwrap());
        let (id, thread, _) = line.subscribe().await;
        ids.push((id, thread));
    }
    line.send(&event("th", 1)).await;
    for seq in 3..=9 {
        line.send(&event("th", seq)).await;
    }
    for (id, thread) in ids {
        line.send(&subscribed(id, &thread, "log", 0)).await;
    }
    assert_eq!(
        line.subscribed("resumed", 9).await,
        SubscribeStart::LogAfter(at(1))
    );
    for seq in 2..=9 {
        line.send(&event("th", seq)).await;
    }
    assert_eq!(
        read_to(&mut thread, 0, 9).await,
        (1..=9).collect::<Vec<u64>>()
    );
}

/// What is refused to a reader that is gone says nothing to the one that came since.
#[tokio::test]
async fn a_refusal_of_an_older_subscription_does_not_end_the_new_one() {
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let gone = within(client.subscribe("th".parse().unwrap(), Start::Tail))
        .await
        .unwrap();
    let (older, ..) = line.subscribe().await;
    drop(gone);
    line.next().await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    let (id, ..) = line.subscribe().await;
    line.send(&format!(
        r#"{{"op":"error","id":{older},"code":"forbidden","message":"no","retryable":false}}"#
    ))
    .await;
    line.send(&subscribed(id, "th", "log", 1)).await;
    line.send(&event("th", 1)).await;
    assert_eq!(read_to(&mut thread, 0, 1).await, [1]);
}

/// Goal: a frame that is too long to hold costs its own subscription, not the connection again and again.
#[tokio::test]
async fn a_frame_too_long_to_hold_ends_its_subscription_and_tells_the_hub() {
    let tight = Options {
        joined_bytes: 100,
        ..options()
    };
    let (_hub, client, mut line) = FakeHub::joined(tight).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Snapshot))
        .await
        .unwrap();
    line.subscribed("snapshot", 1).await;
    let mut other = within(client.subscribe("other".parse().unwrap(), Start::Log))
        .await
        .unwrap();
    let (id, ..) = line.subscribe().await;
    line.send(&subscribed(id, "other", "log", 1)).await;
    for n in 1..=3 {
        let text = "x".repeat(60);
        line.send(&format!(
            r#"{{"op":"part","threadId":"th","n":{n},"text":"{text}"}}"#
        ))
        .await;
    }
    line.send(&event("other", 1)).await;
    let frame = line.next().await;
    assert!(
        matches!(&frame.op, ClientOp::Unsubscribe { thread } if thread.as_str() == "th"),
        "{frame:?}"
    );
    assert_eq!(read_to(&mut other, 0, 1).await, [1]);
    let error = loop {
        match within(thread.next_update()).await {
            Ok(update) => assert!(matches!(update, Some(Update::Subscribed { .. }))),
            Err(error) => break error,
        }
    };
    assert_eq!((error.code(), error.is_retryable()), ("too_large", false));
}

/// The largest depth counts for what an agent sends: frames and snapshots stand around it.
#[tokio::test]
async fn the_deepest_event_and_the_deepest_state_are_read() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let (_hub, client, mut line) = FakeHub::joined(options()).await;
    let mut thread = within(client.subscribe("th".parse().unwrap(), Start::Snapshot))
        .await
        .unwrap();
    line.subscribed("snapshot", 1).await;
    let state = format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":{}}}"#, nested(64));
    line.send(&format!(
        r#"{{"op":"events","threadId":"th","from":1,"seq":1,"events":[{state}]}}"#
    ))
    .await;
    let deep = format!(r#"{{"type":"CUSTOM","name":"n","value":{}}}"#, nested(63));
    let frame = format!(r#"{{"op":"event","threadId":"th","seq":2,"at":1,"event":{deep}}}"#);
    // In parts, too.
    for (n, text) in pieces(&frame, 100).enumerate() {
        let last = (n + 1) * 100 >= frame.len();
        let text = serde_json::to_string(text).unwrap();
        let n = n + 1;
        line.send(&format!(
            r#"{{"op":"part","threadId":"th","n":{n},"last":{last},"text":{text}}}"#
        ))
        .await;
    }
    let mut read = Vec::new();
    while read.len() < 2 {
        match within(thread.next_update()).await.unwrap().unwrap() {
            Update::Baseline { events, .. } => read.extend(events),
            Update::Event { event, .. } => read.push(event),
            Update::Subscribed { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        read.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        [state, deep]
    );
}

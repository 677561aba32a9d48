//! The built-in agent through the hub.

use crate::support::http::{get, input, post, types};
use crate::support::server::{TestServer, config};

#[tokio::test]
async fn it_shows_everything_a_run_can_have() {
    let server = TestServer::start(config()).await;
    let agents = get(server.address, "/agents").await.json().await;
    assert_eq!(agents["agents"][0]["name"], "demo");
    let events = post(
        server.address,
        "/agents/demo/run",
        &input("t", "r", "Refund order 1042"),
    )
    .await
    .events()
    .await;
    let types = types(&events);
    for shown in [
        "STEP_STARTED",
        "REASONING_MESSAGE_CONTENT",
        "STATE_SNAPSHOT",
        "TEXT_MESSAGE_CONTENT",
        "ACTIVITY_SNAPSHOT",
        "ACTIVITY_DELTA",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_RESULT",
        "STATE_DELTA",
        "RUN_FINISHED",
    ] {
        assert!(types.contains(&shown), "{shown} in {types:?}");
    }
}

//! Scripts around the published AG-UI client.

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::recording::Recording;
use crate::{installed, within};

/// What a client holds: the three things that all viewers of a thread must agree on.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    pub messages: Value,
    pub state: Value,
    pub pending_interrupts: Value,
    /// Why the client gave up, if it did.
    pub error: Option<Value>,
}

/// Runs a script of `tests/node` with JSON in and out.
///
/// # Panics
/// The script fails or prints no JSON.
pub async fn script(name: &str, input: &Value) -> Value {
    let dir = installed("THREADCAST_TESTS_NODE");
    let mut child = Command::new("node")
        .arg(dir.join(name))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = input.to_string();
    let (_, output) = tokio::join!(
        async move {
            stdin.write_all(text.as_bytes()).await.unwrap();
            drop(stdin);
        },
        within(name, child.wait_with_output()),
    );
    let output = output.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{name} ended with {}: {printed}",
        output.status
    );
    serde_json::from_str(&printed)
        .unwrap_or_else(|error| panic!("{name} printed no JSON ({error}): {printed}"))
}

/// Drives an unmodified `HttpAgent` through `steps`; what it holds after each.
pub async fn http_agent(url: &str, thread: &str, steps: &[Value]) -> Vec<Held> {
    http_agent_of("@ag-ui/client", url, thread, steps).await
}

/// The same with the `HttpAgent` of another package.
pub async fn http_agent_of(client: &str, url: &str, thread: &str, steps: &[Value]) -> Vec<Held> {
    let input = json!({ "client": client, "url": url, "threadId": thread, "steps": steps });
    let mut output = script("run_agent.mjs", &input).await;
    serde_json::from_value(output["steps"].take()).unwrap()
}

/// Applies each viewer's events through the published client; what each amounts to.
pub async fn apply(thread: &str, viewers: &[Vec<Value>]) -> Vec<Held> {
    let input = json!({ "threadId": thread, "viewers": viewers });
    let mut output = script("apply_events.mjs", &input).await;
    serde_json::from_value(output["viewers"].take()).unwrap()
}

/// The steps that make an `HttpAgent` ask what the recorded client asked.
#[must_use]
pub fn steps_of(recording: &Recording) -> Vec<Value> {
    let steps = recording.exchanges.iter().map(|exchange| {
        let request = &exchange.request;
        let mut step = json!({ "runId": request["runId"], "append": request["messages"] });
        for name in ["resume", "tools", "context", "forwardedProps"] {
            if let Some(value) = request.get(name) {
                step[name] = value.clone();
            }
        }
        step
    });
    steps.collect()
}

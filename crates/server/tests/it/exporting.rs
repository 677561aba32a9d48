//! A thread's log as lines, and a thread made of them.

use http::Method;
use serde_json::{Value, json};

use crate::support::agent::{Act, ScriptedAgent, finished, run_saying, says, sse, started};
use crate::support::http::{Answer, get, input, post, send, types};
use crate::support::server::{TestServer, config, quick};

async fn export(server: &TestServer, rest: &str) -> Vec<String> {
    let answer = get(server.address, &format!("/threads/t/export{rest}")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "application/x-ndjson");
    let text = answer.text().await;
    text.lines().map(str::to_owned).collect()
}

async fn import(server: &TestServer, thread: &str, lines: &[String]) -> Answer {
    let path = format!("/threads/{thread}/import");
    send(server.address, Method::POST, &path, &[], lines.join("\n")).await
}

fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// A thread `t` with a run that told a state and a word, and one whose question is open.
async fn served() -> TestServer {
    let agent = ScriptedAgent::streaming(|request| {
        let mut events = vec![
            started(request),
            json!({ "type": "STATE_SNAPSHOT", "snapshot": { "n": 1 } }),
        ];
        events.extend(says(request["runId"].as_str().unwrap()));
        let mut end = finished(request);
        if request["runId"] == "asks" {
            let asked = json!([{ "id": "q", "reason": "confirmation" }]);
            end["outcome"] = json!({ "type": "interrupt", "interrupts": asked });
        }
        events.push(end);
        events
    })
    .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    for run in ["tells", "asks"] {
        let run = post(server.address, "/agents/a/run", &input("t", run, "hi")).await;
        run.blocks().await;
    }
    server
}

#[tokio::test]
async fn an_import_has_the_entries_of_its_export_under_its_own_name() {
    let server = served().await;
    let exported = export(&server, "?private=true").await;
    let other = TestServer::start(config()).await;
    let imported = import(&other, "u", &exported).await;
    assert_eq!(imported.status, 201);
    let imported = imported.json().await;
    assert_eq!(imported["threadId"], "u");
    assert_eq!(imported["seq"], exported.len() - 1);

    for what in ["/state", "/messages"] {
        let [was, is] = [
            get(server.address, &format!("/threads/t{what}"))
                .await
                .json()
                .await,
            get(other.address, &format!("/threads/u{what}"))
                .await
                .json()
                .await,
        ];
        let what = what.trim_start_matches('/');
        assert_eq!(is[what], was[what]);
    }
    let was = get(server.address, "/threads/t").await.json().await;
    let is = get(other.address, "/threads/u").await.json().await;
    assert_eq!(is["thread"]["runs"], was["thread"]["runs"]);
    assert_eq!(is["thread"]["interrupts"], was["thread"]["interrupts"]);
    assert_eq!(is["status"], "interrupted");

    let again = get(other.address, "/threads/u/export?private=true").await;
    let again = again.text().await;
    // What was submitted stays as it came, the name of its thread included.
    let renamed = |line: &str| parse(&line.replace("\"t\"", "\"u\""));
    let again: Vec<_> = again.lines().skip(1).map(renamed).collect();
    let was: Vec<_> = exported[1..].iter().map(|line| renamed(line)).collect();
    assert_eq!(again, was);
}

#[tokio::test]
async fn what_is_exported_without_private_parts_shows_none_and_is_not_imported() {
    let server = served().await;
    let exported = export(&server, "").await;
    assert_eq!(parse(&exported[0])["private"], false);
    assert!(
        exported
            .iter()
            .all(|line| parse(line).get("fingerprint").is_none())
    );
    assert!(
        exported[1..]
            .iter()
            .all(|line| parse(line)["private"].is_null())
    );
    let refused = import(&server, "u", &exported).await;
    assert_eq!(refused.refusal().await, (400, "bad_frame".into()));
    assert_eq!(get(server.address, "/threads/u").await.status, 404);
}

#[tokio::test]
async fn an_import_that_is_not_whole_leaves_no_thread() {
    let server = served().await;
    let exported = export(&server, "?private=true").await;
    let mut damaged = exported.clone();
    damaged[9] = damaged[9].replace("\"type\"", "\"typ\"");
    let mut doubled = exported.clone();
    doubled.insert(4, exported[4].clone());
    for (what, lines, line) in [
        ("cut", &exported[..9], "line 10"),
        ("without a head", &exported[1..], "line 1"),
        ("empty", &[][..], "line 1"),
        ("damaged", &damaged[..], "line 10"),
        ("doubled", &doubled[..], "line 6"),
    ] {
        let refused = import(&server, "u", lines).await;
        assert_eq!(refused.status, 400, "{what}");
        let message = refused.json().await["message"].clone();
        assert!(
            message.as_str().unwrap().contains(line),
            "{what}: {message}"
        );
        assert_eq!(
            get(server.address, "/threads/u").await.status,
            404,
            "{what}"
        );
    }
    assert_eq!(
        import(&server, "u", &exported).await.status,
        201,
        "its name is free"
    );
}

#[tokio::test]
async fn a_thread_is_not_imported_over_another() {
    let server = served().await;
    let exported = export(&server, "?private=true").await;
    let before = export(&server, "").await;
    let refused = import(&server, "t", &exported).await;
    assert_eq!(refused.status, 409);
    let refused = refused.json().await;
    assert_eq!(refused["code"], "thread_exists");
    assert_eq!(refused["details"]["seq"], exported.len() - 1);
    assert_eq!(export(&server, "").await, before);
}

#[tokio::test]
async fn a_run_that_was_active_ends_in_the_import_and_is_told_beside_a_plain_export() {
    let agent =
        ScriptedAgent::start(|request| vec![Act::Send(sse(&[started(&request.body)])), Act::Hang])
            .await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let mut run = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    run.event("RUN_STARTED").await;

    let exported = export(&server, "?private=true").await;
    assert_eq!(import(&server, "u", &exported).await.status, 201);
    let view = get(server.address, "/threads/u").await.json().await;
    assert_eq!(view["thread"]["runs"][0]["error"]["code"], "AGENT_LOST");
    let open = get(server.address, "/threads/t").await.json().await;
    assert_eq!(open["status"], "running", "the run itself goes on");

    let plain = get(server.address, "/threads/t/export?format=ag-ui").await;
    assert_eq!(plain.headers["threadcast-open-run"], "r");
    let events: Vec<Value> = plain.text().await.lines().map(parse).collect();
    assert_eq!(types(&events), ["RUN_STARTED"]);
}

#[tokio::test]
async fn a_plain_export_is_the_events_alone() {
    let agent = ScriptedAgent::streaming(|request| run_saying(request, "x")).await;
    let server = TestServer::with_agent(&agent.url, quick()).await;
    let run = post(server.address, "/agents/a/run", &input("t", "r", "hi")).await;
    let told = run.events().await;
    let exported: Vec<_> = export(&server, "?format=ag-ui")
        .await
        .iter()
        .map(|line| parse(line))
        .collect();
    assert_eq!(exported, told);
    for wrong in ["?format=xml", "?private=1"] {
        let refused = get(server.address, &format!("/threads/t/export{wrong}")).await;
        assert_eq!(refused.refusal().await, (400, "bad_frame".into()));
    }
}

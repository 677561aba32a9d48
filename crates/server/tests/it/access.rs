//! Who is let in without tokens.

use http::Method;
use serde_json::json;

use crate::support::http::{get, send};
use crate::support::server::{TestServer, config};
use crate::support::socket::connect;
use threadcast_server::config::Config;

#[tokio::test]
async fn strangers_are_refused_on_every_path() {
    let server = TestServer::start(config()).await;
    for path in [
        "/",
        "/healthz",
        "/ws",
        "/agents",
        "/threads/t",
        "/threads/t/events",
        "/nowhere",
    ] {
        for headers in [("host", "evil.example"), ("origin", "https://evil.example")] {
            let answer = send(server.address, Method::GET, path, &[headers], "").await;
            assert_eq!(
                answer.refusal().await,
                (403, "forbidden".into()),
                "{path} {headers:?}"
            );
        }
    }
    let posted = send(
        server.address,
        Method::POST,
        "/agents/demo/run",
        &[("origin", "null")],
        "{}",
    )
    .await;
    assert_eq!(posted.refusal().await, (403, "forbidden".into()));
}

#[tokio::test]
async fn pages_of_listed_hosts_may_read() {
    let listed = Config {
        allowed_hosts: vec!["app.example".into()],
        ..config()
    };
    let server = TestServer::start(listed).await;
    for origin in ["http://localhost:3000", "https://app.example"] {
        let answer = send(
            server.address,
            Method::GET,
            "/agents",
            &[("origin", origin)],
            "",
        )
        .await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.headers["access-control-allow-origin"], origin);
        let asked = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type"),
        ];
        let preflight = send(
            server.address,
            Method::OPTIONS,
            "/agents/demo/run",
            &asked,
            "",
        )
        .await;
        assert_eq!(preflight.status, 204);
        assert_eq!(
            preflight.headers["access-control-allow-headers"],
            "content-type"
        );
        assert_eq!(preflight.headers["access-control-allow-origin"], origin);
    }
    let without = get(server.address, "/agents").await;
    assert!(!without.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn a_full_node_says_when_to_come_back() {
    let server = TestServer::start(Config {
        sessions_max: 1,
        ..config()
    })
    .await;
    let seated = connect(server.address, "threadcast.v1").await.unwrap();
    let Err(tokio_tungstenite::tungstenite::Error::Http(refused)) =
        connect(server.address, "").await
    else {
        panic!("the second session is refused")
    };
    assert_eq!(refused.status(), 503);
    assert!(refused.headers().contains_key("retry-after"));
    drop(seated);
}

#[tokio::test]
async fn serving_strangers_on_loopback_does_not_open_it_to_pages_of_the_web() {
    let server = TestServer::start(Config {
        allow_anonymous: true,
        ..config()
    })
    .await;
    let rebound = [("host", "evil.example")];
    let answer = send(server.address, Method::GET, "/agents", &rebound, "").await;
    assert_eq!(answer.refusal().await, (403, "forbidden".into()));
}

#[tokio::test]
async fn a_session_keeps_its_place_among_the_connections() {
    let server = TestServer::start(Config {
        connections_max: 1,
        ..config()
    })
    .await;
    let (mut seated, _) = connect(server.address, "").await.unwrap();
    seated.frame("welcome").await;
    let waiting = tokio::spawn(get(server.address, "/healthz"));
    for round in 0..50 {
        seated.send(&json!({ "op": "ping", "id": round })).await;
        seated.frame("ok").await;
        assert!(!waiting.is_finished(), "answered in round {round}");
    }
    drop(seated);
    assert_eq!(waiting.await.unwrap().status, 200);
}

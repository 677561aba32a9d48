use super::*;
use threadcast_run_registry::ending::ErrorCode;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

/// A connection whose other end is given, too.
async fn connected() -> (HttpConnection, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let agent = HttpAgent::new(url.parse().unwrap(), &AgentPolicy::default());
    let connection = agent.connect().await.unwrap();
    (connection, listener.accept().await.unwrap().0)
}

fn request() -> AgentRequest {
    AgentRequest {
        body: "{}".into(),
        idempotency_key: "k".into(),
    }
}

#[tokio::test]
async fn a_connection_that_is_closed_before_the_request_reached_nobody() {
    let (connection, far_end) = connected().await;
    drop(far_end);
    while !connection.sender.is_closed() {
        tokio::task::yield_now().await;
    }
    let error = connection.send(&request()).await.unwrap_err();
    assert_eq!(error.ending().code(), ErrorCode::AgentUnreached);
}

#[tokio::test]
async fn a_connection_that_is_closed_after_the_request_is_in_doubt() {
    let (connection, mut far_end) = connected().await;
    let read_then_close = async {
        far_end.read_exact(&mut [0]).await.unwrap();
        drop(far_end);
    };
    let request = request();
    let (sent, ()) = tokio::join!(connection.send(&request), read_then_close);
    assert_eq!(sent.unwrap_err().ending().code(), ErrorCode::AgentTruncated);
}

#[tokio::test]
async fn a_connection_is_closed_with_its_last_owner() {
    let (connection, mut far_end) = connected().await;
    drop(connection);
    assert_eq!(far_end.read(&mut [0]).await.unwrap(), 0);
}

//! Plain HTTP requests, one connection each.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::within;

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub text: String,
}

impl Answer {
    /// # Panics
    /// The body is no JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {}", self.text))
    }

    /// The AG-UI events of an SSE body.
    ///
    /// # Panics
    /// A line is not as this hub writes SSE.
    #[must_use]
    pub fn sse_events(&self) -> Vec<Value> {
        let data = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }
}

pub async fn get(address: &str, path: &str) -> Answer {
    ask(address, Request::get(path), String::new()).await
}

pub async fn post(address: &str, path: &str, body: impl Into<String>) -> Answer {
    ask(
        address,
        Request::post(path).header(CONTENT_TYPE, "application/json"),
        body.into(),
    )
    .await
}

/// Sends one request with the headers given and reads the whole answer.
pub async fn ask(address: &str, request: hyper::http::request::Builder, body: String) -> Answer {
    let stream = within("a connection", TcpStream::connect(address))
        .await
        .unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    let connection = tokio::spawn(connection);
    let named = request
        .headers_ref()
        .is_some_and(|headers| headers.contains_key(HOST));
    let request = if named {
        request
    } else {
        request.header(HOST, address)
    };
    let request = request.body(Full::new(Bytes::from(body))).unwrap();
    let answer = within("an answer", sender.send_request(request))
        .await
        .unwrap();
    let status = answer.status().as_u16();
    let content_type = answer
        .headers()
        .get(CONTENT_TYPE)
        .map(|it| it.to_str().unwrap().to_owned());
    let body = within("the whole answer", answer.into_body().collect())
        .await
        .unwrap()
        .to_bytes();
    connection.abort();
    let text = String::from_utf8(body.to_vec()).unwrap();
    Answer {
        status,
        content_type: content_type.unwrap_or_default(),
        text,
    }
}

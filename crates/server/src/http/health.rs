//! `/healthz`, and the page at `/` that tells a person where to go.

use http::header::CONTENT_TYPE;

const PAGE: &str = include_str!("index.txt");

/// Whether the program runs and answers.
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// What is served here.
pub(crate) async fn index() -> ([(http::HeaderName, &'static str); 1], &'static str) {
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], PAGE)
}

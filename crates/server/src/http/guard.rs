//! Who is let in while there are no tokens: requests that name this machine or a listed host
//! (docs/protocol.md §13.1).
//!
//! A page of the web can send requests to loopback; its `Origin` tells it apart, and `Host` tells
//! apart a page whose name was made to resolve to loopback. Cross-origin answers (CORS) go to the
//! same list, preflights included.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HOST, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use url::{Host, Url};

use super::errors::HttpError;

/// Host names that are served besides loopback ones.
#[derive(Clone, Debug)]
pub(crate) struct AllowedHosts {
    listed: Arc<[String]>,
    /// Whether `Host` may be anything: asked for by name together with listening beyond loopback.
    any_host: bool,
}

/// Why a request is not served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Denied {
    #[error("the request names no single host in `Host`")]
    NoHost,
    #[error("host `{0}` is not served here; list it in `allowed_hosts`")]
    Host(String),
    #[error("origin `{0}` is not served here; list its host in `allowed_hosts`")]
    Origin(String),
}

impl AllowedHosts {
    pub(crate) fn new(listed: &[String], any_host: bool) -> Self {
        Self {
            listed: listed
                .iter()
                .map(|host| host.to_ascii_lowercase())
                .collect(),
            any_host,
        }
    }

    /// Whether a request with these headers is served.
    fn judge(&self, headers: &HeaderMap) -> Result<(), Denied> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Denied::NoHost);
        };
        let host = host.to_str().map_err(|_| Denied::NoHost)?;
        if !self.any_host && !self.allows(&format!("http://{host}/")) {
            return Err(Denied::Host(host.to_owned()));
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin
                .to_str()
                .map_err(|_| Denied::Origin("(not readable)".to_owned()))?;
            if !self.allows(origin) {
                return Err(Denied::Origin(origin.to_owned()));
            }
        }
        Ok(())
    }

    /// Whether `url` is of the web and its host loopback or listed. `null`, the origin of a sandboxed page, is
    /// no URL.
    fn allows(&self, url: &str) -> bool {
        let Ok(url) = Url::parse(url) else {
            return false;
        };
        let is_web = matches!(url.scheme(), "http" | "https");
        let is_bare =
            url.username().is_empty() && url.password().is_none() && url.path().len() <= 1;
        if !is_web || !is_bare {
            return false;
        }
        match url.host() {
            Some(Host::Domain(name)) => {
                name == "localhost" || self.listed.iter().any(|listed| listed == name)
            }
            Some(Host::Ipv4(ip)) => ip.is_loopback() || self.lists(&ip.to_string()),
            Some(Host::Ipv6(ip)) => ip.is_loopback() || self.lists(&ip.to_string()),
            None => false,
        }
    }

    fn lists(&self, ip: &str) -> bool {
        self.listed
            .iter()
            .any(|listed| listed.trim_matches(['[', ']']) == ip)
    }
}

/// Lets a request in or answers 403; answers preflights; tells browsers that the answer may be
/// read.
pub(crate) async fn guard(
    State(allowed): State<AllowedHosts>,
    request: Request,
    next: Next,
) -> Response {
    if let Err(denied) = allowed.judge(request.headers()) {
        tracing::debug!(error = %denied, "request denied");
        return HttpError::from(ErrorBody::new(ErrorCode::Forbidden, denied.to_string()))
            .into_response();
    }
    let origin = request.headers().get(ORIGIN).cloned();
    let is_preflight = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if is_preflight {
        preflight(request.headers())
    } else {
        next.run(request).await
    };
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("retry-after"),
        );
        headers.append(VARY, HeaderValue::from_static("origin"));
    }
    response
}

fn preflight(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, DELETE"),
    );
    if let Some(names) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(listed: &[&str], headers: &[(&str, &str)]) -> Result<(), Denied> {
        let listed: Vec<_> = listed.iter().map(|host| (*host).to_owned()).collect();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                http::HeaderName::try_from(*name).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        AllowedHosts::new(&listed, false).judge(&map)
    }

    #[test]
    fn hosts() {
        for host in [
            "localhost",
            "localhost:7878",
            "LOCALHOST:1",
            "127.0.0.1:7878",
            "127.9.9.9",
            "[::1]:7878",
            "hub.example:80",
        ] {
            assert_eq!(judge(&["Hub.example"], &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "0.0.0.0",
            "[::2]",
            "127.0.0.1@evil.example",
            "127.0.0.1/x",
            "",
            "a b",
            "notlocalhost",
        ] {
            assert!(
                judge(&["hub.example"], &[("host", host)]).is_err(),
                "{host}"
            );
        }
        assert_eq!(judge(&[], &[]), Err(Denied::NoHost));
        assert_eq!(
            judge(&[], &[("host", "localhost"), ("host", "localhost")]),
            Err(Denied::NoHost)
        );
    }

    #[test]
    fn origins() {
        let served = |origin| {
            judge(
                &["app.example", "10.1.2.3"],
                &[("host", "localhost:7878"), ("origin", origin)],
            )
        };
        for origin in [
            "http://localhost:3000",
            "https://127.0.0.1",
            "http://[::1]:5173",
            "https://app.example",
            "http://app.example:81",
            "http://10.1.2.3",
        ] {
            assert_eq!(served(origin), Ok(()), "{origin}");
        }
        for origin in [
            "https://evil.example",
            "null",
            "http://sub.app.example",
            "https://app.example.evil",
            "http://localhost.evil.example",
            "file://",
            "ftp://localhost",
            "chrome-extension://localhost",
            "ws://app.example",
            "localhost",
            "http://10.1.2.4",
        ] {
            assert_eq!(
                served(origin),
                Err(Denied::Origin(origin.to_owned())),
                "{origin}"
            );
        }
    }

    #[test]
    fn any_host_does_not_mean_any_origin() {
        let allowed = AllowedHosts::new(&[], true);
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("hub.lan:7878"));
        assert_eq!(allowed.judge(&headers), Ok(()));
        headers.insert(ORIGIN, HeaderValue::from_static("http://evil.example"));
        assert!(allowed.judge(&headers).is_err());
    }
}

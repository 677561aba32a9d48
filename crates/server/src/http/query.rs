//! Parameters of a request.

use http::Uri;

/// The first parameter of that name, decoded.
pub(super) fn parameter(uri: &Uri, name: &str) -> Option<String> {
    let parameters = url::form_urlencoded::parse(uri.query()?.as_bytes());
    parameters
        .into_iter()
        .find(|(found, _)| found == name)
        .map(|(_, value)| value.into_owned())
}

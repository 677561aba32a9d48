//! The hub a command talks to, and how its refusals are shown.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use threadcast_client::{Client, ClientName, Error, Options};
use url::Url;

use super::terminal::OutputError;

/// Which hub.
#[derive(Debug, Args)]
pub(crate) struct HubArgs {
    /// The hub's address: ws://HOST:PORT/ws, or http://HOST:PORT as the hub prints it
    #[arg(long, value_name = "URL", env = "THREADCAST_HUB", default_value = "ws://127.0.0.1:7878/ws",
        value_parser = hub_url)]
    hub: String,
}

impl HubArgs {
    /// The address of the socket.
    pub(super) fn url(&self) -> anyhow::Result<Url> {
        Ok(Url::parse(&self.hub)?)
    }

    /// Connects; fails at once when there is no hub.
    ///
    /// # Errors
    /// The hub cannot be reached or refuses.
    pub(crate) async fn connect(&self) -> anyhow::Result<Client> {
        let client = ClientName {
            name: "threadcast".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let options = Options {
            client,
            ..Options::default()
        };
        let connected = Client::connect(&self.hub, options).await;
        connected
            .map_err(refused)
            .with_context(|| format!("hub {}", self.hub))
    }
}

/// The socket's address for any of the forms a person may paste.
fn hub_url(text: &str) -> Result<String, String> {
    let socket = match text.split_once("://") {
        Some(("http", rest)) => format!("ws://{rest}"),
        Some(("https", rest)) => format!("wss://{rest}"),
        _ => text.to_owned(),
    };
    let mut url = Url::parse(&socket).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "ws" | "wss") {
        return Err("expected ws://HOST:PORT/ws or http://HOST:PORT".to_owned());
    }
    if url.path() == "/" {
        url.set_path("/ws");
    }
    Ok(url.into())
}

/// The hub's or the client's error as a command shows it: code, message, details.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives it by value")]
pub(crate) fn refused(error: Error) -> anyhow::Error {
    let mut text = format!("{}: {error}", error.code());
    let source = std::error::Error::source(&error).map(ToString::to_string);
    if let Some(source) = source {
        write!(text, ": {source}").expect("a string takes everything");
    }
    if let Some(details) = error.details() {
        write!(text, " {details}").expect("a string takes everything");
    }
    anyhow::anyhow!(text)
}

/// Ends a command whose reader went away as quietly as the reader.
pub(crate) fn quietly(result: anyhow::Result<ExitCode>) -> anyhow::Result<ExitCode> {
    match result {
        Err(error) if matches!(error.downcast_ref(), Some(OutputError::Closed)) => {
            Ok(ExitCode::SUCCESS)
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_hub_prints_can_be_pasted() {
        let url = |text| hub_url(text).map_err(|_| ());
        assert_eq!(
            url("http://127.0.0.1:9"),
            Ok("ws://127.0.0.1:9/ws".to_owned())
        );
        assert_eq!(
            url("ws://127.0.0.1:9"),
            Ok("ws://127.0.0.1:9/ws".to_owned())
        );
        assert_eq!(
            url("ws://hub/behind/ws?x=1"),
            Ok("ws://hub/behind/ws?x=1".to_owned())
        );
        assert_eq!(url("https://hub"), Ok("wss://hub/ws".to_owned()));
        assert_eq!(url("127.0.0.1:9"), Err(()));
        assert_eq!(url("ftp://hub"), Err(()));
    }
}

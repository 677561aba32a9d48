//! All settings, read once at start from the command line and one TOML file.
//!
//! Nothing deeper down reads files or the environment; each part is handed what it needs. Secrets
//! (an agent's headers) never show in `Debug`.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use url::Url;

mod check;
mod speed;
mod storage;
pub use speed::{DemoSpeed, DemoSpeedError};
pub use storage::{EngineKind, RetentionConfig};

/// What a hub is told at start. Times end in `_ms`, sizes in `_bytes`; keys that are not listed are
/// refused.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address and port to listen on. Default 127.0.0.1:7878; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Serve everybody who reaches the address, also beyond this machine, whatever `Host` they
    /// name. Default false: listening on another than a loopback address is refused. On a loopback
    /// address it changes nothing.
    pub allow_anonymous: bool,
    /// Host names (without port) that `Host` and `Origin` may carry besides loopback ones. Default
    /// none.
    pub allowed_hosts: Vec<String>,
    /// Most WebSocket sessions at once; more are told to come back later. Default 20,000; each
    /// costs a few KiB.
    pub sessions_max: usize,
    /// Most connections at once, sessions included; more wait to be accepted. Default 24,000; each
    /// costs a socket.
    pub connections_max: usize,
    /// Largest body of an HTTP request. Default 16 MiB; each request in flight may hold that much.
    pub body_bytes_max: usize,
    /// How long a stopping hub lets sessions and runs end: four fifths of it are for sessions.
    /// Default 5,000.
    #[serde(rename = "drain_ms", with = "millis")]
    pub drain: Duration,
    /// What keeps the logs: `disk` (the default) or `memory`.
    pub engine: EngineKind,
    /// The directory that the engine `disk` keeps them in; it is made if it is missing. Default
    /// `threadcast-data` in the folder that the program is started from.
    pub data: PathBuf,
    /// When logs lose their beginning. Default never.
    pub retention: RetentionConfig,
    /// Agents by name, the names being parts of paths.
    pub agents: BTreeMap<String, AgentConfig>,
    /// The built-in agent.
    pub demo: DemoConfig,
}

/// One agent that speaks AG-UI over HTTP.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// Where runs are posted; `http` only.
    pub url: Url,
    #[serde(flatten)]
    pub policy: AgentPolicy,
}

/// How an agent is called and its stream is treated.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentPolicy {
    /// Headers of each request, for example an authorization; not those that frame the request or
    /// address it. Default none.
    pub headers: BTreeMap<String, Secret>,
    /// Keep RAW events and `rawEvent` members in the log. Default false: they may be most of the
    /// bytes and hold prompts.
    pub keep_raw: bool,
    /// Take a stream that leaves something open before RUN_FINISHED for broken. Default false: the
    /// hub closes it, but for tool calls.
    pub strict: bool,
    /// What becomes of a run when the caller of `POST /agents/{agent}/run` goes away. Default
    /// `keep`.
    pub on_caller_gone: OnCallerGone,
    /// Longest wait for a connection. Default 5,000.
    #[serde(rename = "connect_ms", with = "millis")]
    pub connect: Duration,
    /// Longest wait for the head of the response. Default 120,000.
    #[serde(rename = "response_head_ms", with = "millis")]
    pub response_head: Duration,
    /// Longest silence within the stream; comments count as life. Default 600,000.
    #[serde(rename = "silence_ms", with = "millis")]
    pub silence: Duration,
    /// How long a cancelled run may still end by itself. Default 2,000.
    #[serde(rename = "cancel_grace_ms", with = "millis")]
    pub cancel_grace: Duration,
    /// How long a stream is read on after the run's end, for a late error. Default 3,000.
    #[serde(rename = "late_ms", with = "millis")]
    pub late: Duration,
    /// How long the log may be away before the call is given up. Default 60,000.
    #[serde(rename = "outage_ms", with = "millis")]
    pub outage: Duration,
}

/// What becomes of a run whose HTTP caller went away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnCallerGone {
    Cancel,
    #[default]
    Keep,
}

/// The built-in agent `demo`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DemoConfig {
    /// Offer it. Default true.
    pub enabled: bool,
    /// How fast it speaks: 1 as a person reads (the default), 2 twice as fast; 0 or `"instant"`
    /// without any pause.
    pub speed: DemoSpeed,
}

/// Text that no log and no error shows.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Why a configuration is not taken.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("the configuration `{}` cannot be read", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the configuration `{}` is not valid", path.display())]
    Parse {
        path: PathBuf,
        source: Box<toml::de::Error>,
    },
    #[error("agent `{agent}`: `{url}` is {scheme}, only http is supported")]
    Scheme {
        agent: String,
        url: String,
        scheme: String,
    },
    #[error("agent `{agent}`: the URL `{url}` names no host")]
    NoHost { agent: String, url: String },
    #[error("agent `{agent}`: `{header}` cannot be sent as a header")]
    Header { agent: String, header: String },
    #[error("agent `{agent}`: the hub itself sets `{header}`")]
    OwnHeader { agent: String, header: String },
    /// The URL is not shown: it holds a secret.
    #[error("agent `{agent}`: its URL holds a user or a password, use the header `authorization`")]
    UserInfo { agent: String },
    #[error("`allowed_hosts` takes hosts without port or scheme, not `{host}`")]
    AllowedHost { host: String },
    #[error("`{key}` is {found}, at most {max} are possible")]
    TooMany {
        key: &'static str,
        found: usize,
        max: usize,
    },
    #[error("agent name `{agent}` is not 1 to 64 letters, digits, `-`, `_` or `.`")]
    Name { agent: String },
    #[error("agent name `demo` is the built-in agent's; set `demo.enabled = false` to use it")]
    DemoName,
    #[error(
        "{listen} can be reached from other machines and everybody would be served: listen on a loopback address, or ask for it with --allow-anonymous"
    )]
    Exposed { listen: SocketAddr },
}

/// Port of a hub that was told none.
pub const DEFAULT_PORT: u16 = 7878;

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), DEFAULT_PORT),
            allow_anonymous: false,
            allowed_hosts: Vec::new(),
            sessions_max: 20_000,
            connections_max: 24_000,
            body_bytes_max: 16 << 20,
            drain: Duration::from_secs(5),
            engine: EngineKind::default(),
            data: PathBuf::from("threadcast-data"),
            retention: RetentionConfig::default(),
            agents: BTreeMap::new(),
            demo: DemoConfig::default(),
        }
    }
}

impl Default for AgentPolicy {
    fn default() -> Self {
        Self {
            headers: BTreeMap::new(),
            keep_raw: false,
            strict: false,
            on_caller_gone: OnCallerGone::default(),
            connect: Duration::from_secs(5),
            response_head: Duration::from_secs(120),
            silence: Duration::from_secs(600),
            cancel_grace: Duration::from_secs(2),
            late: Duration::from_secs(3),
            outage: Duration::from_secs(60),
        }
    }
}

impl Default for DemoConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            speed: DemoSpeed::default(),
        }
    }
}

impl Config {
    /// Reads a TOML file; what it does not name keeps its default.
    ///
    /// # Errors
    /// The file cannot be read, is no TOML, or holds unknown keys or wrong values.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.to_owned(),
            source,
        })?;
        toml::from_str(&text).map_err(|source| ConfigError::Parse {
            path: path.to_owned(),
            source: Box::new(source),
        })
    }
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests;

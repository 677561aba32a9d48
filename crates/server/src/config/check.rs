//! What no single field of a configuration shows.

use std::net::Ipv6Addr;

use tokio::sync::Semaphore;
use url::Host;

use super::{AgentConfig, Config, ConfigError};

impl Config {
    /// Checks what no single field shows.
    ///
    /// # Errors
    /// An agent's name, URL or header, a host or a bound cannot be used, or the address would serve
    /// strangers unasked.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (name, agent) in &self.agents {
            check_agent(name, agent)?;
        }
        if self.demo.enabled && self.agents.contains_key(crate::demo::NAME) {
            return Err(ConfigError::DemoName);
        }
        for host in &self.allowed_hosts {
            check_host(host)?;
        }
        let bounds = [
            ("sessions_max", self.sessions_max),
            ("connections_max", self.connections_max),
        ];
        for (key, found) in bounds {
            let max = Semaphore::MAX_PERMITS;
            if found > max {
                return Err(ConfigError::TooMany { key, found, max });
            }
        }
        if !self.listen.ip().is_loopback() && !self.allow_anonymous {
            return Err(ConfigError::Exposed {
                listen: self.listen,
            });
        }
        Ok(())
    }
}

fn check_host(host: &str) -> Result<(), ConfigError> {
    // IPv6 addresses are taken with brackets or without.
    if Host::parse(host).is_ok() || host.parse::<Ipv6Addr>().is_ok() {
        return Ok(());
    }
    Err(ConfigError::AllowedHost {
        host: host.to_owned(),
    })
}

/// Headers that say how the request is framed and where it goes, or that each run sets anew.
const OWN_HEADERS: [&str; 11] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "idempotency-key",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

fn check_agent(name: &str, agent: &AgentConfig) -> Result<(), ConfigError> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        return Err(ConfigError::Name {
            agent: name.to_owned(),
        });
    }
    let url = &agent.url;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConfigError::UserInfo {
            agent: name.to_owned(),
        });
    }
    if url.scheme() != "http" {
        return Err(ConfigError::Scheme {
            agent: name.to_owned(),
            url: url.to_string(),
            scheme: url.scheme().to_owned(),
        });
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(ConfigError::NoHost {
            agent: name.to_owned(),
            url: url.to_string(),
        });
    }
    for (header, value) in &agent.policy.headers {
        let is_header = http::HeaderName::try_from(header.as_str()).is_ok()
            && http::HeaderValue::try_from(value.reveal()).is_ok();
        if !is_header {
            return Err(ConfigError::Header {
                agent: name.to_owned(),
                header: header.clone(),
            });
        }
        if OWN_HEADERS.contains(&header.to_ascii_lowercase().as_str()) {
            return Err(ConfigError::OwnHeader {
                agent: name.to_owned(),
                header: header.clone(),
            });
        }
    }
    Ok(())
}

//! `threadcast serve`: starts the hub and tells what to paste into the next terminal.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use tokio::signal;
use url::Url;

use crate::config::{AgentConfig, AgentPolicy, Config, DEFAULT_PORT, DemoSpeed, EngineKind};
use crate::demo;
use crate::serve::Server;
use crate::store::LogPlace;

/// Start the hub.
///
/// Without options it listens on 127.0.0.1:7878, keeps its logs in ./threadcast-data and offers the
/// built-in agent `demo`. Who starts it again finds every thread as it was.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address and port to listen on; port 0 takes a free one [default: 127.0.0.1:7878]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// An agent that speaks AG-UI over HTTP; may be repeated
    #[arg(long = "agent", value_name = "NAME=URL", value_parser = parse_agent)]
    agents: Vec<(String, Url)>,
    /// The directory that the logs are kept in [default: ./threadcast-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// What keeps the logs; `memory` forgets them when the program ends [default: disk]
    #[arg(long, value_name = "ENGINE")]
    engine: Option<EngineKind>,
    /// A TOML file; what is given on the command line comes before it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Serve everybody who reaches the address, also from other machines
    #[arg(long)]
    allow_anonymous: bool,
    /// How fast the agent `demo` speaks: a factor, or `instant` [default: 1]
    #[arg(long, value_name = "SPEED")]
    demo_speed: Option<DemoSpeed>,
}

pub async fn run(args: ServeArgs) -> anyhow::Result<ExitCode> {
    let server = Server::bind(args.into_config()?).await?;
    let program = std::env::args()
        .next()
        .unwrap_or_else(|| "threadcast".to_owned());
    let place = server.log_place();
    let page = welcome(&program, server.address(), server.agent_names(), &place);
    if let Err(error) = io::stdout().write_all(page.as_bytes()) {
        // Nobody reads it; the hub serves all the same.
        tracing::debug!(%error, "standard output is closed");
    }
    server.run(shutdown_asked()).await?;
    Ok(ExitCode::SUCCESS)
}

impl ServeArgs {
    fn into_config(self) -> anyhow::Result<Config> {
        let mut config = match &self.config {
            Some(path) => Config::read(path)?,
            None => Config::default(),
        };
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        config.allow_anonymous |= self.allow_anonymous;
        if let Some(data) = self.data {
            config.data = data;
        }
        if let Some(engine) = self.engine {
            config.engine = engine;
        }
        if let Some(speed) = self.demo_speed {
            config.demo.speed = speed;
        }
        for (name, url) in self.agents {
            config.agents.insert(
                name,
                AgentConfig {
                    url,
                    policy: AgentPolicy::default(),
                },
            );
        }
        Ok(config)
    }
}

fn parse_agent(text: &str) -> anyhow::Result<(String, Url)> {
    let (name, url) = text.split_once('=').context("expected NAME=URL")?;
    let url = url.parse().with_context(|| format!("`{url}` is no URL"))?;
    Ok((name.to_owned(), url))
}

/// What a person reads at start: the address, and lines to paste into terminals of the same folder.
fn welcome(program: &str, address: SocketAddr, agents: &[String], place: &LogPlace) -> String {
    let mut page = format!("Threadcast listens on http://{address}\n{place}.\n");
    let Some(agent) = agents
        .iter()
        .find(|name| *name == demo::NAME)
        .or_else(|| agents.first())
    else {
        page.push_str(
            "It has no agents: start it with --agent NAME=URL, or enable the built-in one.\n",
        );
        return page;
    };
    let hub = if address == SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT)) {
        String::new()
    } else {
        format!(" --hub http://{address}")
    };
    let lines = [
        (
            "Watch a thread, in one terminal or two:",
            format!("watch refunds{hub}"),
        ),
        (
            "Run an agent on it, in another:",
            format!("run {agent} \"Please refund order 1042\" --thread refunds{hub}"),
        ),
        (
            "Answer what it asks, from any:",
            format!("approve refunds{hub}"),
        ),
    ];
    for (what, line) in lines {
        writeln!(page, "\n{what}\n  {program} {line}").expect("a string takes everything");
    }
    writeln!(page, "\nAgents: {}. Ctrl-C stops it.\n", agents.join(", "))
        .expect("a string takes everything");
    page
}

/// Resolves when the program is asked to stop: Ctrl-C, or SIGTERM.
async fn shutdown_asked() {
    let interrupt = async {
        if let Err(error) = signal::ctrl_c().await {
            tracing::warn!(%error, "Ctrl-C cannot be heard");
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        match signal::unix::signal(signal::unix::SignalKind::terminate()) {
            Ok(mut signals) => drop(signals.recv().await),
            Err(error) => {
                tracing::warn!(%error, "SIGTERM cannot be heard");
                std::future::pending::<()>().await;
            }
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_welcome_can_be_pasted() {
        let page = welcome(
            "target/debug/threadcast",
            "127.0.0.1:7878".parse().unwrap(),
            &["a".into(), "demo".into()],
            &LogPlace::Directory("/here/threadcast-data".into()),
        );
        assert!(page.contains("\n  target/debug/threadcast run demo \"Please refund order 1042\" --thread refunds\n"), "{page}");
        assert!(
            page.contains("Logs are kept in /here/threadcast-data.\n"),
            "{page}"
        );
        let address = "127.0.0.1:9".parse().unwrap();
        let elsewhere = welcome("threadcast", address, &["a".into()], &LogPlace::Memory);
        assert!(
            elsewhere.contains("  threadcast approve refunds --hub http://127.0.0.1:9\n"),
            "{elsewhere}"
        );
        let idle = welcome("threadcast", address, &[], &LogPlace::Memory);
        assert!(idle.contains("--agent NAME=URL"), "{idle}");
    }

    #[test]
    fn the_command_line_comes_before_the_file() {
        let args = ServeArgs {
            listen: Some("127.0.0.1:0".parse().unwrap()),
            agents: vec![parse_agent("a=http://x/y?z=1").unwrap()],
            data: Some("logs".into()),
            engine: Some(EngineKind::Memory),
            config: None,
            allow_anonymous: true,
            demo_speed: Some(DemoSpeed::INSTANT),
        };
        let config = args.into_config().unwrap();
        assert_eq!(config.listen.port(), 0);
        assert_eq!(config.agents["a"].url.as_str(), "http://x/y?z=1");
        assert!(config.allow_anonymous);
        assert_eq!(config.data, Path::new("logs"));
        assert_eq!(config.engine, EngineKind::Memory);
        assert!(parse_agent("http://x").is_err() && parse_agent("a=x").is_err());
    }
}

//! The agents of the configuration, and the start of their runs.

use std::collections::BTreeMap;
use std::time::Duration;

use threadcast_hub::hub::{Agents as HubAgents, Hub, Start};
use threadcast_run_registry::agent_name::AgentName;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};

use super::call::AgentSource;
use super::http_agent::HttpAgent;
use super::owner_loop;
use crate::config::{AgentPolicy, Config, OnCallerGone};
use crate::demo;

/// One agent that can be run.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) source: AgentSource,
    pub(crate) policy: AgentPolicy,
}

/// All agents by name. Runs are tasks of one tracker and end with one token.
#[derive(Debug)]
pub(crate) struct Agents {
    by_name: BTreeMap<AgentName, std::sync::Arc<Agent>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Agents {
    /// From a configuration that was checked.
    pub(crate) fn new(config: &Config, tasks: TaskTracker, stop: CancellationToken) -> Self {
        let named = |name: &str| AgentName::new(name).expect("the configuration was checked");
        let mut by_name = BTreeMap::new();
        for (name, agent) in &config.agents {
            let source =
                AgentSource::Http(Box::new(HttpAgent::new(agent.url.clone(), &agent.policy)));
            by_name.insert(
                named(name),
                Agent {
                    source,
                    policy: agent.policy.clone(),
                }
                .into(),
            );
        }
        if config.demo.enabled {
            let source = AgentSource::Demo(config.demo.speed);
            // It never ends a cancelled run by itself.
            let policy = AgentPolicy {
                cancel_grace: Duration::ZERO,
                ..AgentPolicy::default()
            };
            by_name.insert(named(demo::NAME), Agent { source, policy }.into());
        }
        Self {
            by_name,
            tasks,
            stop,
        }
    }

    /// In the order of their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &AgentName> {
        self.by_name.keys()
    }

    /// The name of a configured agent.
    pub(crate) fn find(&self, name: &str) -> Option<&AgentName> {
        let name = AgentName::new(name).ok()?;
        self.by_name.get_key_value(&name).map(|(name, _)| name)
    }

    pub(crate) fn on_caller_gone(&self, name: &AgentName) -> OnCallerGone {
        self.by_name
            .get(name)
            .map_or(OnCallerGone::Keep, |agent| agent.policy.on_caller_gone)
    }
}

impl HubAgents for Agents {
    fn knows(&self, agent: &AgentName) -> bool {
        self.by_name.contains_key(agent)
    }

    fn start(&self, hub: &Hub, start: Start) {
        let span = run_span(&start);
        let agent_name = start
            .live
            .with_fold(|fold| fold.registry().run(&start.run).map(|run| run.agent.clone()));
        let agent = agent_name.and_then(|name| self.by_name.get(&name).cloned());
        let stop = self.stop.child_token();
        let hub = hub.clone();
        match agent {
            Some(agent) => {
                self.tasks
                    .spawn(owner_loop::run(hub, agent, start, stop).instrument(span));
            }
            None => {
                span.in_scope(|| {
                    tracing::error!("a run was accepted for an agent that is not configured")
                });
                self.tasks
                    .spawn(owner_loop::refuse(hub, start, stop).instrument(span));
            }
        }
    }

    fn end_lost(&self, hub: &Hub, start: Start) {
        let span = run_span(&start);
        let ending = owner_loop::end_lost(hub.clone(), start, self.stop.child_token());
        self.tasks.spawn(ending.instrument(span));
    }
}

fn run_span(start: &Start) -> Span {
    tracing::info_span!("run", thread = %start.live.thread(), run = %start.run)
}

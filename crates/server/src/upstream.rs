//! Agents: how one is called, its stream read and its run brought into the log.

pub(crate) mod agents;
pub(crate) mod call;
pub(crate) mod http_agent;
pub(crate) mod outage;
pub(crate) mod owner_loop;
pub(crate) mod prepare;
pub(crate) mod source;
pub(crate) mod sse;

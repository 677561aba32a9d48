//! The product's tests: one binary, one topic a file.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails at the line that says why"
)]

mod answering;
mod bad_input;
mod compaction;
mod differential;
mod fixtures;
mod many;
mod mending;
mod newcomer;
mod older_peers;
mod real_agents;
mod resume;
mod slow;

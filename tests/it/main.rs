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
mod keeping;
mod many;
mod mending;
mod newcomer;
mod older_peers;
mod plain_exports;
mod real_agents;
mod restart;
mod resume;
mod slow;
mod torture;

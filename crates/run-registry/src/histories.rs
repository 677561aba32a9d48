//! Generated AG-UI histories of one thread, each from a seed.
//!
//! Events are proposed at random from small pools of ids, so that ids collide across kinds and
//! runs, and kept when the judge accepts them. So what comes out is whatever is legal: interleaved
//! and reopened items, results before and after their calls end and in later runs, restated lists
//! that drop what is open, failing patches, late errors.

mod breaking;
mod colliding;
mod continuing;
mod diverging;
mod expanded;
mod into_parts;
mod lists;
mod logs;
mod parts;
mod patches;
mod proposals;
mod random;
mod retyping;
mod streams;
mod undescribed;
mod writer;

pub use breaking::broken_stream;
pub use colliding::colliding;
pub use diverging::diverged;
pub use expanded::{history, type_names};
pub use into_parts::streams_into_parts;
pub use logs::log;
pub use random::Random;
pub use streams::stream;

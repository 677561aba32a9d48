//! A client of the Threadcast hub: one socket, any number of threads, reconnects and resumes by
//! itself.
//!
//! It knows the wire and nothing of the hub behind it. What a thread's events amount to is for its
//! reader to fold.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use threadcast_client::{Client, Options, Start, Update};
//!
//! let client = Client::connect("ws://127.0.0.1:7878/ws", Options::default()).await?;
//! let mut thread = client.subscribe("th_1".parse()?, Start::Snapshot).await?;
//! while let Some(update) = thread.next_update().await? {
//!     match update {
//!         Update::Baseline { events, .. } => println!("{} events stand for all before", events.len()),
//!         Update::Event { seq, event, .. } => println!("{seq} {event}"),
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Invariant: a subscription yields every entry of its thread exactly once, in order, across any
//! number of breaks; and a request is answered once, by the hub or by its deadline.

#![warn(missing_docs)]

mod backoff;
mod client;
mod connection;
mod error;
mod requests;
mod socket;
mod subscription;
mod update;

pub use backoff::Backoff;
pub use client::{Client, Options};
pub use error::Error;
pub use subscription::Subscription;
pub use update::{Start, Update};

pub use threadcast_agui as agui;
pub use threadcast_thread_log::entry::Millis;
pub use threadcast_thread_log::position::{Epoch, Position, Seq};
pub use threadcast_wire::answer::{CommandAnswer, RunAnswer, ThreadAnswer};
pub use threadcast_wire::client_frame::ClientName;
pub use threadcast_wire::hub_frame::Mode;
pub use threadcast_wire::view;

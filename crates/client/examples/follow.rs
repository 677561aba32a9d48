//! Prints a thread as it grows: `cargo run -p threadcast-client --example follow --
//! ws://127.0.0.1:7878/ws th_1`.

use threadcast_client::{Client, Options, Start, Update};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(hub), Some(thread)) = (args.next(), args.next()) else {
        return Err("usage: follow HUB THREAD".into());
    };
    let client = Client::connect(&hub, Options::default()).await?;
    let mut thread = client.subscribe(thread.parse()?, Start::Snapshot).await?;
    while let Some(update) = thread.next_update().await? {
        match update {
            Update::Baseline { seq, events, .. } => {
                println!("{} events stand for all up to {seq}", events.len())
            }
            Update::Event { seq, event, .. } => println!("{seq} {event}"),
            Update::Fact { seq, fact, .. } => println!("{seq} {fact}"),
            Update::Lost { error, retry_in } => eprintln!("{error}; trying again in {retry_in:?}"),
            _ => {}
        }
    }
    Ok(())
}

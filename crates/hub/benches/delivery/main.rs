//! What a delivery and an idle socket cost: `cargo bench -p threadcast-hub`.
//!
//! Real sockets on loopback, the hub on one worker thread, its viewers on another, which check every frame. CPU is that of
//! the hub's thread alone, from `/proc`; on loopback the kernel does the receiver's TCP work inside the sender's write,
//! so that work is in it. Beside it stands the physical limit: a thread that writes the same bytes to as many sockets.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on fails")]

mod flat_out;
mod idle;
mod limit;
mod paced;
mod proc;
mod server;
mod viewers;

/// Bytes of a frame as the flat-out runs send it.
const FRAME_BYTES: usize = 190;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "idle-server") {
        return idle::serve();
    }
    // Run as a test there is nothing to measure.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    for viewers in [100, 1000] {
        let limit = limit::measure(viewers, 64);
        let ours = flat_out::measure(viewers, 64);
        println!("flat out, {viewers} viewers, at most 64 entries in flight:");
        println!("  {ours}");
        println!(
            "  limit: {:.1} M deliveries per core-second at 64 frames a write",
            limit / 1e6
        );
    }
    for (viewers, rate) in [(100, 200), (10, 1000)] {
        println!(
            "paced, {viewers} viewers, {rate} entries/s: {}",
            paced::measure(viewers, rate)
        );
    }
    println!("idle: {}", idle::measure());
}

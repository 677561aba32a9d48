//! As many entries as go through, at most a window of them published and not yet delivered to all.

use std::fmt;
use std::time::{Duration, Instant};

use threadcast_agui::ids::ThreadId;
use tokio::sync::mpsc;

use crate::proc::threads_cpu;
use crate::server::{Server, THREAD_NAME, deltas, publish};
use crate::viewers;

const LENGTH: Duration = Duration::from_secs(4);
const WARM: u64 = 2_000;

/// What one run reached.
pub(crate) struct Reached {
    deliveries: u64,
    elapsed: Duration,
    cpu: Duration,
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deliveries = self.deliveries as f64;
        write!(
            f,
            "{:.2} M deliveries/s, {:.2} M deliveries per core-second of the hub (its thread was busy {:.0} %)",
            deliveries / self.elapsed.as_secs_f64() / 1e6,
            deliveries / self.cpu.as_secs_f64() / 1e6,
            self.cpu.as_secs_f64() / self.elapsed.as_secs_f64() * 100.0,
        )
    }
}

pub(crate) fn measure(viewers: usize, window: u64) -> Reached {
    let server = Server::start();
    let (order, mut orders) = mpsc::channel::<u64>(64);
    let hub = server.hub.clone();
    server.runtime.spawn(async move {
        let thread = ThreadId::new("bench").unwrap();
        // Held as an owner does.
        let _live = hub.live(&thread).await.unwrap();
        while let Some(count) = orders.recv().await {
            publish(&hub, deltas(&thread, usize::try_from(count).unwrap())).await;
        }
    });
    viewers::run(async {
        let received = viewers::connect(server.address, "bench", viewers).await;
        let mut published = 0;
        let mut start = Instant::now();
        let mut cpu = Duration::ZERO;
        let mut before = 0;
        while before == 0 || !viewers::is_over(start, LENGTH) {
            let allowed = received.slowest() + window - published;
            if allowed > 0 {
                order.send(allowed).await.unwrap();
                published += allowed;
            }
            received.all_have(published - window + 1).await;
            if before == 0 && published > WARM {
                before = received.slowest();
                start = Instant::now();
                cpu = threads_cpu(THREAD_NAME);
            }
        }
        let delivered = received.slowest() - before;
        Reached {
            deliveries: delivered * viewers as u64,
            elapsed: start.elapsed(),
            cpu: threads_cpu(THREAD_NAME) - cpu,
        }
    })
}

//! Entries one by one at a steady rate: what a delivery costs when nothing can be gathered.

use std::fmt;
use std::time::{Duration, Instant};

use threadcast_agui::ids::ThreadId;

use crate::proc::threads_cpu;
use crate::server::{Server, THREAD_NAME, deltas, publish};
use crate::viewers;

const LENGTH: Duration = Duration::from_secs(4);

/// CPU per delivery.
pub(crate) struct Cost {
    deliveries: u64,
    cpu: Duration,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.2} CPU seconds per million deliveries",
            self.cpu.as_secs_f64() / self.deliveries as f64 * 1e6
        )
    }
}

pub(crate) fn measure(viewers: usize, rate: u32) -> Cost {
    let server = Server::start();
    viewers::run(async {
        let received = viewers::connect(server.address, "bench", viewers).await;
        let hub = server.hub.clone();
        let cpu = threads_cpu(THREAD_NAME);
        let publishing = server.runtime.spawn(async move {
            let thread = ThreadId::new("bench").unwrap();
            let _live = hub.live(&thread).await.unwrap();
            let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
            let start = Instant::now();
            let mut published = 0;
            while start.elapsed() < LENGTH {
                ticks.tick().await;
                publish(&hub, deltas(&thread, 1)).await;
                published += 1;
            }
            published
        });
        let published = publishing.await.unwrap();
        received.all_have(published).await;
        Cost {
            deliveries: published * viewers as u64,
            cpu: threads_cpu(THREAD_NAME) - cpu,
        }
    })
}

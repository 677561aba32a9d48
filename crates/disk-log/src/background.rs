//! A thread that looks at something again and again, until its owner goes.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

pub(crate) struct Background {
    closing: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Looks first after `every`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(
        name: &str,
        every: Duration,
        mut look: impl FnMut() + Send + 'static,
    ) -> std::io::Result<Self> {
        let closing = Arc::new((Mutex::new(false), Condvar::new()));
        let told = Arc::clone(&closing);
        let run = move || {
            let (is_closing, changed) = &*told;
            loop {
                let mut is_closing = is_closing.lock();
                if !*is_closing {
                    changed.wait_for(&mut is_closing, every);
                }
                if *is_closing {
                    return;
                }
                drop(is_closing);
                look();
            }
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(run)?;
        Ok(Self {
            closing,
            thread: Some(thread),
        })
    }
}

impl Drop for Background {
    /// Waits for the look that is under way.
    fn drop(&mut self) {
        *self.closing.0.lock() = true;
        self.closing.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic was told by the thread itself.
            drop(thread.join());
        }
    }
}

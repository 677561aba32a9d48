//! A thread that looks at something again and again, until its owner goes.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

pub(crate) struct Background {
    closing: Closing,
    thread: Option<JoinHandle<()>>,
}

/// Whether the owner goes; for a look that takes long.
#[derive(Clone, Default)]
pub(crate) struct Closing(Arc<(Mutex<bool>, Condvar)>);

impl Closing {
    /// Waits, unless the owner goes; tells whether it does.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let (is_closing, changed) = &*self.0;
        let mut is_closing = is_closing.lock();
        if !*is_closing {
            changed.wait_for(&mut is_closing, time);
        }
        *is_closing
    }

    pub(crate) fn close(&self) {
        *self.0.0.lock() = true;
        self.0.1.notify_all();
    }
}

impl Background {
    /// Looks first after `every`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(
        name: &str,
        every: Duration,
        mut look: impl FnMut(&Closing) + Send + 'static,
    ) -> std::io::Result<Self> {
        let closing = Closing::default();
        let told = closing.clone();
        let run = move || {
            while !told.wait(every) {
                look(&told);
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
        self.closing.close();
        if let Some(thread) = self.thread.take() {
            // A panic was told by the thread itself.
            drop(thread.join());
        }
    }
}

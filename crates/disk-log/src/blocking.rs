//! Work that may wait for the disk, away from the threads of the runtime.

use threadcast_thread_log::error::EngineError;

use crate::error::DiskError;

/// Does it on the runtime's pool for such work; it goes on when nobody waits for it any more.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
) -> Result<T, EngineError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(DiskError::Shutdown.into()),
        },
    }
}

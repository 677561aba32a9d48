//! A subscription as its reader holds it: a bounded stream of updates that outlives connections.
//!
//! Bounded by bytes: when what was received and not yet taken passes
//! [`Options::subscription_bytes`], the client stops reading its socket until the reader catches
//! up. The hub then holds a cursor for this client and nothing else, so a slow reader loses
//! nothing; but every other subscription and answer of the same client waits with it.
//!
//! [`Options::subscription_bytes`]: crate::Options::subscription_bytes

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use threadcast_agui::ids::ThreadId;
use threadcast_thread_log::position::Position;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, TryAcquireError, mpsc};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::connection::Command;
use crate::error::{Disconnect, Error};
use crate::update::Update;

pub(crate) mod machine;

/// One thread, followed. Dropping it unsubscribes.
///
/// ```no_run
/// # async fn example(client: threadcast_client::Client) -> Result<(), threadcast_client::Error> {
/// use threadcast_client::{Start, Update};
///
/// let mut thread = client.subscribe("th_1".parse().expect("an id"), Start::Snapshot).await?;
/// while let Some(update) = thread.next_update().await? {
///     if let Update::Event { seq, event, .. } = update {
///         println!("{seq} {event}");
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Subscription {
    thread: ThreadId,
    queue: mpsc::Receiver<Delivery>,
    shared: Arc<Shared>,
    position: Option<Position>,
    frame: Option<Utf8Bytes>,
    has_ended: bool,
    /// Keeps the connection alive.
    _commands: mpsc::Sender<Command>,
    /// Tells the connection that this reader is gone; after `shared` was closed.
    dropped: Arc<Notify>,
}

/// What reader and connection both see.
#[derive(Debug)]
struct Shared {
    /// One permit a byte that may wait for the reader; closed when the reader is gone.
    room: Arc<Semaphore>,
    end: OnceLock<Error>,
}

/// An update on its way to the reader.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) update: Update,
    /// The text it was read from; none for what the client says itself.
    pub(crate) frame: Option<Utf8Bytes>,
    pub(crate) position: Option<Position>,
    room: Option<OwnedSemaphorePermit>,
}

impl Delivery {
    pub(crate) fn new(
        update: Update,
        frame: Option<Utf8Bytes>,
        position: Option<Position>,
    ) -> Self {
        Self {
            update,
            frame,
            position,
            room: None,
        }
    }
}

/// No update counts less, so that their number is bounded as well.
const DELIVERY_BYTES_MIN: usize = 64;

/// How many of the client's own updates (lost connections) may wait besides.
const OWN_UPDATES_MAX: usize = 8;

/// The connection's end of a subscription's queue.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    queue: mpsc::Sender<Delivery>,
    shared: Arc<Shared>,
    bytes_max: usize,
}

/// Joins a new subscription to its connection.
pub(crate) fn subscription(
    thread: ThreadId,
    bytes_max: usize,
    commands: mpsc::Sender<Command>,
    dropped: Arc<Notify>,
) -> (Feed, Subscription) {
    let bytes_max = bytes_max.clamp(
        DELIVERY_BYTES_MIN,
        Semaphore::MAX_PERMITS.min(u32::MAX as usize),
    );
    let (sender, queue) = mpsc::channel(bytes_max / DELIVERY_BYTES_MIN + OWN_UPDATES_MAX);
    let shared = Arc::new(Shared {
        room: Arc::new(Semaphore::new(bytes_max)),
        end: OnceLock::new(),
    });
    let feed = Feed {
        queue: sender,
        shared: shared.clone(),
        bytes_max,
    };
    let position = None;
    let subscription = Subscription {
        thread,
        queue,
        shared,
        position,
        frame: None,
        has_ended: false,
        _commands: commands,
        dropped,
    };
    (feed, subscription)
}

impl Feed {
    /// Delivers if the reader has room, else gives the delivery back; what nobody reads any more is
    /// dropped.
    pub(crate) fn try_deliver(&self, delivery: Delivery) -> Option<Delivery> {
        match self
            .shared
            .room
            .clone()
            .try_acquire_many_owned(self.bytes(&delivery))
        {
            Ok(room) => self.send(delivery, room),
            Err(TryAcquireError::NoPermits) => return Some(delivery),
            Err(TryAcquireError::Closed) => {}
        }
        None
    }

    /// Waits until the reader has room; what nobody reads any more is dropped.
    ///
    /// Cancel safe: the delivery is taken only when there is room.
    pub(crate) async fn deliver(&self, waiting: &mut Option<Delivery>) {
        let Some(delivery) = &waiting else { return };
        let room = self
            .shared
            .room
            .clone()
            .acquire_many_owned(self.bytes(delivery))
            .await;
        if let (Ok(room), Some(delivery)) = (room, waiting.take()) {
            self.send(delivery, room);
        }
    }

    fn bytes(&self, delivery: &Delivery) -> u32 {
        let frame_bytes = delivery.frame.as_ref().map_or(0, |frame| frame.len());
        let bytes = frame_bytes.clamp(DELIVERY_BYTES_MIN, self.bytes_max);
        u32::try_from(bytes).expect("the bound was made to fit")
    }

    fn send(&self, delivery: Delivery, room: OwnedSemaphorePermit) {
        let sent = self.queue.try_send(Delivery {
            room: Some(room),
            ..delivery
        });
        debug_assert!(
            !matches!(sent, Err(TrySendError::Full(_))),
            "places outnumber permits"
        );
    }

    /// Tells the reader about the connection, unless too much of that waits already.
    pub(crate) fn tell(&self, update: Update, position: Option<Position>) {
        let _behind_or_gone = self.queue.try_send(Delivery::new(update, None, position));
    }

    /// The last thing the reader gets; the queue ends when the feed is dropped.
    pub(crate) fn end(self, error: Error) {
        let _first_reason_stands = self.shared.end.set(error);
    }

    /// Whether both feed the same subscription.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub(crate) fn has_reader(&self) -> bool {
        !self.shared.room.is_closed()
    }
}

impl Subscription {
    /// The thread it follows.
    pub fn thread(&self) -> &ThreadId {
        &self.thread
    }

    /// The next update; `None` after the error that ended the subscription.
    ///
    /// # Errors
    /// Once, at the end: the hub ended or refused the subscription, or the connection is not tried
    /// again.
    ///
    /// # Cancel safety
    /// Cancel safe: an update is taken when the future is ready.
    pub async fn next_update(&mut self) -> Result<Option<Update>, Error> {
        self.next().await.transpose()
    }

    /// Where the thread stands after the last update taken: all that
    /// [`Start::After`](crate::Start::After) needs.
    ///
    /// `None` before the hub answered, and between a reset and its baseline.
    pub fn position(&self) -> Option<&Position> {
        self.position.as_ref()
    }

    /// The hub's frame behind the last update taken, as it was sent, parts joined; none for
    /// [`Update::Lost`].
    pub fn frame(&self) -> Option<&str> {
        self.frame.as_deref()
    }
}

impl Stream for Subscription {
    type Item = Result<Update, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        self.queue.poll_recv(cx).map(|delivery| {
            if let Some(Delivery {
                update,
                frame,
                position,
                room: _freed_by_taking,
            }) = delivery
            {
                self.position = position;
                self.frame = frame;
                return Some(Ok(update));
            }
            self.has_ended = true;
            let unexplained = || Error::from(Disconnect::End);
            Some(Err(self
                .shared
                .end
                .get()
                .cloned()
                .unwrap_or_else(unexplained)))
        })
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared.room.close();
        self.dropped.notify_one();
    }
}

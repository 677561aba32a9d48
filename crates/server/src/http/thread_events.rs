//! A thread's events over plain HTTP, from a position or from a baseline on (docs/protocol.md
//! §13.5).

use axum::extract::State;
use axum::response::Response;
use futures::stream;
use http::{HeaderMap, Uri};
use serde_json::json;
use threadcast_hub::live_thread::LiveThread;
use threadcast_run_registry::snapshot::leaves_state_out;
use threadcast_thread_log::error::EngineError;
use threadcast_thread_log::position::{Epoch, Position, PositionVerdict, Seq};
use threadcast_wire::error_body::ErrorBody;
use threadcast_wire::error_code::ErrorCode;
use threadcast_wire::limits::PLAIN_EVENT_CHARACTERS_MAX;

use super::errors::HttpError;
use super::event_stream::{self, BrokenOff, write_made_up, write_position};
use super::path::Path;
use super::projection::{Projection, ReaderState};
use super::reader::Reader;
use super::router::App;
use super::threads::thread_id;

/// `GET /threads/{id}/events`: what comes, after the caller's position or after a baseline.
///
/// A baseline is made up: its events have no id. The id that follows it alone is the position it
/// brings the reader to, so that a reader who was cut off within it begins anew.
pub(crate) async fn events(
    State(app): State<App>,
    Path(thread): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, HttpError> {
    let live = app.hub.live(&thread_id(thread)?).await?;
    let mut reader = Reader::of_thread(&uri);
    let after = position_of(&headers, &uri);
    let (projection, block) = match go_on_after(&live, &mut reader, after).await? {
        Some(after) => {
            let projection = Projection::new(live, &after, reader, ReaderState::Follows);
            (projection.of_returning(&after).await?, Vec::new())
        }
        None => {
            let (after, reader_state, block) = baseline(&live, &mut reader)?;
            let projection = Projection::new(live, &after, reader, reader_state);
            (projection, block)
        }
    };
    let stream = ThreadStream {
        projection,
        block,
        has_ended: false,
        broken_off: None,
    };
    Ok(event_stream::respond(
        stream::unfold(stream, ThreadStream::next),
        app.stop,
    ))
}

/// The position behind which the reader is told the rest; none if it has to begin anew.
async fn go_on_after(
    live: &LiveThread,
    reader: &mut Reader,
    after: Option<Position>,
) -> Result<Option<Position>, EngineError> {
    let Some(after) = after else {
        return Ok(None);
    };
    let goes_on = live.verdict(&after).await? == PositionVerdict::Valid
        && reader.go_on_after(live, &after).await?;
    Ok(goes_on.then_some(after))
}

/// The events of a thread; without end, but for a reader who cannot take what comes next.
#[derive(Debug)]
struct ThreadStream {
    projection: Projection,
    /// What is written and not given yet.
    block: Vec<u8>,
    has_ended: bool,
    /// Told once the block is out.
    broken_off: Option<BrokenOff>,
}

impl ThreadStream {
    async fn next(mut self) -> Option<(Result<Vec<u8>, BrokenOff>, Self)> {
        while self.block.is_empty() {
            if let Some(error) = self.broken_off.take() {
                return Some((Err(error), self));
            }
            if self.has_ended {
                return None;
            }
            self.broken_off = self.write_next().await.err();
        }
        Some((Ok(std::mem::take(&mut self.block)), self))
    }

    async fn write_next(&mut self) -> Result<(), BrokenOff> {
        let entries = self.projection.next_entries().await?;
        for entry in &entries {
            if self
                .projection
                .write(entry, &mut self.block)
                .await?
                .is_break()
            {
                self.has_ended = true;
                return Ok(());
            }
        }
        self.projection
            .heal_when_idle(entries.last(), &mut self.block);
        Ok(())
    }
}

/// What brings an empty reader to the present head, and that head.
///
/// # Errors
/// An event of it is longer than plain clients read.
fn baseline(
    live: &LiveThread,
    reader: &mut Reader,
) -> Result<(Position, ReaderState, Vec<u8>), HttpError> {
    // Written out at leisure: nothing is folded while the fold is looked at.
    let (conversation, position) =
        live.with_fold(|fold| (fold.conversation().clone(), fold.position().clone()));
    let events = reader.tell_snapshot(&conversation);
    let mut block = Vec::new();
    for event in &events {
        if matches!(reader, Reader::Current) {
            must_be_readable(event.as_str())?;
        }
        write_made_up(&mut block, event.as_str());
    }
    if leaves_state_out(&conversation) {
        // The reader has not all there is at that position, so it is not to come back to it.
        return Ok((position, ReaderState::Stale, block));
    }
    if position.seq > Seq::ZERO {
        write_position(&mut block, &position);
    }
    Ok((position, ReaderState::Follows, block))
}

/// AG-UI's reference client gives up a stream with a longer event; older ones have no bound.
fn must_be_readable(json: &str) -> Result<(), HttpError> {
    let max = PLAIN_EVENT_CHARACTERS_MAX;
    // No text has more characters than bytes.
    if json.len() <= max {
        return Ok(());
    }
    let found = json.encode_utf16().count();
    if found <= max {
        return Ok(());
    }
    let message = format!(
        "a snapshot of the thread has an event of {found} characters, at most {max} are read by \
         plain clients: subscribe on the socket, or come back with a `Last-Event-ID`"
    );
    let body = ErrorBody::new(ErrorCode::TooLarge, message).with_details(json!({ "limit": max }));
    Err(body.into())
}

/// Where the reader stands, by the header a browser sends when it comes back, else by `after`.
fn position_of(headers: &HeaderMap, uri: &Uri) -> Option<Position> {
    if let Some(id) = headers.get("last-event-id") {
        return read_position(id.to_str().ok()?);
    }
    let query = url::form_urlencoded::parse(uri.query()?.as_bytes());
    query
        .into_iter()
        .find(|(name, _)| name == "after")
        .and_then(|(_, position)| read_position(&position))
}

fn read_position(id: &str) -> Option<Position> {
    let (epoch, seq) = id.rsplit_once(':')?;
    Some(Position {
        epoch: Epoch::new(epoch),
        seq: Seq::new(seq.parse().ok()?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(last_event_id: Option<&str>, uri: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        if let Some(id) = last_event_id {
            headers.insert("last-event-id", id.parse().unwrap());
        }
        position_of(&headers, &uri.parse().unwrap())
            .map(|Position { epoch, seq }| format!("{epoch}@{seq}"))
    }

    #[test]
    fn positions_come_from_the_header_or_the_query() {
        assert_eq!(
            found(Some("a.b:7"), "/x?after=c:1").as_deref(),
            Some("a.b@7")
        );
        assert_eq!(
            found(None, "/x?y=1&after=c%3Ad:1").as_deref(),
            Some("c:d@1")
        );
        assert_eq!(found(None, "/x"), None);
        for id in ["7", ":", "a:-1", "a:x", "a:9007199254740992"] {
            assert_eq!(found(Some(id), "/x"), None, "{id}");
        }
    }
}

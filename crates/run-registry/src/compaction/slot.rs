//! What becomes of one event of a piece.

use threadcast_agui::json::RawJson;

#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// It passes as it is.
    Kept,
    /// It is part of another one, or changed nothing.
    Gone,
    /// Another event stands for it and what was merged into it.
    Made(RawJson),
}

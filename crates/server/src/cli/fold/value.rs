//! A fold as JSON: what golden folds hold, and where it was taken.

use std::fmt::Write as _;

use threadcast_agui::json::RawJson;

use crate::cli::file::History;

/// One object: `at`, `messages`, `state`, `pendingInterrupts`, `pendingToolCalls`.
pub(super) fn of(history: &History) -> String {
    let conversation = history.conversation();
    // Text that agents cut inside a character has a JSON form and no value.
    let mut json = format!("{{\"at\":{},\"messages\":[", history.at());
    for (n, message) in conversation.messages().enumerate() {
        if n > 0 {
            json.push(',');
        }
        message.write(&mut json);
    }
    let interrupts = conversation.pending_interrupts().iter();
    let interrupts: Vec<_> = interrupts
        .map(|interrupt| interrupt.json.as_str())
        .collect();
    let calls = conversation.pending_tool_calls();
    let calls = calls
        .iter()
        .map(|call| serde_json::to_string(call.as_str()).expect("a string always has a JSON form"));
    let calls: Vec<_> = calls.collect();
    write!(
        json,
        "],\"state\":{},\"pendingInterrupts\":[{}],\"pendingToolCalls\":[{}]}}",
        RawJson::from_value(conversation.state()).as_str(),
        interrupts.join(","),
        calls.join(",")
    )
    .expect("a string takes everything");
    json
}

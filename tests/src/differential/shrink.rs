//! Makes a stream that two readers read differently as short as it gets.

use super::Until;
use super::oracle::{Answer, Oracle};

/// Leaves out events, one after the other, as long as the rest is still read differently; what is
/// left, and what the client says of it.
pub async fn shrink(oracle: &mut Oracle, events: Vec<String>) -> (Vec<String>, Answer) {
    let mut answer = oracle.compare(&events, Until::Parting).await;
    let mut events = events;
    loop {
        let before = events.len();
        let mut at = 0;
        while at < events.len() {
            let mut fewer = events.clone();
            fewer.remove(at);
            let told = oracle.compare(&fewer, Until::Parting).await;
            if told.is_different() {
                (events, answer) = (fewer, told);
            } else {
                at += 1;
            }
        }
        if events.len() == before {
            return (events, answer);
        }
    }
}

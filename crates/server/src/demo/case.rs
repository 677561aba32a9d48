//! The case a run is about: an order and its refund, made up from what the customer wrote.

use sha2::{Digest, Sha256};
use threadcast_agui::content::Content;
use threadcast_agui::message::MessageBody;
use threadcast_agui::run_input::RunInput;

/// An order of somebody who wants money back.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) order: u32,
    pub(crate) item: &'static str,
    /// In cents.
    pub(crate) price: u32,
    pub(crate) days_ago: u32,
    pub(crate) mood: Mood,
}

/// How the customer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Angry,
    Asking,
    Greeting,
    Plain,
}

const ITEMS: [&str; 6] = [
    "desk lamp",
    "pair of headphones",
    "travel mug",
    "mechanical keyboard",
    "rain jacket",
    "chess set",
];

impl Case {
    /// The case the latest user message of `input` is about.
    pub(crate) fn of(input: &RunInput) -> Self {
        let text = latest_user_text(input);
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let order = number_in(&text)
            .unwrap_or_else(|| 1000 + u32::from(digest[0]) * 35 + u32::from(digest[1]) % 35);
        // Of the order alone, so that the same order is the same thing in every conversation.
        let digest: [u8; 32] = Sha256::digest(order.to_le_bytes()).into();
        Self {
            order,
            item: ITEMS[usize::from(digest[0]) % ITEMS.len()],
            price: 1990 + u32::from(digest[1]) * 50,
            days_ago: 3 + u32::from(digest[2]) % 20,
            mood: Mood::of(&text),
        }
    }
}

impl Mood {
    fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        let holds = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if text.contains('!') || holds(&["angry", "broken", "terrible", "worst"]) {
            Self::Angry
        } else if text.contains('?') || holds(&["can you", "could you", "please"]) {
            Self::Asking
        } else if holds(&["hello", "hi ", "hey"]) || text == "hi" {
            Self::Greeting
        } else {
            Self::Plain
        }
    }
}

/// Money as text: `4990` is "49.90 EUR".
pub(crate) fn euros(cents: u32) -> String {
    format!("{}.{:02} EUR", cents / 100, cents % 100)
}

/// The beginning of every id of a run; short, and the same whenever the run is.
pub(crate) fn id_prefix(input: &RunInput) -> String {
    let digest: [u8; 32] = Sha256::digest(input.run.as_str().as_bytes()).into();
    digest[..5]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn latest_user_text(input: &RunInput) -> String {
    let users = input
        .messages
        .iter()
        .rev()
        .filter_map(|message| match &message.body {
            MessageBody::User { content, .. } => Some(content),
            _ => None,
        });
    users.map(text_of).next().unwrap_or_default()
}

fn text_of(content: &Content) -> String {
    content.text().decode_lossy()
}

/// The first number of three to six digits.
fn number_in(text: &str) -> Option<u32> {
    let runs = text.split(|char: char| !char.is_ascii_digit());
    runs.filter(|run| (3..=6).contains(&run.len()))
        .find_map(|run| run.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_moods_are_heard() {
        assert_eq!(number_in("refund order 1042, please"), Some(1042));
        assert_eq!(number_in("give me 5 of 12345678"), None);
        assert_eq!(Mood::of("Where is my money?"), Mood::Asking);
        assert_eq!(Mood::of("It is broken"), Mood::Angry);
        assert_eq!(Mood::of("hi"), Mood::Greeting);
        assert_eq!(Mood::of("refund 1042"), Mood::Plain);
        assert_eq!(euros(1905), "19.05 EUR");
    }
}

//! Lines with a label in front, one of which may still grow; text made safe for a terminal.
//!
//! Invariant: at most one line is open, and everything else begins on a line of its own.

use std::borrow::Cow;

/// How a piece of text looks where colours are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Ask,
    Bad,
    Dim,
    Label,
    Note,
    Plain,
}

impl Style {
    /// The escape sequence that begins it; none for plain text.
    pub(crate) fn ansi(self) -> Option<&'static str> {
        match self {
            Self::Ask => Some("\x1b[1;33m"),
            Self::Bad => Some("\x1b[31m"),
            Self::Dim => Some("\x1b[2m"),
            Self::Label => Some("\x1b[36m"),
            Self::Note => Some("\x1b[1m"),
            Self::Plain => None,
        }
    }
}

/// A piece of text in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) style: Style,
    pub(crate) text: String,
}

/// Longest JSON that is shown, in characters.
const SHORTENED_CHARS: usize = 300;

/// What is written and not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Paper {
    segments: Vec<Segment>,
    open: Option<Open>,
}

/// The line that grows.
#[derive(Debug)]
struct Open {
    key: String,
    style: Style,
    /// Line breaks at the end of what came: they are written when more comes, so that none
    /// dangles.
    held_breaks: usize,
}

impl Paper {
    /// Labels are this wide, and what continues a line stands below its text.
    pub(crate) const LABEL_WIDTH: usize = 10;

    pub(crate) fn take(&mut self) -> Vec<Segment> {
        std::mem::take(&mut self.segments)
    }

    /// A line about the thread itself.
    pub(crate) fn note(&mut self, text: &str) {
        self.end_line();
        self.put(Style::Note, &format!("── {}\n", clean_line(text)));
    }

    /// A whole line without a label.
    pub(crate) fn whole(&mut self, style: Style, text: &str) {
        self.end_line();
        self.put(style, &format!("{}\n", clean_line(text)));
    }

    /// A whole line behind a label; further lines of the text stand below it.
    pub(crate) fn line(&mut self, label: &str, style: Style, text: &str) {
        self.end_line();
        self.label(label, style);
        self.body(style, text.trim_end_matches('\n'));
        self.put(Style::Plain, "\n");
    }

    /// Adds to the line `key`, beginning it with its label if another line was written meanwhile.
    pub(crate) fn grow(&mut self, key: &str, label: &str, style: Style, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut held_breaks = match self.open.take() {
            Some(open) if open.key == key => open.held_breaks,
            open => {
                self.open = open;
                self.end_line();
                self.label(label, style);
                0
            }
        };
        let body = text.trim_end_matches('\n');
        if !body.is_empty() {
            self.body(style, &"\n".repeat(held_breaks));
            self.body(style, body);
            held_breaks = 0;
        }
        held_breaks += text.len() - body.len();
        self.open = Some(Open {
            key: key.to_owned(),
            style,
            held_breaks,
        });
    }

    /// Ends the line `key`, if it is the one that grows.
    pub(crate) fn end(&mut self, key: &str) {
        if self.open.as_ref().is_some_and(|open| open.key == key) {
            self.end_line();
        }
    }

    pub(crate) fn end_line(&mut self) {
        if let Some(open) = self.open.take() {
            self.put(open.style, "\n");
        }
    }

    fn label(&mut self, label: &str, style: Style) {
        let style = if matches!(style, Style::Ask | Style::Bad | Style::Dim) {
            style
        } else {
            Style::Label
        };
        self.put(
            style,
            &format!("{:1$}", clean_line(label), Self::LABEL_WIDTH),
        );
    }

    fn body(&mut self, style: Style, text: &str) {
        let below = format!("\n{:1$}", "", Self::LABEL_WIDTH);
        self.put(style, &clean(text).replace('\n', &below));
    }

    fn put(&mut self, style: Style, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.segments.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text),
            _ => self.segments.push(Segment {
                style,
                text: text.to_owned(),
            }),
        }
    }
}

/// Whether a terminal would act on the character: move its cursor, change its colours, or show
/// what follows in another order than it is read (the bidirectional overrides and isolates).
pub(crate) fn is_obeyed(c: char) -> bool {
    let turns_text = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns_text || c.is_control() && c != '\n' && c != '\t'
}

/// Text without anything a terminal would obey; what an agent writes must not move a cursor.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if text.contains(is_obeyed) {
        Cow::Owned(text.replace("\r\n", "\n").replace(is_obeyed, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The same on one line.
pub(crate) fn clean_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

/// The beginning of a long text, and how long it is.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHORTENED_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}… ({} bytes)", &text[..end], text.len())),
        None => Cow::Borrowed(text),
    }
}

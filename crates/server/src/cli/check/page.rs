//! A verdict as a person reads it: the place first, in the form that editors and terminals open.

use threadcast_agui::interrupt::Interrupt;
use threadcast_thread_log::run_status::RunStatus;

use super::verdict::{RunFound, Told, Verdict};
use super::warnings::Warning;
use crate::cli::render::{Paper, Segment, Style, clean_line, shortened};

/// The lines of the page; an offending event is cut to `width` columns.
pub(super) fn lines(verdict: &Verdict, width: usize) -> Vec<Segment> {
    let file = &verdict.file;
    let mut paper = Paper::default();
    match (&verdict.violation, &verdict.unfinished) {
        (Some(violation), _) => broken(&mut paper, file, violation, width),
        (None, Some(unfinished)) => {
            let text = format!("{file}: {} ({})", unfinished.message, unfinished.code);
            paper.whole(Style::Bad, &text);
        }
        (None, None) => {
            let text = format!("{file}: legal, {}", events(verdict.events));
            paper.whole(Style::Note, &text);
        }
    }
    if verdict.violation.is_some() {
        paper.line("before", Style::Plain, &events(verdict.events));
    }
    for run in &verdict.runs {
        run_line(&mut paper, run);
    }
    amounts(&mut paper, verdict);
    for warning in &verdict.warnings {
        paper.line("warning", Style::Ask, &warning_line(file, warning));
    }
    if verdict.more_warnings > 0 {
        let text = format!("and {} more of other kinds", verdict.more_warnings);
        paper.line("warning", Style::Ask, &text);
    }
    paper.take()
}

fn broken(paper: &mut Paper, file: &str, violation: &Told, width: usize) {
    let Told {
        line,
        place,
        rule,
        describes,
        message,
        is_mended,
        json,
    } = violation;
    let head = format!("{file}:{line}: {place} breaks rule `{rule}`");
    paper.whole(Style::Bad, &head);
    paper.line("what", Style::Plain, &shortened(message));
    paper.line("rule", Style::Plain, describes);
    if *is_mended {
        let text = "a hub closes it itself, unless the agent is configured as `strict`";
        paper.line("", Style::Plain, text);
    }
    paper.line("event", Style::Dim, &cut(json, width));
}

/// The beginning of a text, on one line of `width` columns with a label in front.
fn cut(text: &str, width: usize) -> String {
    let text = clean_line(text.trim());
    let room = width.saturating_sub(Paper::LABEL_WIDTH).max(20);
    match text.char_indices().nth(room) {
        Some(_) => {
            let (end, _) = text
                .char_indices()
                .nth(room - 1)
                .expect("there is one behind it");
            format!("{}…", &text[..end])
        }
        None => text,
    }
}

fn events(count: u64) -> String {
    match count {
        1 => "1 event".to_owned(),
        count => format!("{count} events"),
    }
}

fn run_line(paper: &mut Paper, run: &RunFound) {
    let name = run.run_id.as_deref().unwrap_or("without a start");
    let place = match run.to {
        Some(to) => format!("{} to {to}", run.from),
        None => format!("from {}", run.from),
    };
    let how = match (run.status, &run.error) {
        (RunStatus::Running, _) => "does not end".to_owned(),
        (RunStatus::Interrupted, _) => "stopped to ask".to_owned(),
        (RunStatus::Cancelled, _) => "was cancelled".to_owned(),
        (_, Some(error)) => {
            let code = error.code.as_ref().map(|code| format!(" ({code})"));
            format!("failed: {}{}", error.message, code.unwrap_or_default())
        }
        (status, None) => format!("is a {status}"),
    };
    let line = format!("{name} {how}, {place}");
    paper.line("run", Style::Plain, &line);
}

/// What the stream leaves behind.
fn amounts(paper: &mut Paper, verdict: &Verdict) {
    let counts = verdict.messages.iter();
    let counts: Vec<_> = counts
        .map(|count| format!("{} {}", count.count, count.role))
        .collect();
    if !counts.is_empty() {
        paper.line("messages", Style::Plain, &counts.join(", "));
    }
    for call in &verdict.pending_tool_calls {
        let name = call.name.as_ref().map(|name| format!(" ({name})"));
        let text = format!(
            "{}{} waits for a result",
            call.tool_call_id,
            name.unwrap_or_default()
        );
        paper.line("pending", Style::Plain, &text);
    }
    for interrupt in &verdict.pending_interrupts {
        let text = Interrupt::read(interrupt.0.as_str()).map(|interrupt| {
            let message = interrupt
                .message
                .as_deref()
                .unwrap_or("waits for an answer");
            format!("{} ({}): {message}", interrupt.id, interrupt.reason)
        });
        let text = text.unwrap_or_else(|error| error.to_string());
        paper.line("asks", Style::Ask, &text);
    }
}

fn warning_line(file: &str, warning: &Warning) -> String {
    let place = warning.place.as_ref().map(|place| format!("{place}: "));
    let times = match warning.count {
        1 => String::new(),
        count => format!(" ({count} times)"),
    };
    format!(
        "{file}:{}: {}{}{times}",
        warning.line,
        place.unwrap_or_default(),
        warning.message
    )
}

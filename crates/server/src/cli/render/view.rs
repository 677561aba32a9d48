//! The hub's own view of a thread on paper: status, runs, open questions.

use threadcast_agui::interrupt::Interrupt;
use threadcast_agui::json::RawJson;
use threadcast_client::ThreadAnswer;
use threadcast_client::view::{InterruptView, RunView, ThreadView};

use super::{Paper, Segment, Style};

/// What `threadcast status` prints.
pub(crate) fn thread_lines(answer: &ThreadAnswer) -> Vec<Segment> {
    let mut paper = Paper::default();
    let view = &answer.thread;
    paper.note(&format!(
        "thread {} at {}: {}",
        answer.id,
        answer.seq,
        status_line(view)
    ));
    for run in &view.runs {
        let style = if run.error.is_some() {
            Style::Bad
        } else {
            Style::Plain
        };
        paper.line("run", style, &run_line(run));
    }
    for interrupt in &view.interrupts {
        ask(
            &mut paper,
            answer.id.as_str(),
            &interrupt.interrupt,
            interrupt.expired,
        );
    }
    paper.take()
}

/// One question as `threadcast approve` shows it before it asks, with the tool call it is about.
pub(crate) fn interrupt_lines(interrupt: &InterruptView, call: Option<&str>) -> Vec<Segment> {
    let mut paper = Paper::default();
    if let Some(call) = call {
        paper.line("call", Style::Plain, call);
    }
    question(&mut paper, &interrupt.interrupt, interrupt.expired);
    paper.take()
}

pub(super) fn status_line(view: &ThreadView) -> String {
    match (&view.active_run, view.interrupts.len()) {
        (Some(run), _) => format!("run {run} is {}", view.status),
        (None, 0) => format!("{}", view.status),
        (None, 1) => format!("{}, one question open", view.status),
        (None, open) => format!("{}, {open} questions open", view.status),
    }
}

fn run_line(run: &RunView) -> String {
    let by = run.by.name.as_ref().unwrap_or(&run.by.id);
    let mut line = format!(
        "{} {} ({}, by {by}) from {}",
        run.run, run.status, run.agent, run.seq
    );
    if let Some(end) = run.end_seq {
        line.push_str(&format!(" to {end}"));
    }
    if let Some(error) = &run.error {
        let code = error
            .code
            .as_deref()
            .map(|code| format!(" ({code})"))
            .unwrap_or_default();
        line.push_str(&format!("\n{}{code}", error.message));
    }
    if run.in_doubt {
        line.push_str("\nwhether its agent acted is in doubt");
    }
    line
}

/// A question, and how to answer it.
pub(super) fn ask(paper: &mut Paper, thread: &str, interrupt: &RawJson, expired: bool) {
    question(paper, interrupt, expired);
    let flag = if expired { " --cancel" } else { "" };
    paper.line(
        "",
        Style::Ask,
        &format!("threadcast approve {thread}{flag}"),
    );
}

fn question(paper: &mut Paper, json: &RawJson, expired: bool) {
    let Ok(interrupt) = Interrupt::read(json.as_str()) else {
        return paper.line("ask", Style::Bad, "a question cannot be read");
    };
    let about = interrupt
        .call
        .as_ref()
        .map(|call| format!(", call {call}"))
        .unwrap_or_default();
    let message = interrupt
        .message
        .as_deref()
        .unwrap_or("The agent waits for an answer.");
    let until = match &interrupt.expires_at {
        Some(_) if expired => "\nexpired: it can only be cancelled".to_owned(),
        Some(at) => format!("\nuntil {at}"),
        None => String::new(),
    };
    let line = format!(
        "{message}\n{} ({}{about}){until}",
        interrupt.id, interrupt.reason
    );
    paper.line("ask", Style::Ask, &line);
}

//! `threadcast approve`: answers what an agent asks, all open questions of a thread at once.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::Value;
use threadcast_agui::ids::{InterruptId, RunId, ThreadId};
use threadcast_client::agui::json::RawJson;
use threadcast_client::view::InterruptView;
use threadcast_client::{Client, CommandAnswer, Error, Start, Update};

use super::form::{Field, Form};
use super::hub::{HubArgs, quietly, refused};
use super::render::interrupt_lines;
use super::terminal::{self, ColourArgs, Output};
use crate::random;

mod plan;

use plan::{Answer, Question, Wanted, plan};

/// Answer what an agent asks.
///
/// Shows the open questions of the thread and asks for an answer to each, as its schema says. One
/// answer to all of them starts the run that goes on. Exit codes: 0 when the answer was taken (also
/// when the same answer had been given before), 3 when someone answered otherwise first, 1 on any
/// other error.
#[derive(Debug, Args)]
pub struct ApproveArgs {
    /// The thread
    thread: ThreadId,
    #[command(flatten)]
    hub: HubArgs,
    /// The payload, for one question; for several, an object with a payload for each interrupt id
    #[arg(long, value_name = "PAYLOAD", conflicts_with_all = ["reject", "cancel"])]
    json: Option<String>,
    /// Say no: the answer is that it is not approved
    #[arg(long, conflicts_with = "cancel")]
    reject: bool,
    /// Give the question up: the agent is told that nobody answers
    #[arg(long)]
    cancel: bool,
    /// The interrupt that --json, --reject or --cancel is for; may be repeated [default: all]
    #[arg(long = "interrupt", value_name = "ID")]
    interrupts: Vec<InterruptId>,
    #[command(flatten)]
    colour: ColourArgs,
}

/// Someone answered otherwise first.
const TOO_LATE: u8 = 3;

pub async fn run(args: ApproveArgs) -> anyhow::Result<ExitCode> {
    quietly(approve(args).await)
}

async fn approve(args: ApproveArgs) -> anyhow::Result<ExitCode> {
    let client = args.hub.connect().await?;
    let output = Output::new(&args.colour);
    let (interrupts, events) = open_interrupts(&client, &args.thread).await?;
    let Some(of) = interrupts.first().map(|interrupt| interrupt.of.clone()) else {
        bail!("thread `{}` has no open question", args.thread);
    };
    let questions = interrupts
        .iter()
        .map(Question::of)
        .collect::<Result<Vec<_>, _>>()?;
    for (interrupt, question) in interrupts.iter().zip(&questions) {
        let call = question
            .call
            .as_ref()
            .and_then(|id| plan::call_text(&events, id));
        output.write(&interrupt_lines(interrupt, call.as_deref()))?;
    }
    let wanted = Wanted::of(args.json.as_deref(), args.reject, args.cancel)?;
    let mut answers = plan(&questions, &wanted, &args.interrupts)?;
    if answers.contains(&None) && !terminal::is_interactive() {
        bail!("standard input is no terminal to ask in; say --json, --reject or --cancel");
    }
    let run = RunId::new(format!("run-{}", random::hex(8))).context("a made id is one")?;
    loop {
        let mut entries = Vec::with_capacity(questions.len());
        for (question, answer) in questions.iter().zip(&mut answers) {
            let answer = match answer {
                Some(answer) => answer,
                None => answer.insert(asked(question)?),
            };
            entries.push(question.entry(answer)?);
        }
        let resumed = client
            .resume(args.thread.clone(), of.clone(), run.clone(), entries)
            .await;
        match resumed {
            Ok(answer) => return told(&answer, &output),
            Err(error) if error.code() == "already_resolved" => return Ok(too_late(&error)),
            Err(error) => reopen(error, &questions, &mut answers)?,
        }
    }
}

/// The open interrupts, and the events in which their tool calls stand.
///
/// A baseline may be older than the latest question, so the interrupts are asked for by themselves,
/// and the events are read up to the head.
async fn open_interrupts(
    client: &Client,
    thread: &ThreadId,
) -> anyhow::Result<(Vec<InterruptView>, Vec<RawJson>)> {
    let known = client
        .thread_status(thread.clone())
        .await
        .map_err(refused)?;
    let interrupts = known.thread.interrupts;
    let mut events = Vec::new();
    if interrupts.is_empty() {
        return Ok((interrupts, events));
    }
    let mut updates = client
        .subscribe(thread.clone(), Start::Snapshot)
        .await
        .map_err(refused)?;
    while let Some(update) = updates.next_update().await.map_err(refused)? {
        let held = update.range().map(|(_, seq)| seq);
        match update {
            Update::Baseline { events: all, .. } => events = all,
            Update::Compacted { events: more, .. } => events.extend(more),
            Update::Event { event, .. } => events.push(event),
            _ => {}
        }
        if held.is_some_and(|seq| seq >= known.seq) {
            break;
        }
    }
    Ok((interrupts, events))
}

/// Asks a person; blocks only the command itself, the connection lives on other threads.
fn asked(question: &Question) -> anyhow::Result<Answer> {
    if question.expired {
        terminal::tell(&format!("{} has expired and is cancelled.", question.id));
        return Ok(Answer::Cancelled);
    }
    let fields = question.form.fields();
    let answers = fields
        .iter()
        .map(asked_field)
        .collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Answer::Resolved(question.form.payload(answers)))
}

fn asked_field(field: &Field) -> anyhow::Result<Option<Value>> {
    loop {
        let Some(line) = terminal::ask(&field.question())? else {
            bail!("the input ended; nothing was sent")
        };
        match field.read(&line) {
            Ok(value) => return Ok(value),
            Err(error) => terminal::tell(&format!("  {error}")),
        }
    }
}

fn told(answer: &CommandAnswer, output: &Output) -> anyhow::Result<ExitCode> {
    let line = if answer.duplicate {
        format!(
            "the same answer was given before; run {} took it and is {}",
            answer.run, answer.status
        )
    } else {
        format!("answered; run {} goes on", answer.run)
    };
    output.line(&line)?;
    Ok(ExitCode::SUCCESS)
}

fn too_late(error: &Error) -> ExitCode {
    let detail = |name: &str| {
        error
            .details()
            .and_then(|details| details.get(name))
            .cloned()
            .unwrap_or_default()
    };
    let by = detail("by");
    let who = by
        .get("name")
        .or_else(|| by.get("id"))
        .and_then(Value::as_str)
        .unwrap_or("someone")
        .to_owned();
    let run = detail("runId")
        .as_str()
        .map(|run| format!("; run {run} took that answer"))
        .unwrap_or_default();
    terminal::tell(&format!(
        "threadcast: already_resolved: {who} answered otherwise first{run}"
    ));
    ExitCode::from(TOO_LATE)
}

/// Shows what is wrong with a payload and marks its question to be asked again; any other error
/// ends the command.
fn reopen(
    error: Error,
    questions: &[Question],
    answers: &mut [Option<Answer>],
) -> anyhow::Result<()> {
    let interrupt = error
        .details()
        .and_then(|details| details.get("interruptId"))
        .and_then(Value::as_str);
    let at = questions
        .iter()
        .position(|question| Some(question.id.as_str()) == interrupt);
    let Some(at) = at.filter(|_| error.code() == "payload_invalid" && terminal::is_interactive())
    else {
        return Err(refused(error));
    };
    terminal::tell(&format!("The answer to {} does not fit:", questions[at].id));
    for line in plan::violation_lines(error.details()) {
        terminal::tell(&format!("  {line}"));
    }
    answers[at] = None;
    Ok(())
}

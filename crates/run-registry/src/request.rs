//! What the agent of an accepted run is sent.
//!
//! Always the thread's messages and state, whatever the submission held: a client may send only
//! what is new, and a phone may answer without holding the conversation.

use serde::Deserialize;
use serde_json::value::RawValue;
use threadcast_agui::ids::{RunId, ThreadId};
use threadcast_agui::interrupt::Interrupt;
use threadcast_agui::legacy::with_command_resume;
use threadcast_agui::message::MessageBody;
use threadcast_thread_log::entry::Entry;
use threadcast_thread_log::position::Seq;

use crate::conversation::Conversation;
use crate::fact::{Fact, RunAccepted, Submission, SubmittedContent};
use crate::fingerprint::Fingerprint;
use crate::fold::Fold;

mod answers;

use answers::Answers;

/// The protocol version of a request that no client made.
const PROTOCOL_VERSION: &str = "1.0";

/// A request to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRequest {
    /// A `RunAgentInput` as JSON.
    pub body: String,
    /// Equal whenever the same run, or the same decision, is sent again.
    pub idempotency_key: String,
}

/// What a request is made of beside the conversation: entries by their seqs, and questions.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestSources {
    /// The run's own `run.accepted`.
    pub accepted: Seq,
    /// The `run.accepted` whose tools and context it carries on, if its submission held answers
    /// alone.
    pub inherits: Option<Seq>,
    /// What the interrupted run asked, if the run takes answers.
    pub asked: Vec<Interrupt>,
}

/// Why no request can be made.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error("entry {seq} does not accept a run")]
    NotAccepted { seq: Seq },
    #[error("the submission in entry {seq} cannot be read")]
    Submission {
        seq: Seq,
        #[source]
        source: serde_json::Error,
    },
}

/// Which entries to read for the request of `run`; `None` for a run that was never accepted.
pub fn sources(fold: &Fold, run: &RunId) -> Option<RequestSources> {
    let run = fold.registry().run(run)?;
    let interrupts = fold.registry().interrupts();
    let takes = run.took.as_ref().map(|took| &took.of);
    let asked = interrupts.latest().iter();
    Some(RequestSources {
        accepted: run.accepted,
        inherits: run.inherits,
        asked: asked
            .filter(|_| takes.is_some() && takes == interrupts.latest_run())
            .map(|raised| raised.interrupt.clone())
            .collect(),
    })
}

/// The members of a submission that go to the agent as they came.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Submitted<'a> {
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    parent_run_id: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    context: Option<&'a RawValue>,
    #[serde(borrow)]
    forwarded_props: Option<&'a RawValue>,
    #[serde(borrow)]
    resume: Option<&'a RawValue>,
}

/// The request of an accepted run whose agent was not heard yet, from what its thread holds then;
/// `accepted` and `inherited` are the entries that [`sources`] names, `asked` what it holds.
///
/// Answers to what was asked by CUSTOM events go as the command that such an agent reads, and not
/// in `resume`: where it knows both it prefers `resume`, but can take one answer there alone.
///
/// It writes out the whole conversation: not to be done while a fold is locked.
///
/// # Errors
/// An entry is no `run.accepted`, or what it holds cannot be read.
pub fn agent_request(
    thread: &ThreadId,
    conversation: &Conversation,
    accepted: &Entry,
    inherited: Option<&Entry>,
    asked: &[Interrupt],
) -> Result<AgentRequest, RequestError> {
    let (public, submission) = read(accepted)?;
    let source = inherited.map(read).transpose()?;
    let parse = |json, seq| {
        serde_json::from_str(json).map_err(|source| RequestError::Submission { seq, source })
    };
    let mut submitted: Submitted<'_> = Submitted::default();
    let resume = match &submission.content {
        SubmittedContent::Input(input) => {
            submitted = parse(input.as_str(), accepted.seq)?;
            submitted.resume.map(RawValue::get)
        }
        SubmittedContent::Resume(entries) => {
            if let (Some(entry), Some((source, submission))) = (inherited, &source)
                && let SubmittedContent::Input(input) = &submission.content
            {
                submitted = parse(input.as_str(), entry.seq)?;
                // Made for the one who submitted them: they often hold that person's credentials.
                submitted.forwarded_props =
                    submitted.forwarded_props.filter(|_| source.by == public.by);
                submitted.parent_run_id = None;
            }
            Some(entries.as_str())
        }
    };
    let is_by_client = matches!(submission.content, SubmittedContent::Input(_));
    let answers = match resume.filter(|_| public.resume.is_some()) {
        Some(entries) => Answers::of(asked, entries, accepted.seq)?,
        None => Answers::None,
    };
    let body = Body {
        thread,
        conversation,
        public: &public,
        submitted: &submitted,
        is_by_client,
        answers,
    };
    Ok(AgentRequest {
        body: body.write(),
        idempotency_key: key(thread, &public).to_string(),
    })
}

fn read(entry: &Entry) -> Result<(RunAccepted, Submission), RequestError> {
    match Fact::of(entry) {
        Some(Fact::RunAccepted { public, submission }) => Ok((public, submission)),
        _ => Err(RequestError::NotAccepted { seq: entry.seq }),
    }
}

fn key(thread: &ThreadId, public: &RunAccepted) -> Fingerprint {
    match &public.resume {
        None => Fingerprint::of_run_key(thread, &public.run_id),
        Some(resume) => {
            let interrupts = resume.entries.iter().map(|entry| &entry.interrupt_id);
            Fingerprint::of_resume_key(thread, &resume.of, interrupts)
        }
    }
}

/// The parts of a request's body.
struct Body<'a> {
    thread: &'a ThreadId,
    conversation: &'a Conversation,
    public: &'a RunAccepted,
    submitted: &'a Submitted<'a>,
    /// Whether a client sent an input of its own, whose silence about a version means something.
    is_by_client: bool,
    answers: Answers<'a>,
}

impl Body<'_> {
    fn write(&self) -> String {
        let mut out = String::from("{");
        let mut member = |name: &str, json: &str| {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&format!("\"{name}\":{json}"));
        };
        let text =
            |text: &str| serde_json::to_string(text).expect("a string always has a JSON form");
        member("threadId", &text(self.thread.as_str()));
        member("runId", &text(self.public.run_id.as_str()));
        match self.submitted.protocol_version {
            Some(version) => member("protocolVersion", version.get()),
            None if self.is_by_client => {}
            None => member("protocolVersion", &text(PROTOCOL_VERSION)),
        }
        if let Some(parent) = self.submitted.parent_run_id {
            member("parentRunId", parent.get());
        }
        member("state", &self.conversation.state().to_string());
        member("messages", &self.messages());
        member("tools", self.submitted.tools.map_or("[]", RawValue::get));
        member(
            "context",
            self.submitted.context.map_or("[]", RawValue::get),
        );
        let props = self.submitted.forwarded_props.map(RawValue::get);
        match (&self.answers, props) {
            (Answers::Command(resume), props) => {
                member("forwardedProps", &with_command_resume(props, resume));
            }
            (_, Some(props)) => member("forwardedProps", props),
            (_, None) => {}
        }
        if let Answers::Entries(entries) = self.answers {
            member("resume", entries);
        }
        out.push('}');
        out
    }

    /// The thread's messages but for activities, which agents are never sent, then the new ones.
    fn messages(&self) -> String {
        let mut out = String::from("[");
        for message in self.conversation.messages() {
            if !matches!(message.body, MessageBody::Activity { .. }) {
                if out.len() > 1 {
                    out.push(',');
                }
                message.write(&mut out);
            }
        }
        let new = self.public.messages.as_str();
        let new = new
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .unwrap_or_default();
        if out.len() > 1 && !new.is_empty() {
            out.push(',');
        }
        out.push_str(new);
        out.push(']');
        out
    }
}

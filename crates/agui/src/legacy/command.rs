//! Answers in the form that agents from before 1.0 read: `forwardedProps.command.resume`.

use crate::edit::{Edit, append_member, edit_object};
use crate::fields::Fields;
use crate::interrupt::{Interrupt, ResumeEntry, ResumeStatus};
use crate::json::{DEPTH_MAX, RawJson};
use crate::legacy::interrupts::is_asked_by_event;
use crate::text::decode_token;
use crate::write::{self, string_token};

/// The value that resumes the run which asked `asked`; `None` if the agent asked in an outcome of
/// its own, and so reads `resume`.
///
/// One answer is its payload alone; several are an object by interrupt ids.
pub fn command_resume(asked: &[Interrupt], entries: &[ResumeEntry]) -> Option<RawJson> {
    let is_meant = |entry: &ResumeEntry| {
        let interrupt = asked.iter().find(|asked| asked.id == entry.interrupt);
        interrupt.is_some_and(is_asked_by_event)
    };
    if !entries.iter().all(is_meant) {
        return None;
    }
    match entries {
        [] => None,
        [entry] => Some(single(&answer(entry))),
        several => Some(write::object(|object| {
            for entry in several {
                object.raw(entry.interrupt.as_str(), &answer(entry));
            }
        })),
    }
}

/// What the waiting code gets; for a question that was given up, the marker that the framework
/// makes of such an entry itself.
fn answer(entry: &ResumeEntry) -> String {
    match entry.status {
        ResumeStatus::Resolved => {
            let payload = entry.payload.as_ref().map(RawJson::as_str);
            payload.unwrap_or("null").to_owned()
        }
        ResumeStatus::Cancelled => {
            let id = string_token(entry.interrupt.as_str());
            format!(r#"{{"__agui_cancelled__":true,"interrupt_id":{id}}}"#)
        }
    }
}

/// Text that may be read as JSON goes as the JSON of its text.
fn single(answer: &str) -> RawJson {
    let is_read = answer.starts_with('"') && may_be_read(&decode_token(answer));
    RawJson::from_trusted(if is_read {
        string_token(answer)
    } else {
        answer.to_owned()
    })
}

/// Whether an agent may read the text as JSON. It judges by the beginning: agents in Python take
/// what JSON has not, words for numbers and any depth, and refuse what they do not take whole.
fn may_be_read(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(['{', '[', '"', '-'])
        || text.starts_with(|first: char| first.is_ascii_digit())
        || matches!(text, "Infinity" | "NaN" | "false" | "null" | "true")
}

/// `forwardedProps` with the command that resumes; their other members stay.
pub fn with_command_resume(forwarded_props: Option<&str>, resume: &RawJson) -> String {
    let resume = resume.as_str();
    let command = || format!(r#"{{"resume":{resume}}}"#);
    let Some(props) = forwarded_props.filter(|props| props.starts_with('{')) else {
        return format!(r#"{{"command":{}}}"#, command());
    };
    let edited = edit_object(props, |name, value| match name {
        "command" if value.starts_with('{') => Edit::Set(with_member(value, "resume", resume)),
        "command" => Edit::Set(command()),
        _ => Edit::Keep,
    });
    edited.unwrap_or_else(|| append_member(props, "command", &command()))
}

fn with_member(object: &str, name: &str, value: &str) -> String {
    let edited = edit_object(object, |found, _| {
        if found == name {
            Edit::Set(value.to_owned())
        } else {
            Edit::Keep
        }
    });
    edited.unwrap_or_else(|| append_member(object, name, value))
}

/// The entries that an older client means with the `forwardedProps` of a run: answers to all of
/// `asked`, if that was asked by CUSTOM events. Empty if it means none.
pub fn entries_of_command(asked: &[&Interrupt], forwarded_props: &RawJson) -> Vec<ResumeEntry> {
    let Some(resume) = resume_of(forwarded_props.as_str()) else {
        return Vec::new();
    };
    if !asked.iter().copied().all(is_asked_by_event) {
        return Vec::new();
    }
    if let [interrupt] = asked {
        return entry(interrupt, resume.as_str()).into_iter().collect();
    }
    let Ok(answers) = Fields::of(resume.as_str()) else {
        return Vec::new();
    };
    let each = asked
        .iter()
        .map(|interrupt| entry(interrupt, answers.value(interrupt.id.as_str())?));
    each.collect::<Option<_>>().unwrap_or_default()
}

/// What stands at `command.resume`; text that is JSON is read as that, as the agent does.
fn resume_of(props: &str) -> Option<RawJson> {
    let command = Fields::of(props).ok()?.value("command")?;
    let resume = Fields::of(command).ok()?.value("resume")?;
    let read = resume
        .starts_with('"')
        .then(|| RawJson::parse_within(&decode_token(resume), DEPTH_MAX - 8).ok())
        .flatten();
    let resume = read.unwrap_or_else(|| RawJson::from_trusted(resume));
    (resume.as_str() != "null").then_some(resume)
}

fn entry(interrupt: &Interrupt, payload: &str) -> Option<ResumeEntry> {
    let json = write::object(|object| {
        object.string("interruptId", interrupt.id.as_str());
        object.string("status", ResumeStatus::Resolved.as_str());
        object.raw("payload", payload);
    });
    ResumeEntry::from_checked(json.as_str()).ok()
}

#[cfg(test)]
mod tests;

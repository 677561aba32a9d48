//! Finds the end of one run among the updates of its thread.
//!
//! Pure. A run whose stop was asked for counts as cancelled, however its agent ended it.

use serde_json::Value;
use threadcast_agui::event::{Event, EventBody, Outcome};
use threadcast_agui::json::RawJson;
use threadcast_client::Update;
use threadcast_client::view::ThreadView;
use threadcast_thread_log::run_status::RunStatus;

/// Waits for the end of one run.
#[derive(Debug)]
pub(crate) struct RunEnd {
    run: String,
    /// RUN_ERROR names no run: it ends the one that began last.
    is_current: bool,
    is_cancel_asked: bool,
}

impl RunEnd {
    pub(crate) fn new(run: impl Into<String>) -> Self {
        Self {
            run: run.into(),
            is_current: false,
            is_cancel_asked: false,
        }
    }

    /// How the run ended, if the update says so.
    pub(crate) fn update(&mut self, update: &Update) -> Option<RunStatus> {
        match update {
            Update::Event { event, .. } => self.event(event),
            Update::Fact { fact, .. } => {
                self.fact(fact);
                None
            }
            Update::Baseline { events, view, .. } | Update::Compacted { events, view, .. } => {
                let in_events = events
                    .iter()
                    .fold(None, |ended, event| self.event(event).or(ended));
                view.as_ref().map_or(in_events, |view| self.view(view))
            }
            _ => None,
        }
    }

    fn event(&mut self, json: &RawJson) -> Option<RunStatus> {
        let ended = match Event::from_raw(json.clone()).ok()?.body {
            EventBody::RunStarted { run, .. } => {
                self.is_current = run.as_str() == self.run;
                return None;
            }
            EventBody::RunFinished { run, outcome, .. } if *run == *self.run => match outcome {
                Outcome::Success { .. } => RunStatus::Success,
                Outcome::Interrupt { .. } => RunStatus::Interrupted,
                Outcome::Cancelled => RunStatus::Cancelled,
            },
            EventBody::RunError { .. } if self.is_current => RunStatus::Error,
            _ => return None,
        };
        Some(if self.is_cancel_asked {
            RunStatus::Cancelled
        } else {
            ended
        })
    }

    fn fact(&mut self, json: &RawJson) {
        let Ok(fact) = json.to_value() else { return };
        let is = |name: &str, value: &str| fact.get(name).and_then(Value::as_str) == Some(value);
        if is("type", "run.cancel_requested") && is("runId", &self.run) {
            self.is_cancel_asked = true;
        }
    }

    fn view(&self, view: &ThreadView) -> Option<RunStatus> {
        let run = view.runs.iter().find(|run| run.run.as_str() == self.run)?;
        run.status.has_ended().then_some(run.status)
    }
}

#[cfg(test)]
mod tests {
    use threadcast_client::Seq;

    use super::super::render::recorded::updates;
    use super::*;

    const STARTED: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1"}"#;
    const OTHER: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r0"}"#;
    const FAILED: &str = r#"{"type":"RUN_ERROR","message":"no"}"#;
    const STOP: &str = r#"{"type":"run.cancel_requested","by":{"id":"u"},"runId":"r1"}"#;

    fn finished(run: &str, outcome: &str) -> String {
        format!(r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"{run}"{outcome}}}"#)
    }

    #[track_caller]
    fn check(lines: &[&str], expected: Option<RunStatus>) {
        let mut end = RunEnd::new("r1");
        let updates = updates(&lines.join("\n")).into_iter();
        let found = updates.fold(None, |found, update| end.update(&update).or(found));
        assert_eq!(found, expected, "{lines:?}");
    }

    #[test]
    fn the_end_is_the_own_runs() {
        check(&[STARTED], None);
        check(&[STARTED, &finished("r1", "")], Some(RunStatus::Success));
        check(&[STARTED, &finished("r0", "")], None);
        let asks = r#","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x"}]}"#;
        check(
            &[STARTED, &finished("r1", asks)],
            Some(RunStatus::Interrupted),
        );
        let cancelled = r#","outcome":{"type":"cancelled"}"#;
        check(
            &[STARTED, &finished("r1", cancelled)],
            Some(RunStatus::Cancelled),
        );
    }

    #[test]
    fn an_error_ends_the_run_that_began_last() {
        check(&[STARTED, FAILED], Some(RunStatus::Error));
        check(&[OTHER, FAILED], None);
        check(&[STARTED, STOP, FAILED], Some(RunStatus::Cancelled));
        check(
            &[STARTED, STOP, &finished("r1", "")],
            Some(RunStatus::Cancelled),
        );
    }

    #[test]
    fn a_view_knows_runs_whose_events_are_gone() {
        let view = |status: &str| {
            Update::Baseline {
            seq: Seq::ZERO.next(),
            events: Vec::new(),
            view: serde_json::from_str(&format!(
                r#"{{"status":"{status}","runs":[{{"runId":"r1","status":"{status}","agent":"a","by":{{"id":"u"}},"seq":1,"at":1}}],"interrupts":[]}}"#
            ))
            .unwrap(),
        }
        };
        assert_eq!(RunEnd::new("r1").update(&view("running")), None);
        assert_eq!(
            RunEnd::new("r1").update(&view("cancelled")),
            Some(RunStatus::Cancelled)
        );
        assert_eq!(RunEnd::new("r2").update(&view("cancelled")), None);
    }
}

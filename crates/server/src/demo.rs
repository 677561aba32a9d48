//! The built-in agent `demo`: a support desk that wants to pay a refund, to try everything out
//! without a model.
//!
//! It is an agent like any other: it gets a run input and answers with the events of an AG-UI
//! stream, as the text that would follow `data:`. What it says depends only on what it is asked, so
//! that a run can be repeated.
//!
//! Invariant: every script is a valid AG-UI run, whatever the input.

use std::collections::VecDeque;
use std::time::Duration;

use threadcast_agui::fields::ReadError;
use threadcast_agui::run_input::RunInput;
use tokio::time::{Instant, sleep_until};

use crate::config::DemoSpeed;

mod asking;
mod case;
mod resuming;
mod script;

use script::{Script, Step};

/// The name under which it is offered.
pub(crate) const NAME: &str = "demo";

/// The events of one run, as they are due.
#[derive(Debug)]
pub(crate) struct DemoStream {
    steps: VecDeque<Step>,
    speed: DemoSpeed,
    /// When the step before was said.
    said: Instant,
}

impl DemoStream {
    /// Answers the request an HTTP agent would be sent.
    ///
    /// # Errors
    /// The body is no run input.
    pub(crate) fn start(body: &str, speed: DemoSpeed) -> Result<Self, ReadError> {
        let input = RunInput::read(body)?;
        Ok(Self {
            steps: script(&input).into_steps().into(),
            speed,
            said: Instant::now(),
        })
    }

    /// The next event, `None` after the last.
    ///
    /// Cancel safe: an event that was not awaited to its end comes next time.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let pause = self.speed.pause(self.steps.front()?.pause);
        if pause > Duration::ZERO {
            sleep_until(self.said + pause).await;
        }
        self.said = Instant::now();
        self.steps.pop_front().map(|step| step.event)
    }
}

fn script(input: &RunInput) -> Script {
    if input.resume.is_empty() {
        asking::script(input)
    } else {
        resuming::script(input)
    }
}

#[cfg(test)]
mod tests;

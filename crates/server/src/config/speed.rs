//! How fast the built-in agent speaks.

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

/// A factor on the speed of the built-in agent; infinite means without any pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DemoSpeed(f64);

/// Why something is no speed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no speed: a number from 0.01, 0 or `instant`")]
pub struct DemoSpeedError(String);

/// Slower than this nobody would wait for.
const SLOWEST: f64 = 0.01;

impl DemoSpeed {
    pub const INSTANT: Self = Self(f64::INFINITY);

    /// How long a pause of `normal` is at this speed.
    pub fn pause(self, normal: Duration) -> Duration {
        normal.div_f64(self.0)
    }

    fn new(factor: f64) -> Option<Self> {
        match factor {
            0.0 => Some(Self::INSTANT),
            factor if factor >= SLOWEST => Some(Self(factor)),
            _ => None,
        }
    }
}

impl Default for DemoSpeed {
    fn default() -> Self {
        Self(1.0)
    }
}

impl FromStr for DemoSpeed {
    type Err = DemoSpeedError;

    fn from_str(text: &str) -> Result<Self, DemoSpeedError> {
        if text == "instant" {
            return Ok(Self::INSTANT);
        }
        text.parse()
            .ok()
            .and_then(Self::new)
            .ok_or_else(|| DemoSpeedError(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for DemoSpeed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(f64),
            Text(String),
        }
        match Form::deserialize(from)? {
            Form::Number(factor) => {
                Self::new(factor).ok_or_else(|| DemoSpeedError(factor.to_string()))
            }
            Form::Text(text) => text.parse(),
        }
        .map_err(serde::de::Error::custom)
    }
}

//! Token counts of a run, per provider and model.

use crate::fields::{self, Fields, ReadError};

/// One entry of `usage`; an absent count is not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    pub provider: Option<Box<str>>,
    pub model: Option<Box<str>>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub total_tokens: Option<u64>,
    pub reasoning_tokens: Option<u64>,
    pub cached_input_tokens: Option<u64>,
    pub cache_write_input_tokens: Option<u64>,
}

impl TokenUsage {
    /// Reads one entry from checked text.
    pub(crate) fn from_checked(json: &str) -> Result<Self, ReadError> {
        let fields = Fields::of(json)?;
        let count = |name| {
            let read = |json: &str| fields::integer(json, 0).map(i64::unsigned_abs);
            fields.read_if(name, read)
        };
        Ok(Self {
            provider: fields.read_if("provider", fields::text)?,
            model: fields.read_if("model", fields::text)?,
            input_tokens: count("inputTokens")?,
            output_tokens: count("outputTokens")?,
            total_tokens: count("totalTokens")?,
            reasoning_tokens: count("reasoningTokens")?,
            cached_input_tokens: count("cachedInputTokens")?,
            cache_write_input_tokens: count("cacheWriteInputTokens")?,
        })
    }
}

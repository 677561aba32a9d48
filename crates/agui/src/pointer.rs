//! JSON Pointer (RFC 6901): syntax only.

use std::borrow::Cow;
use std::fmt;

/// Why a string is no pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    #[error("pointer does not begin with `/`")]
    NoSlash,
    #[error("pointer holds `~` without `0` or `1` behind it")]
    Tilde,
}

/// A pointer whose syntax was checked: empty, or `/`-prefixed tokens with `~0` and `~1` as the only
/// escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer(Box<str>);

impl Pointer {
    /// Takes `pointer` as it is.
    ///
    /// # Errors
    /// It is neither empty nor begins with a slash, or a tilde escapes nothing.
    pub fn parse(pointer: &str) -> Result<Self, PointerError> {
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err(PointerError::NoSlash);
        }
        // What stands before the first tilde needs no look.
        if pointer
            .split('~')
            .skip(1)
            .any(|behind| !behind.starts_with(['0', '1']))
        {
            return Err(PointerError::Tilde);
        }
        Ok(Self(pointer.into()))
    }

    /// The pointer as it came.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The steps from the root, unescaped; none for the root itself.
    pub fn tokens(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.split('/').skip(1).map(|token| {
            if token.contains('~') {
                // `~1` first, or `~01` would become a slash.
                Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
            } else {
                Cow::Borrowed(token)
            }
        })
    }

    /// Whether it passes through `__proto__` or `constructor/prototype`.
    ///
    /// The reference client refuses these, for they reach every object of a JavaScript program.
    pub fn is_forbidden(&self) -> bool {
        let mut before = Cow::Borrowed("");
        self.tokens().any(|token| {
            let is_forbidden =
                token == "__proto__" || (before == "constructor" && token == "prototype");
            before = token;
            is_forbidden
        })
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pointer: &str, expected: Result<&[&str], PointerError>) {
        let found = Pointer::parse(pointer);
        let tokens = found
            .as_ref()
            .map(|pointer| pointer.tokens().collect::<Vec<_>>());
        assert_eq!(
            tokens.as_deref().map_err(|error| **error),
            expected
                .map(|tokens| {
                    tokens
                        .iter()
                        .map(|token| Cow::Borrowed(*token))
                        .collect::<Vec<_>>()
                })
                .as_deref()
                .map_err(|error| *error)
        );
    }

    #[test]
    fn syntax_is_that_of_rfc_6901() {
        check("", Ok(&[]));
        check("/", Ok(&[""]));
        check("/a/0//é", Ok(&["a", "0", "", "é"]));
        check("/a~1b/m~0n/~01", Ok(&["a/b", "m~n", "~1"]));
        check("a", Err(PointerError::NoSlash));
        check("#/a", Err(PointerError::NoSlash));
        check("/a~", Err(PointerError::Tilde));
        check("/a~2", Err(PointerError::Tilde));
        check("/~~0", Err(PointerError::Tilde));
    }

    #[test]
    fn prototypes_are_forbidden() {
        let forbidden = |pointer| Pointer::parse(pointer).unwrap().is_forbidden();
        assert!(forbidden("/__proto__/x"));
        assert!(forbidden("/a/constructor/prototype"));
        assert!(!forbidden("/constructor"));
        assert!(!forbidden("/prototype/constructor"));
        assert!(!forbidden("/__proto"));
    }
}

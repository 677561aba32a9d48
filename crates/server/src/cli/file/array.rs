//! The elements of a JSON array with their lines.

use serde_json::value::RawValue;

use super::error::Problem;

/// The elements of the array, each with the line it begins on, from 1.
///
/// # Errors
/// The text is no array.
pub(super) fn elements(text: &str) -> Result<Vec<(u64, Box<str>)>, Problem> {
    let elements: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|error| Problem::NoArray(error.to_string().into()))?;
    let (mut line, mut at) = (1, 0);
    let place = |element: &&RawValue| {
        // They are parts of `text`, in their order.
        let start = element.get().as_ptr().addr() - text.as_ptr().addr();
        let breaks = text.as_bytes()[at..start].iter();
        line += breaks.filter(|byte| **byte == b'\n').count() as u64;
        at = start;
        (line, element.get().into())
    };
    Ok(elements.iter().map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_knows_its_line() {
        let text = "[\n  {\"a\":\n1}, 2,\n\n{\"b\":\"\\n\"}\n]\n";
        let found = elements(text).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|(line, json)| (*line, json.as_ref()))
            .collect();
        assert_eq!(
            found,
            [(2, "{\"a\":\n1}"), (3, "2"), (5, "{\"b\":\"\\n\"}")]
        );
        assert_eq!(elements("[]").unwrap(), []);
        assert!(elements("[1").is_err());
    }
}

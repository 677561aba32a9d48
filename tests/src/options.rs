//! Options of the programs beside the tests: names with a number each.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};

/// Another seed for every run; printed, so that a run can be repeated.
///
/// # Errors
/// The clock stands before 1970.
pub fn fresh_seed() -> anyhow::Result<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(now.as_millis() as u64)
}

/// Reads `--name NUMBER` pairs into the options of these names.
///
/// # Errors
/// A name is none of them, or is not followed by a number.
pub fn read_numbers<const COUNT: usize>(
    mut args: impl Iterator<Item = String>,
    mut options: [(&str, &mut u64); COUNT],
) -> anyhow::Result<()> {
    while let Some(name) = args.next() {
        let value = args
            .next()
            .with_context(|| format!("`{name}` has no value"))?;
        let number = value
            .parse()
            .with_context(|| format!("`{name} {value}` is no number"))?;
        match options.iter_mut().find(|(known, _)| *known == name) {
            Some((_, option)) => **option = number,
            None => bail!("there is no option `{name}`"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<(u64, u64), String> {
        let (mut one, mut other) = (1, 2);
        let args = args.iter().map(|arg| (*arg).to_owned());
        let options = [("--one", &mut one), ("--other", &mut other)];
        let done = read_numbers(args, options).map_err(|error| error.to_string());
        done.map(|()| (one, other))
    }

    #[test]
    fn numbers_are_read_by_name() {
        assert_eq!(read(&[]), Ok((1, 2)));
        assert_eq!(read(&["--other", "7"]), Ok((1, 7)));
        let refused = [
            (&["--one"][..], "`--one` has no value"),
            (&["--one", "x"], "`--one x` is no number"),
            (&["--two", "7"], "there is no option `--two`"),
        ];
        for (args, told) in refused {
            assert_eq!(read(args), Err(told.to_owned()));
        }
    }
}

//! The canonical form of JSON text that was checked before.
//!
//! Not a format anyone stores or sends: it only has to be equal exactly when two texts mean the
//! same.

/// Writes the canonical form of `json`, without those members of the outermost object that are
/// named in `without`.
pub(super) fn canonical(json: &str, without: &[&str]) -> Vec<u8> {
    let mut walk = Walk {
        bytes: json.as_bytes(),
        at: 0,
    };
    let mut out = Vec::with_capacity(json.len());
    walk.value(&mut out, without);
    out
}

/// A recursive walk; how deep it goes is bounded by the check that the text passed.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b':') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn value(&mut self, out: &mut Vec<u8>, without: &[&str]) {
        match self.peek() {
            Some(b'{') => self.object(out, without),
            Some(b'[') => self.array(out),
            Some(b'"') => self.string(out),
            _ => self.scalar(out),
        }
    }

    fn object(&mut self, out: &mut Vec<u8>, without: &[&str]) {
        self.at += 1;
        let mut members: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        while self.peek() == Some(b'"') {
            let (mut name, mut value) = (Vec::new(), Vec::new());
            self.string(&mut name);
            self.value(&mut value, &[]);
            members.push((name, value));
        }
        self.at += 1;
        members.retain(|(name, _)| {
            !without
                .iter()
                .any(|out| name[1..name.len() - 1] == *out.as_bytes())
        });
        members.sort_unstable();
        out.push(b'{');
        for (name, value) in members {
            out.extend_from_slice(&name);
            out.extend_from_slice(&value);
        }
        out.push(b'}');
    }

    fn array(&mut self, out: &mut Vec<u8>) {
        self.at += 1;
        out.push(b'[');
        while self.peek().is_some_and(|byte| byte != b']') {
            self.value(out, &[]);
            out.push(b',');
        }
        self.at += 1;
        out.push(b']');
    }

    /// Unescapes a string; only quote and backslash are escaped again.
    fn string(&mut self, out: &mut Vec<u8>) {
        self.at += 1;
        out.push(b'"');
        loop {
            let byte = self.bytes.get(self.at).copied();
            self.at += 1;
            match byte {
                None | Some(b'"') => break,
                Some(b'\\') => self.escape(out),
                Some(plain) => out.push(plain),
            }
        }
        out.push(b'"');
    }

    fn escape(&mut self, out: &mut Vec<u8>) {
        let escaped = self.bytes.get(self.at).copied();
        self.at += 1;
        match escaped {
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(b'u') => self.unit(out),
            Some(quote @ (b'"' | b'\\')) => out.extend_from_slice(&[b'\\', quote]),
            Some(itself) => out.push(itself),
            None => {}
        }
    }

    fn unit(&mut self, out: &mut Vec<u8>) {
        let high = self.hex();
        if (0xd800..0xdc00).contains(&high) && self.bytes.get(self.at..self.at + 2) == Some(b"\\u")
        {
            let behind = self.at;
            self.at += 2;
            let low = self.hex();
            if (0xdc00..0xe000).contains(&low) {
                push_code(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), out);
                return;
            }
            self.at = behind;
        }
        push_code(high, out);
    }

    fn hex(&mut self) -> u32 {
        let digits = self
            .bytes
            .get(self.at..self.at + 4)
            .and_then(|hex| std::str::from_utf8(hex).ok());
        self.at += 4;
        digits
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .unwrap_or(0xfffd)
    }

    fn scalar(&mut self, out: &mut Vec<u8>) {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
        let text = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
        // At least one byte, so that a walk over anything ends.
        self.at += text.len().max(1);
        match text.first() {
            Some(b'-' | b'0'..=b'9') => number(&String::from_utf8_lossy(text), out),
            _ => out.extend_from_slice(text),
        }
    }
}

/// Writes a character as UTF-8, quote and backslash escaped; half a surrogate pair in the same
/// manner, which no character's bytes equal.
fn push_code(code: u32, out: &mut Vec<u8>) {
    match char::from_u32(code) {
        Some(quote @ ('"' | '\\')) => out.extend_from_slice(&[b'\\', quote as u8]),
        Some(character) => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        None => {
            let low_bits =
                |shift: u32| 0x80 | u8::try_from(code >> shift & 0x3f).expect("six bits");
            out.extend_from_slice(&[0xed, low_bits(6), low_bits(0)]);
        }
    }
}

/// Writes a number as its digits without leading and trailing zeros, and the power of ten of the
/// last digit.
fn number(text: &str, out: &mut Vec<u8>) {
    let (sign, unsigned) = text
        .strip_prefix('-')
        .map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0').trim_end_matches('0');
    if digits.is_empty() {
        out.push(b'0');
        return;
    }
    let dropped = all.len() - all.trim_end_matches('0').len();
    // Lengths of text are far below what 128 bits hold.
    let shift = dropped as i128 - fraction.len() as i128;
    let power = exponent
        .parse::<i128>()
        .ok()
        .and_then(|power| power.checked_add(shift));
    let canonical = match power {
        Some(power) => format!("{sign}{digits}e{power}"),
        // An exponent beyond 128 bits: no other spelling of it is worth knowing.
        None => format!("{sign}{mantissa}E{exponent}"),
    };
    out.extend_from_slice(canonical.as_bytes());
}

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(escaped: &str, expected: &str) {
    let token = format!("\"{escaped}\"");
    assert_eq!(Escaped::from_token(&token).decode_lossy(), expected);
}

#[test]
fn every_escape_is_decoded() {
    check("", "");
    check("plain é", "plain é");
    check(r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t");
    check(r"a\u00e9\u0000b", "aé\u{0}b");
    check(r"\ud83d\ude00!", "😀!");
    check(r"\uD83D\uDE00", "😀");
}

#[test]
fn half_a_pair_becomes_the_replacement_character() {
    check(r"\ud83d", "\u{fffd}");
    check(r"\ude00\ud83d", "\u{fffd}\u{fffd}");
    check(r"\ud83dx\ude00", "\u{fffd}x\u{fffd}");
    check(r"\ud83d\ud83d\ude00", "\u{fffd}😀");
    check(r"\ud83d\n", "\u{fffd}\n");
}

#[test]
fn halves_of_a_pair_join_across_pushes() {
    let mut text = Escaped::from_token(r#""a\ud83d""#);
    text.push(&Escaped::from_token(r#""\ude00b""#));
    assert_eq!(text.as_escaped(), r"a\ud83d\ude00b");
    assert_eq!(text.decode_lossy(), "a😀b");
    assert_eq!(text.len(), 14);
}

/// The UTF-16 units as a JavaScript producer writes them: some escaped, halves of pairs always.
fn token(units: &[u16], escape: &[bool]) -> String {
    let mut out = String::from("\"");
    for (decoded, escape) in char::decode_utf16(units.iter().copied()).zip(escape.iter().cycle()) {
        match decoded {
            Ok(char) if !escape && !char.is_control() && !matches!(char, '"' | '\\') => {
                out.push(char)
            }
            Ok(char) => {
                let mut units = [0; 2];
                for unit in char.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            Err(half) => out.push_str(&format!("\\u{:04X}", half.unpaired_surrogate())),
        }
    }
    out.push('"');
    out
}

proptest! {
    #[test]
    fn plain_text_comes_back(text: String) {
        let escaped = Escaped::from_plain(&text);
        prop_assert_eq!(escaped.decode_lossy(), text.clone());
        let mut token = String::new();
        escaped.write(&mut token);
        prop_assert_eq!(serde_json::from_str::<String>(&token).unwrap(), text);
    }

    /// JavaScript joins UTF-16 units; so must undecoded text, wherever it was cut.
    #[test]
    fn joining_undecoded_is_joining_units(
        text in "[a\"\\\\\n\u{e9}\u{20ac}\u{1f600}\u{10ffff}]{0,12}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        escape in prop::collection::vec(any::<bool>(), 1..8),
    ) {
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(units.len() + 1)).collect();
        cuts.extend([0, units.len()]);
        cuts.sort_unstable();
        let mut joined = Escaped::new();
        for piece in cuts.windows(2) {
            joined.push(&Escaped::from_token(&token(&units[piece[0]..piece[1]], &escape)));
        }
        prop_assert_eq!(joined.decode_lossy(), text);
    }

    #[test]
    fn any_units_decode_as_utf16_does(units in prop::collection::vec(prop_oneof![0xd7f0_u16..0xe010, any::<u16>()], 0..12), escape in prop::collection::vec(any::<bool>(), 1..8)) {
        let decoded = Escaped::from_token(&token(&units, &escape)).decode_lossy();
        prop_assert_eq!(decoded, String::from_utf16_lossy(&units));
    }
}

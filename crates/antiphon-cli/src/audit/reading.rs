//! A `requestState` as an attacker reads it: of which pieces it is, how they are spelt, and what can be
//! read in them without a key.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// What decoders take that are not strict.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_encode_padding(false)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
pub(super) const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);
pub(super) const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);

/// So much of a state's bytes must be text before it is taken for one: eight random bytes are
/// printable once in three thousand times.
const TEXT: usize = 8;
/// So long must a run of text be within bytes that are none.
const RUN: usize = 16;

/// How a piece of a state is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    UrlSafe,
    Standard,
    Hex,
}

impl Spelling {
    pub(super) fn encode(self, bytes: &[u8], is_padded: bool) -> String {
        let text = match self {
            Self::UrlSafe => URL_SAFE.encode(bytes),
            Self::Standard => STANDARD.encode(bytes),
            Self::Hex => return bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        };
        match is_padded {
            true => pad(&text),
            false => text,
        }
    }
}

/// The bytes that a piece stands for, if it is written in hex or Base64.
pub(super) fn decode(piece: &str) -> Option<(Spelling, Vec<u8>)> {
    if is_hex(piece) {
        let digits: Vec<_> = piece.chars().filter_map(|c| c.to_digit(16)).collect();
        let bytes = digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8);
        return Some((Spelling::Hex, bytes.collect()));
    }
    if piece.is_empty() {
        return None;
    }
    if let Ok(bytes) = URL_SAFE.decode(piece) {
        return Some((Spelling::UrlSafe, bytes));
    }
    let bytes = STANDARD.decode(piece).ok()?;
    Some((Spelling::Standard, bytes))
}

pub(super) fn is_hex(piece: &str) -> bool {
    piece.len() >= 8
        && piece.len().is_multiple_of(2)
        && piece.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The pieces of a state: JSON is one, others are parted by dots and the like.
pub(super) fn pieces(state: &str) -> Vec<&str> {
    match serde_json::from_str::<Value>(state) {
        Ok(value) if value.is_object() || value.is_array() => vec![state],
        _ => state.split(['.', '~', ':', '|', '!']).collect(),
    }
}

pub(super) fn pad(text: &str) -> String {
    let padding = (4 - text.len() % 4) % 4;
    format!("{text}{}", "=".repeat(padding))
}

/// What can be read in a state without a key; `known` are texts of the call that would tell that it
/// is the call's.
pub(super) fn readable(state: &str, known: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |bytes: &[u8]| {
        let shown = text_in(bytes).or_else(|| {
            let known = known
                .iter()
                .find(|known| contains(bytes, known.as_bytes()))?;
            Some(known.clone())
        });
        found.extend(shown);
    };
    let is_known = known.iter().any(|known| state.contains(known.as_str()));
    if is_known || is_document(state) || is_plain(state) {
        look(state.as_bytes());
    }
    let percent: Vec<u8> = percent_decode_str(state).collect();
    if percent != state.as_bytes() {
        look(&percent);
    }
    for piece in std::iter::once(state).chain(pieces(state)) {
        if let Some((_, bytes)) = decode(piece) {
            look(&bytes);
        }
    }
    found.dedup();
    found
}

/// Whether a state is written in the clear: it has what neither hex nor Base64 has.
fn is_document(state: &str) -> bool {
    let marks = state
        .chars()
        .filter(|c| " {}\"=&;,<>\n".contains(*c))
        .count();
    let padding = state.len() - state.trim_end_matches('=').len();
    marks - padding.min(marks) >= 2
}

/// Whether a state is a few words and small numbers, such as `step:2` or `awaitingConfirm`: what is
/// random looks otherwise.
pub(super) fn is_plain(state: &str) -> bool {
    let parts: Vec<_> = state
        .split(['-', '_', ':', '.', '/', ' ', '|', '=', '&', ','])
        .collect();
    let is_part = |part: &&str| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &part[word.len()..];
        number.len() <= 6 && (word.is_empty() || is_words(word))
    };
    let says = |part: &&str| part.len() >= 3 && part.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_number =
        !state.is_empty() && state.len() <= 6 && state.bytes().all(|b| b.is_ascii_digit());
    is_number || (parts.iter().all(is_part) && parts.iter().any(says))
}

/// Whether letters are words as people write them: `step`, `STEP`, `nextStep`.
fn is_words(letters: &str) -> bool {
    if !letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    let is_word = |word: &str| {
        (2..=14).contains(&word.len()) && word.contains(['a', 'e', 'i', 'o', 'u', 'y'])
    };
    let lower = letters.to_ascii_lowercase();
    if lower == letters || letters.to_ascii_uppercase() == letters {
        return is_word(&lower);
    }
    let mut words = vec![String::new()];
    for letter in letters.chars() {
        if letter.is_ascii_uppercase() && !words.last().is_some_and(String::is_empty) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words.iter().all(|word| is_word(word)) && letters.len() >= 3 * words.len()
}

/// Text, if that is what bytes are; or the longest run of it.
pub(super) fn text_in(bytes: &[u8]) -> Option<String> {
    let is_text = |text: &str| text.chars().all(|c| !c.is_control() || c.is_whitespace());
    if let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| is_text(text)) {
        return (text.len() >= TEXT || is_plain(text)).then(|| text.to_owned());
    }
    let runs = bytes.split(|byte| !(0x20..0x7f).contains(byte));
    let longest = runs.max_by_key(|run| run.len())?;
    (longest.len() >= RUN).then(|| String::from_utf8_lossy(longest).into_owned())
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What no key is needed for, and what one is.
    const SEALED: &str =
        "AQAAQG40C5z_s3qYnKVE5rt4Cix4kB0_szc4doURowYXr6AdS_USLzRFVMU73i67jNK349FgCtYxw4Wl18ziPA";

    fn encoded(text: &str) -> String {
        URL_SAFE.encode(text)
    }

    #[test]
    fn what_is_in_the_clear_is_read_and_what_is_sealed_is_not() {
        let none: [String; 0] = [];
        assert_eq!(readable(SEALED, &none), none);
        assert_eq!(readable("4f2a99d01b7c", &none), none);
        let state = encoded(r#"{"user":"ada"}"#);
        assert_eq!(readable(&state, &none), [r#"{"user":"ada"}"#]);
        assert_eq!(readable(&format!("{state}.AAAA"), &none).len(), 1);
        assert_eq!(readable(r#"{"user":"ada"}"#, &none), [r#"{"user":"ada"}"#]);
        assert_eq!(readable("%7B%22a%22%3A%22bcdef%22%7D", &none).len(), 1);
        assert_eq!(readable("step2-Dune", &["Dune".to_owned()]), ["step2-Dune"]);
        for plain in [
            "step2",
            "awaiting_confirmation",
            "nextStep",
            "17",
            "step:2",
            "order-7",
        ] {
            assert_eq!(readable(plain, &none), [plain]);
            assert_eq!(readable(&encoded(plain), &none), [plain]);
        }
        for random in [
            "kT9xQz",
            "2f9c1e07",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "V1StGXR8_Z5jdHi6B-myT",
        ] {
            assert_eq!(readable(random, &none), none, "{random}");
        }
    }
}

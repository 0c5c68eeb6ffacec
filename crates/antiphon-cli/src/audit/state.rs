//! A `requestState` as an attacker writes it: changed, cut, extended, or written otherwise.

use serde_json::{Value, json};

use super::{
    reading::{Spelling, decode, is_hex, is_plain, pad, pieces, text_in},
    values,
};

/// A changed state, and what was done to it.
pub(super) type Variant = (String, String);

/// The characters of Base64, the six bits of each being its place.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Where a piece begins in its state.
fn place(state: &str, piece: &str) -> usize {
    piece.as_ptr() as usize - state.as_ptr() as usize
}

/// The state with something else in the place of a piece.
fn instead(state: &str, piece: &str, other: &str) -> String {
    let at = place(state, piece);
    format!("{}{other}{}", &state[..at], &state[at + piece.len()..])
}

/// One thing changed: a character here and there, or a value that can be read.
pub(super) fn tampered(state: &str) -> Vec<Variant> {
    let mut variants = Vec::new();
    for piece in pieces(state) {
        variants.extend(rewritten(state, piece));
    }
    variants.truncate(MOST_VALUES);
    let characters: Vec<char> = state.chars().collect();
    for at in places(state, characters.len()) {
        let mut changed = characters.clone();
        changed[at] = swapped(changed[at], is_in_hex(state, at));
        let what = format!("character {} of {} changed", at + 1, characters.len());
        variants.push((what, changed.into_iter().collect()));
    }
    variants
}

/// Whether the character at a place is one of a piece in hex.
fn is_in_hex(state: &str, at: usize) -> bool {
    let mut pieces = pieces(state).into_iter();
    pieces.any(|piece| {
        let start = state[..place(state, piece)].chars().count();
        is_hex(piece) && (start..start + piece.len()).contains(&at)
    })
}

/// How a document is written in a state.
#[derive(Debug, Clone, Copy)]
enum Written {
    AsItIs,
    Encoded { spelling: Spelling, is_padded: bool },
}

impl Written {
    /// The document in a piece, and how it is written there.
    fn read(piece: &str) -> Option<(Value, Self)> {
        let is_document = |value: &Value| value.is_object() || value.is_array();
        if let Some(document) = serde_json::from_str(piece).ok().filter(is_document) {
            return Some((document, Self::AsItIs));
        }
        let (spelling, bytes) = decode(piece)?;
        let document = serde_json::from_slice(&bytes).ok().filter(is_document)?;
        let is_padded = piece.ends_with('=');
        Some((
            document,
            Self::Encoded {
                spelling,
                is_padded,
            },
        ))
    }

    fn write(self, document: &Value) -> String {
        let text = document.to_string();
        match self {
            Self::AsItIs => text,
            Self::Encoded {
                spelling,
                is_padded,
            } => spelling.encode(text.as_bytes(), is_padded),
        }
    }
}

/// The state with each value changed that can be read in a piece, and written as it was.
fn rewritten(state: &str, piece: &str) -> Vec<Variant> {
    let Some((document, written)) = Written::read(piece) else {
        return counted(state, piece);
    };
    let mut variants = Vec::new();
    for pointer in leaves(&document).into_iter().take(6) {
        let mut changed = document.clone();
        let Some(leaf) = changed.pointer_mut(&pointer) else {
            continue;
        };
        let Some(other) = values::another(&Value::Null, leaf) else {
            continue;
        };
        *leaf = other;
        let what = format!("the value {pointer} changed");
        variants.push((what, instead(state, piece, &written.write(&changed))));
    }
    // A token that says that it is not signed.
    let signed: Vec<_> = state.split('.').collect();
    if let (Some(_), [header, payload, _]) = (document.get("alg"), &signed[..])
        && *header == piece
    {
        let unsigned = written.write(&json!({"alg": "none", "typ": "JWT"}));
        let variant = format!("{unsigned}.{payload}.");
        variants.push(("made a token that is not signed".to_owned(), variant));
    }
    variants
}

/// The state with the numbers changed of a piece that is plain text: `step2` may be `step3`.
fn counted(state: &str, piece: &str) -> Vec<Variant> {
    let (text, written) = match decode(piece) {
        _ if is_plain(piece) => (piece.to_owned(), None),
        Some((spelling, bytes)) => match text_in(&bytes) {
            Some(text) if text.as_bytes() == bytes => (text, Some(spelling)),
            _ => return Vec::new(),
        },
        None => return Vec::new(),
    };
    let is_padded = piece.ends_with('=');
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<_> = numbers.filter(|number| !number.is_empty()).collect();
    let mut variants = Vec::new();
    for number in numbers.into_iter().take(3) {
        let Ok(value) = number.parse::<u64>() else {
            continue;
        };
        for other in [value.checked_add(1), value.checked_sub(1)]
            .into_iter()
            .flatten()
        {
            let changed = instead(&text, number, &other.to_string());
            let changed = match written {
                Some(spelling) => spelling.encode(changed.as_bytes(), is_padded),
                None => changed,
            };
            let what = format!("the number {number} made {other}");
            variants.push((what, instead(state, piece, &changed)));
        }
    }
    variants
}

/// The places of all values in a document that hold no others.
fn leaves(document: &Value) -> Vec<String> {
    let mut leaves = Vec::new();
    let mut open = vec![(String::new(), document)];
    while let Some((pointer, value)) = open.pop() {
        match value {
            Value::Object(members) => open.extend(members.iter().map(|(name, member)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                (format!("{pointer}/{name}"), member)
            })),
            Value::Array(list) => {
                let members = list.iter().enumerate();
                open.extend(members.map(|(at, member)| (format!("{pointer}/{at}"), member)));
            }
            Value::Null => {}
            _ => leaves.push(pointer),
        }
    }
    leaves.reverse();
    leaves
}

/// Which characters are changed: at the begin, where a version, a key id and a nonce may be, within
/// the body, where a tag may be, at the end, and in each piece.
fn places(state: &str, length: usize) -> Vec<usize> {
    let mut places = vec![0, 3, 7, 14, 22, length / 4, length / 2, length * 3 / 4];
    let from_end = [24, 12, 4, 1];
    places.extend(from_end.iter().filter_map(|by| length.checked_sub(*by)));
    for piece in pieces(state) {
        let start = state[..place(state, piece)].chars().count();
        let count = piece.chars().count();
        places.extend([start, start + count / 2, (start + count).saturating_sub(1)]);
    }
    places.retain(|at| *at < length);
    places.sort_unstable();
    places.dedup();
    thinned(&places)
}

/// A state of many pieces has enough places without all of them: evenly many, and both ends.
fn thinned(places: &[usize]) -> Vec<usize> {
    let count = places.len().min(MOST_CHARACTERS);
    let last = places.len().saturating_sub(1);
    let at = |number: usize| places[number * last / count.saturating_sub(1).max(1)];
    (0..count).map(at).collect()
}

/// Most characters that are changed, one at a time.
const MOST_CHARACTERS: usize = 20;
/// Most values that are.
const MOST_VALUES: usize = 12;
/// Most variants of one kind.
pub(super) const MOST: usize = MOST_CHARACTERS + MOST_VALUES;

/// Another character of the same alphabet, whose bits differ where they count: the last character of
/// Base64 has some that do not.
fn swapped(character: char, is_hex: bool) -> char {
    if is_hex {
        let digit = character.to_digit(16).unwrap_or(0);
        return char::from_digit(digit ^ 8, 16).unwrap_or('0');
    }
    let digit = match character {
        '+' => Some(62),
        '/' => Some(63),
        _ => DIGITS
            .iter()
            .position(|digit| char::from(*digit) == character),
    };
    match digit {
        Some(digit) => char::from(DIGITS[digit ^ 32]),
        // Between pieces, or within text.
        None if character == '.' => '~',
        None => '.',
    }
}

/// Cut at the end.
pub(super) fn truncated(state: &str) -> Vec<Variant> {
    let characters: Vec<char> = state.chars().collect();
    let length = characters.len();
    let mut variants: Vec<Variant> = [1, 4, 16, length / 2, length]
        .into_iter()
        .filter(|by| (1..=length).contains(by))
        .map(|by| {
            let what = match by == length {
                true => "nothing left".to_owned(),
                false => format!("{by} characters cut off"),
            };
            (what, characters[..length - by].iter().collect())
        })
        .collect();
    if let (pieces @ 2.., Some(last)) = (pieces(state).len(), pieces(state).last()) {
        let head = &state[..place(state, last)];
        let what = format!("the last of {pieces} parts cut off");
        variants.push((what, head.to_owned()));
        variants.push((
            "its separator, too".to_owned(),
            head[..head.len() - 1].to_owned(),
        ));
    }
    variants.dedup_by(|one, another| one.1 == another.1);
    variants
}

/// More at either end.
pub(super) fn extended(state: &str) -> Vec<Variant> {
    [
        ("a character more", format!("{state}A")),
        ("four characters more", format!("{state}AAAA")),
        ("a second copy behind it", format!("{state}{state}")),
        ("a part more", format!("{state}.AAAA")),
        ("a character before it", format!("A{state}")),
        ("four characters before it", format!("AAAA{state}")),
    ]
    .map(|(what, variant)| (what.to_owned(), variant))
    .into()
}

/// The same bytes, written otherwise.
pub(super) fn respelled(state: &str) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    let mut add = |what: &str, variant: String| {
        if variant != state {
            variants.push((what.to_owned(), variant));
        }
    };
    add("white space before it", format!(" {state}"));
    add("white space behind it", format!("{state} "));
    add("a line break behind it", format!("{state}\n"));
    for piece in pieces(state) {
        if let Ok(document @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(piece) {
            let document: Value = document;
            let pretty = serde_json::to_string_pretty(&document).unwrap_or_default();
            add("JSON with white space", instead(state, piece, &pretty));
            continue;
        }
        match decode(piece) {
            // A short one is a version or a name, and its spelling is its own.
            Some(_) if piece.len() < 6 => {}
            Some((Spelling::Hex, _)) => {
                add(
                    "capital digits",
                    instead(state, piece, &piece.to_ascii_uppercase()),
                );
                add(
                    "small digits",
                    instead(state, piece, &piece.to_ascii_lowercase()),
                );
            }
            Some((_, _)) => {
                let bare = piece.trim_end_matches('=');
                add("without padding", instead(state, piece, bare));
                add("with padding", instead(state, piece, &pad(bare)));
                let standard = piece.replace('-', "+").replace('_', "/");
                add("in the other alphabet", instead(state, piece, &standard));
                let url_safe = piece.replace('+', "-").replace('/', "_");
                add("in the other alphabet", instead(state, piece, &url_safe));
                if let Some(loose) = loose(bare) {
                    let padding = &piece[bare.len()..];
                    add(
                        "other bits that do not count",
                        instead(state, piece, &(loose + padding)),
                    );
                }
            }
            None => {}
        }
    }
    if let Some(first) = state.chars().next().filter(char::is_ascii) {
        let encoded = format!("%{:02X}{}", u32::from(first), &state[1..]);
        add("a character as %XX", encoded);
    }
    variants
}

/// The same bytes with other bits at the end, where the last character has more than are needed.
fn loose(piece: &str) -> Option<String> {
    let spare = match piece.len() % 4 {
        2 => 0b1111,
        3 => 0b11,
        _ => return None,
    };
    let last = piece.chars().next_back()?;
    let digit = DIGITS.iter().position(|digit| char::from(*digit) == last)?;
    let other = char::from(DIGITS[digit ^ (1 & spare)]);
    let head = &piece[..piece.len() - 1];
    Some(format!("{head}{other}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use base64::Engine;

    use super::*;
    use crate::audit::reading::{STANDARD, URL_SAFE};

    /// What no key is needed for, and what one is.
    const SEALED: &str =
        "AQAAQG40C5z_s3qYnKVE5rt4Cix4kB0_szc4doURowYXr6AdS_USLzRFVMU73i67jNK349FgCtYxw4Wl18ziPA";

    fn encoded(text: &str) -> String {
        URL_SAFE.encode(text)
    }

    #[test]
    fn every_variant_is_another_text_and_tampering_changes_the_bytes() {
        let signed = format!(
            "{}.{}",
            encoded(r#"{"user":"ada","n":1}"#),
            "0123456789abcdef"
        );
        for state in [SEALED, &signed, r#"{"step":1}"#, "a", "4f2a99d01b"] {
            let all = [
                tampered(state),
                truncated(state),
                extended(state),
                respelled(state),
            ];
            let mut seen = HashSet::new();
            for (what, variant) in all.iter().flatten() {
                assert_ne!(variant, state, "{what}");
                seen.insert(variant);
            }
            assert!(seen.len() > 6, "{state}: {seen:?}");
        }
        let bytes = URL_SAFE.decode(SEALED).expect("Base64");
        for (what, variant) in tampered(SEALED) {
            assert_ne!(
                URL_SAFE.decode(&variant).ok(),
                Some(bytes.clone()),
                "{what}"
            );
        }
    }

    #[test]
    fn spellings_are_of_the_same_bytes() {
        let bytes = URL_SAFE.decode(SEALED).expect("Base64");
        let same = respelled(SEALED).into_iter().filter(|(_, variant)| {
            let plain: String = variant.chars().filter(|c| !c.is_whitespace()).collect();
            [URL_SAFE.decode(&plain), STANDARD.decode(&plain)].contains(&Ok(bytes.clone()))
        });
        assert!(same.count() >= 5);
        let hex: Vec<_> = respelled("4f2a99d0")
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        assert!(hex.contains(&"4F2A99D0".to_owned()), "{hex:?}");
    }

    #[test]
    fn values_are_changed_and_written_as_they_were() {
        let state = encoded(r#"{"user":"ada"}"#);
        let changed = tampered(&state)
            .into_iter()
            .find(|(what, _)| what.contains("/user"));
        let (_, changed) = changed.expect("the user is another");
        assert_eq!(
            URL_SAFE.decode(changed).expect("Base64"),
            br#"{"user":"adx"}"#
        );
    }

    #[test]
    fn a_token_is_robbed_of_its_signature() {
        let token = format!(
            "{}.{}.c2ln",
            encoded(r#"{"alg":"HS256"}"#),
            encoded(r#"{"n":1}"#)
        );
        let unsigned = tampered(&token)
            .into_iter()
            .find(|(what, _)| what.contains("not signed"));
        let (_, unsigned) = unsigned.expect("one");
        assert!(unsigned.ends_with('.'), "{unsigned}");
        let cut: Vec<_> = truncated(&token)
            .into_iter()
            .map(|(what, _)| what)
            .collect();
        assert!(cut.iter().any(|what| what.contains("parts")), "{cut:?}");
    }

    /// Where a number says how far a call is, the next one is tried.
    #[test]
    fn numbers_in_plain_text_are_changed() {
        let variants = |state: &str| -> HashSet<String> {
            tampered(state)
                .into_iter()
                .map(|(_, variant)| variant)
                .collect()
        };
        assert!(variants("step2").contains("step3") && variants("step2").contains("step1"));
        assert!(variants("2").contains("3"));
        let encoded_step = encoded("step:2");
        assert!(variants(&encoded_step).contains(&encoded("step:3")));
    }

    /// Also of a state of many parts the end is changed, where a tag is.
    #[test]
    fn every_part_is_tampered_with() {
        for count in 1..9 {
            let piece = &SEALED[..30];
            let state = vec![piece; count].join(".");
            let changed: Vec<_> = tampered(&state)
                .iter()
                .filter_map(|(_, variant)| {
                    let mut pairs = state.bytes().zip(variant.bytes());
                    pairs.position(|(one, other)| one != other)
                })
                .collect();
            for at in 0..count {
                let part = at * 31..at * 31 + 30;
                assert!(
                    changed.iter().any(|place| part.contains(place)),
                    "{at} of {count}"
                );
            }
            assert!(changed.contains(&0) && changed.contains(&(state.len() - 1)));
            assert!(tampered(&state).len() <= MOST);
        }
    }
}

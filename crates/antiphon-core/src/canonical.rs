//! One spelling for every JSON value: two texts have the same canonical form exactly if they say
//! the same, whatever the order of members, the whitespace, the escapes and the form of numbers.
//!
//! | value | canonical form |
//! |---|---|
//! | `null`, `true`, `false` | `n`, `t`, `f` |
//! | number | `#`, `-` if negative, its digits from the first to the last that is not zero, `e`, the power of ten, `;` |
//! | string | `s`, how many bytes of UTF-8 it has, `:`, these bytes |
//! | array | `[`, the items, `]` |
//! | object | `{`, each name (as a string) and value, in the order of the names' bytes, `}` |
//!
//! Numbers are exact decimals: `1`, `1.0` and `10e-1` are `#1e0;`, 120 is `#12e1;`, every zero is
//! `#0e0;`. Where the exponent, as written or in the result, is beyond 64 bits, the number stands
//! as it was spelt between `~` and `;`, and other spellings of it differ. Strings are not normalised.

use std::{cmp::Ordering, fmt};

use crate::negotiate::shown;

/// Most levels of arrays and objects.
const LEVELS: usize = 128;

/// Appends the canonical form of one JSON text.
///
/// # Errors
/// When it has none; `out` is then as it was.
///
/// # Example
/// ```
/// use antiphon_core::canonical::canonical;
///
/// let (mut one, mut other) = (Vec::new(), Vec::new());
/// canonical(r#"{"copies":2,"title":"Emma"}"#, &mut one)?;
/// canonical(r#"{ "title": "\u0045mma", "copies": 2.0 }"#, &mut other)?;
/// assert_eq!(one, other);
/// assert_eq!(one, b"{s6:copies#2e0;s5:titles4:Emma}");
/// # Ok::<(), antiphon_core::canonical::Ambiguous>(())
/// ```
pub fn canonical(json: &str, out: &mut Vec<u8>) -> Result<(), Ambiguous> {
    let before = out.len();
    // Enough for most, with room to put members in order.
    out.reserve(2 * json.len());
    let mut reader = Reader {
        text: json,
        at: 0,
        out,
        members: Vec::new(),
        scratch: Vec::new(),
        fault: None,
    };
    let fault = match reader.whole() {
        Ok(()) => reader.fault,
        Err(Broken::NotJson) => Some(Ambiguous::NotJson),
        Err(Broken::TooDeep) => Some(Ambiguous::TooDeep),
    };
    match fault {
        None => Ok(()),
        Some(fault) => {
            out.truncate(before);
            Err(fault)
        }
    }
}

/// Why a JSON text has no canonical form.
///
/// `NotJson` goes before what else may be wrong, but nothing is read beyond `TooDeep`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ambiguous {
    /// An object has two members of this name.
    Repeated(String),
    /// A string has half of a surrogate pair, which is no character.
    Surrogate,
    /// There are more than 128 levels of arrays and objects.
    TooDeep,
    /// It is not exactly one JSON text.
    NotJson,
}

impl fmt::Display for Ambiguous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated(name) => {
                write!(f, "the name `{}` stands twice in one object", shown(name))
            }
            Self::Surrogate => f.write_str("a string has half of a surrogate pair"),
            Self::TooDeep => write!(f, "it is nested deeper than {LEVELS} levels"),
            Self::NotJson => f.write_str("it is not JSON"),
        }
    }
}

impl std::error::Error for Ambiguous {}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    out: &'a mut Vec<u8>,
    /// The members so far of all objects that are open and have more than a few, innermost last.
    members: Vec<Member>,
    /// A string with escapes, decoded.
    scratch: Vec<u8>,
    /// The first thing wrong in what is JSON so far.
    fault: Option<Ambiguous>,
}

/// So many members of an object are noted on the stack.
const FEW: usize = 6;

/// Where a member was written.
#[derive(Clone, Copy, Default)]
struct Member {
    begin: usize,
    /// The bytes of its name.
    name: (usize, usize),
    end: usize,
}

impl Member {
    fn name<'o>(&self, out: &'o [u8]) -> &'o [u8] {
        &out[self.name.0..self.name.1]
    }
}

/// What is not read any further; small, for it is handed up often.
#[derive(Clone, Copy)]
enum Broken {
    NotJson,
    TooDeep,
}

impl<'a> Reader<'a> {
    fn whole(&mut self) -> Result<(), Broken> {
        self.value(0)?;
        self.space();
        if self.at < self.text.len() {
            return Err(Broken::NotJson);
        }
        Ok(())
    }

    /// Reads a value inside of so many others.
    fn value(&mut self, depth: usize) -> Result<(), Broken> {
        self.space();
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'{' | b'[') if depth == LEVELS => Err(Broken::TooDeep),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(Broken::NotJson),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Broken> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(Broken::NotJson);
        }
        self.at += word.len();
        self.out.push(word.as_bytes()[0]);
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<(), Broken> {
        self.at += 1;
        self.out.push(b'[');
        self.space();
        if !self.eat(b']') {
            loop {
                self.value(depth)?;
                if self.ends(b']')? {
                    break;
                }
            }
        }
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<(), Broken> {
        self.at += 1;
        self.out.push(b'{');
        let (start, first) = (self.out.len(), self.members.len());
        self.space();
        if !self.eat(b'}') {
            let mut few = [Member::default(); FEW];
            let (mut count, mut ordered) = (0, true);
            let mut last = Member::default();
            loop {
                let mut member = self.name()?;
                ordered &= count == 0
                    || compare(last.name(self.out), member.name(self.out)) == Ordering::Less;
                self.value(depth)?;
                member.end = self.out.len();
                last = member;
                match few.get_mut(count) {
                    Some(place) => *place = member,
                    None => self.one_of_many(&few[..], count, member),
                }
                count += 1;
                if self.ends(b'}')? {
                    break;
                }
            }
            if !ordered {
                match few.get_mut(..count) {
                    Some(members) => order(members, start, self.out, &mut self.fault),
                    None => order(&mut self.members[first..], start, self.out, &mut self.fault),
                }
            }
            self.members.truncate(first);
        }
        self.out.push(b'}');
        Ok(())
    }

    /// Notes the member that comes after `count` others, more than a few.
    #[cold]
    fn one_of_many(&mut self, few: &[Member], count: usize, member: Member) {
        if count == few.len() {
            self.members.extend_from_slice(few);
        }
        self.members.push(member);
    }

    /// Reads the name of a member and the colon.
    fn name(&mut self) -> Result<Member, Broken> {
        self.space();
        if self.peek() != Some(b'"') {
            return Err(Broken::NotJson);
        }
        let begin = self.out.len();
        let start = self.string()?;
        self.space();
        if !self.eat(b':') {
            return Err(Broken::NotJson);
        }
        let end = self.out.len();
        Ok(Member {
            begin,
            name: (start, end),
            end,
        })
    }

    /// Reads a string from its quote on, and says where its bytes, up to the end, were written.
    fn string(&mut self) -> Result<usize, Broken> {
        self.at += 1;
        match self.rest().first_chunk() {
            Some(window) => match closes(window) {
                Some(length) => {
                    self.at += length + 1;
                    Ok(write_short(window, length, self.out))
                }
                None => self.any_string(),
            },
            None => self.any_string(),
        }
    }

    /// The same from behind the quote, for a string of any length, with escapes or without.
    fn any_string(&mut self) -> Result<usize, Broken> {
        let run = self.run()?;
        if self.eat(b'"') {
            return Ok(write_string(run, self.out));
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(run);
        while !self.eat(b'"') {
            self.escape()?;
            let run = self.run()?;
            self.scratch.extend_from_slice(run);
        }
        Ok(write_string(&self.scratch, self.out))
    }

    /// The bytes up to the next quote or backslash.
    fn run(&mut self) -> Result<&'a [u8], Broken> {
        let rest = self.rest();
        let end = memchr::memchr2(b'"', b'\\', rest).ok_or(Broken::NotJson)?;
        let run = &rest[..end];
        // Without an early end, so that it is vectorised.
        if run.iter().fold(false, |bad, byte| bad | (*byte < b' ')) {
            return Err(Broken::NotJson);
        }
        self.at += end;
        Ok(run)
    }

    /// Decodes an escape into the scratch buffer.
    fn escape(&mut self) -> Result<(), Broken> {
        self.at += 1;
        let byte = match self.next()? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode(),
            _ => return Err(Broken::NotJson),
        };
        self.scratch.push(byte);
        Ok(())
    }

    /// Decodes what follows `\u`: a character, or half of one with the other half behind it.
    fn unicode(&mut self) -> Result<(), Broken> {
        let mut code = self.unit()?;
        if (0xd800..0xdc00).contains(&code) && self.rest().starts_with(b"\\u") {
            self.at += 2;
            if let low @ 0xdc00..0xe000 = self.unit()? {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        match char::from_u32(code) {
            Some(char) => {
                let utf8 = &mut [0; 4];
                let char = char.encode_utf8(utf8);
                self.scratch.extend_from_slice(char.as_bytes());
            }
            None => {
                self.fault.get_or_insert(Ambiguous::Surrogate);
            }
        }
        Ok(())
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Result<u32, Broken> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = char::from(self.next()?).to_digit(16);
            unit = unit << 4 | digit.ok_or(Broken::NotJson)?;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Result<(), Broken> {
        let start = self.at;
        let negative = self.eat(b'-');
        let whole = self.digits()?;
        if whole.len() > 1 && whole.starts_with('0') {
            return Err(Broken::NotJson);
        }
        let fraction = if self.eat(b'.') { self.digits()? } else { "" };
        let exponent = if self.eat(b'e') || self.eat(b'E') {
            self.exponent()?
        } else {
            Some(0)
        };
        let fraction = fraction.trim_end_matches('0');
        let (digits, more, shift) = match (whole, fraction) {
            (_, "") => {
                let digits = whole.trim_end_matches('0');
                (digits, "", (whole.len() - digits.len()) as i64)
            }
            ("0", _) => (fraction.trim_start_matches('0'), "", last_power(fraction)),
            _ => (whole, fraction, last_power(fraction)),
        };
        if digits.is_empty() {
            self.out.extend_from_slice(b"#0e0;");
            return Ok(());
        }
        let Some(power) = exponent.and_then(|exponent| exponent.checked_add(shift)) else {
            self.out.push(b'~');
            self.out
                .extend_from_slice(&self.text.as_bytes()[start..self.at]);
            self.out.push(b';');
            return Ok(());
        };
        self.out
            .extend_from_slice(if negative { b"#-" } else { b"#" });
        self.out.extend_from_slice(digits.as_bytes());
        self.out.extend_from_slice(more.as_bytes());
        self.out
            .extend_from_slice(if power < 0 { b"e-" } else { b"e" });
        write_decimal(power.unsigned_abs(), self.out);
        self.out.push(b';');
        Ok(())
    }

    /// What follows the `e` of a number; `None` if it is beyond 64 bits.
    fn exponent(&mut self) -> Result<Option<i64>, Broken> {
        let start = self.at;
        let _sign = self.eat(b'+') || self.eat(b'-');
        self.digits()?;
        Ok(self.text[start..self.at].parse().ok())
    }

    /// One decimal digit or more.
    fn digits(&mut self) -> Result<&'a str, Broken> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        match &self.text[start..self.at] {
            "" => Err(Broken::NotJson),
            digits => Ok(digits),
        }
    }

    /// Whether a list of items ends here; if not, there is another.
    fn ends(&mut self, close: u8) -> Result<bool, Broken> {
        self.space();
        match self.next()? {
            b',' => Ok(false),
            byte if byte == close => Ok(true),
            _ => Err(Broken::NotJson),
        }
    }

    fn space(&mut self) {
        while let Some(byte) = self.peek()
            && byte <= b' '
            && matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
        {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn next(&mut self) -> Result<u8, Broken> {
        let byte = self.peek().ok_or(Broken::NotJson)?;
        self.at += 1;
        Ok(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }
}

/// The power of ten of the last digit of a fraction. No text is so long that it does not fit.
fn last_power(fraction: &str) -> i64 {
    -(fraction.len() as i64)
}

/// Puts the members of the object that was written from `start` on in order.
fn order(members: &mut [Member], start: usize, out: &mut Vec<u8>, fault: &mut Option<Ambiguous>) {
    members.sort_unstable_by(|a, b| compare(a.name(out), b.name(out)));
    if let Some(twins) = members
        .windows(2)
        .find(|two| two[0].name(out) == two[1].name(out))
    {
        let name = String::from_utf8_lossy(twins[0].name(out)).into_owned();
        fault.get_or_insert(Ambiguous::Repeated(name));
        return;
    }
    // Once more behind, in order, and from there back to where they belong.
    let end = out.len();
    out.reserve(end - start);
    for member in members {
        out.extend_from_within(member.begin..member.end);
    }
    out.copy_within(end.., start);
    out.truncate(end);
}

/// Compares two names; mostly the first byte tells.
fn compare(one: &[u8], other: &[u8]) -> Ordering {
    match (one.first(), other.first()) {
        (Some(a), Some(b)) if a != b => a.cmp(b),
        _ => one.cmp(other),
    }
}

/// What a short string is looked for in: itself, the quote and what follows.
type Window = [u8; 16];

/// Where a string closes that begins with the window, if that is in the window, and nothing before
/// it needs a closer look.
fn closes(window: &Window) -> Option<usize> {
    let (low, high) = window.split_at(8);
    let word = |half: &[u8]| half.try_into().map_or(0, u64::from_le_bytes);
    let at = match stops(word(low)) {
        0 => 8 + stops(word(high)).trailing_zeros() as usize / 8,
        stops => stops.trailing_zeros() as usize / 8,
    };
    (window.get(at) == Some(&b'"')).then_some(at)
}

/// Has the top bit of the first byte set that is a quote, a backslash or a control character, and
/// none below it.
fn stops(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // Borrows reach only bytes above one that is itself less.
    let less = |word: u64, than: u8| word.wrapping_sub(ONES * u64::from(than)) & !word;
    // With its second bit turned, a quote comes right behind the control characters.
    let quote_or_control = less(word ^ (ONES << 1), b' ' + 1);
    let backslash = less(word ^ (ONES * u64::from(b'\\')), 1);
    (quote_or_control | backslash) & (ONES << 7)
}

/// Writes the first `length` bytes of a window as a string, and says where they are.
fn write_short(window: &Window, length: usize, out: &mut Vec<u8>) -> usize {
    // Copies of known size need no call.
    let mut form = [b's'; 20];
    let head = if length < 10 {
        form[1] = b'0' + length as u8;
        form[2] = b':';
        form[3..19].copy_from_slice(window);
        3
    } else {
        form[1] = b'1';
        form[2] = b'0' + (length % 10) as u8;
        form[3] = b':';
        form[4..].copy_from_slice(window);
        4
    };
    let start = out.len() + head;
    out.extend_from_slice(&form);
    out.truncate(start + length);
    start
}

/// Writes a string, and says where its bytes are.
fn write_string(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    out.push(b's');
    write_decimal(bytes.len() as u64, out);
    out.push(b':');
    let start = out.len();
    out.extend_from_slice(bytes);
    start
}

fn write_decimal(mut number: u64, out: &mut Vec<u8>) {
    if number < 10 {
        out.push(b'0' + number as u8);
        return;
    }
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};
    use serde::de::IgnoredAny;
    use serde_json::{Map, Value, json};

    use super::*;

    fn form(json: &str) -> Result<String, Ambiguous> {
        let mut out = Vec::new();
        canonical(json, &mut out)?;
        Ok(String::from_utf8(out).expect("made of UTF-8"))
    }

    #[test]
    fn every_spelling_of_a_value_has_its_form() {
        let table: &[(&str, &[&str])] = &[
            ("n", &["null", " null\r\n\t"]),
            ("[tf]", &["[true,false]", "[ true , false ]"]),
            (
                "#1e0;",
                &["1", "1.0", "10e-1", "1E0", "1e+0", "0.1e1", "0.001E03"],
            ),
            ("#12e1;", &["120", "12e1", "1.2e2", "120.000", "0.0120e4"]),
            ("#5e-2;", &["0.05", "5e-2", "5E-02", "0.50e-1", "500e-4"]),
            ("#-105e-1;", &["-10.5", "-105e-1", "-0.1050E2"]),
            (
                "#0e0;",
                &[
                    "0",
                    "-0",
                    "0.0",
                    "0e9",
                    "-0.00e-9",
                    "0e99999999999999999999",
                ],
            ),
            (
                "#9007199254740993e0;",
                &["9007199254740993", "9007199254740993.0"],
            ),
            ("#1e400;", &["1e400", "10e399"]),
            (
                "#1e9223372036854775807;",
                &["1e9223372036854775807", "100e009223372036854775805"],
            ),
            (
                "#1e-9223372036854775808;",
                &["1e-9223372036854775808", "0.1e-9223372036854775807"],
            ),
            ("s0:", &[r#""""#]),
            (
                "s12:Pride & joy.",
                &[r#""Pride & joy.""#, r#""Pride \u0026 joy.""#],
            ),
            ("s2:é", &[r#""é""#, r#""\u00e9""#, r#""\u00E9""#]),
            (
                "s4:😀",
                &[r#""😀""#, r#""\ud83d\ude00""#, r#""\uD83D\uDE00""#],
            ),
            (
                "s9:\"\\//\u{8}\u{c}\n\r\t",
                &[
                    r#""\"\\\//\b\f\n\r\t""#,
                    r#""\u0022\u005c/\u002f\u0008\u000c\u000a\u000d\u0009""#,
                ],
            ),
            ("s3:\u{0}\u{7f}x", &["\"\\u0000\u{7f}x\""]),
            ("[]", &["[]", "[ ]"]),
            ("{}", &["{}", "{\n}"]),
            ("[[][[]]]", &["[[],[[]]]"]),
            (
                "{s1:a#1e0;s1:b{s1:xns1:yt}}",
                &[
                    r#"{"a":1,"b":{"x":null,"y":true}}"#,
                    r#"{"b":{"y":true,"x":null},"a":1}"#,
                    r#"{ "\u0062" : { "y" : true , "x" : null } , "\u0061" : 1.0 }"#,
                ],
            ),
            // By bytes: the shorter first, and an emoji behind what UTF-16 puts behind it.
            (
                "{s0:#0e0;s1:B#1e0;s1:a#2e0;s2:aa#3e0;s3:\u{ffee}#4e0;s4:😀#5e0;}",
                &["{\"😀\":5,\"\u{ffee}\":4,\"aa\":3,\"a\":2,\"B\":1,\"\":0}"],
            ),
        ];
        for (expected, spellings) in table {
            for spelling in *spellings {
                assert_eq!(form(spelling).as_deref(), Ok(*expected), "{spelling}");
            }
        }
    }

    #[test]
    fn different_values_have_different_forms() {
        let values = [
            "null",
            "false",
            "true",
            "0",
            "1",
            "-1",
            "10",
            "9007199254740992",
            "9007199254740993",
            "0.1",
            "0.10000000000000001",
            "1e999999999999999999999",
            "1e+999999999999999999999",
            "-1e999999999999999999999",
            "10e9223372036854775807",
            "1e9223372036854775808",
            "0.1e-9223372036854775808",
            r#""""#,
            r#""1""#,
            r#""null""#,
            r#""n""#,
            r#""s1:n""#,
            "\"\u{e9}\"",
            "\"e\u{301}\"",
            r#""E""#,
            "[]",
            "{}",
            "[[]]",
            "[{}]",
            "[null]",
            "[null,null]",
            "[[null],null]",
            "[[null,null]]",
            "[1,2]",
            "[2,1]",
            "[12]",
            r#"["a",1]"#,
            r#"{"a":1}"#,
            r#"[{"a":1}]"#,
            r#"{"a":"1"}"#,
            r#"{"a":null}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":{"b":1}}"#,
            r#"{"a":{},"b":1}"#,
            r#"["ab","c"]"#,
            r#"["a","bc"]"#,
            r#"["as1:b"]"#,
        ];
        for (at, one) in values.iter().enumerate() {
            for other in &values[..at] {
                assert_ne!(form(one).expect(one), form(other).expect(other));
            }
        }
    }

    #[test]
    fn a_number_with_a_vast_exponent_stands_as_spelt() {
        assert_eq!(
            form("-1.50E+9223372036854775808").as_deref(),
            Ok("~-1.50E+9223372036854775808;")
        );
        assert_eq!(
            form("[10e9223372036854775807,1]").as_deref(),
            Ok("[~10e9223372036854775807;#1e0;]")
        );
    }

    #[test]
    fn what_is_ambiguous_is_refused() {
        let repeated = |name: &str| Ambiguous::Repeated(name.into());
        let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let table = [
            (r#"{"a":1,"a":1}"#.into(), repeated("a")),
            (r#"{"b":1,"c":2,"a":3,"\u0063":4}"#.into(), repeated("c")),
            (r#"[1,{"x":[{"":1,"y":2,"":3}]}]"#.into(), repeated("")),
            (r#"{"é":{},"b":2,"\u00e9":[]}"#.into(), repeated("é")),
            (r#""\ud83d""#.into(), Ambiguous::Surrogate),
            (r#""\ude00\ud83d""#.into(), Ambiguous::Surrogate),
            (r#""\ud83d\ud83d\ude00""#.into(), Ambiguous::Surrogate),
            (r#""\ud83dx\ude00""#.into(), Ambiguous::Surrogate),
            (r#"{"\udfff":1}"#.into(), Ambiguous::Surrogate),
            (deep(129), Ambiguous::TooDeep),
            (r#"{"a":"#.repeat(1_000_000), Ambiguous::TooDeep),
            // The first one counts, and what is not JSON counts before.
            (r#"["\ud83d",{"a":1,"a":2}]"#.into(), Ambiguous::Surrogate),
            (r#"[{"a":1,"a":2},"\ud83d"]"#.into(), repeated("a")),
            (r#"[{"a":1,"a":2},"\ud83d""#.into(), Ambiguous::NotJson),
            (r#""\ud83d\u12x4""#.into(), Ambiguous::NotJson),
        ];
        for (json, why) in table {
            assert_eq!(form(&json), Err(why), "{json:.60}");
        }
        assert!(form(&deep(128)).is_ok());
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let words = "nul|nulL|nulll|True|NaN|-Infinity|'a'|é|1é|[1é|/**/1|1//|1 2|]|{";
        let arrays = "[1|[1,|[1,]|[,1]|[1 2]|[}|[1}";
        let objects = r#"{a:1}|{1:1}|{"a"}|{"a":}|{"a":1,}|{"a" 1}|{"a":1 "b":2}|{"a":1]|{,}"#;
        let numbers = "-|+1|01|-01|00|1.|.1|-.1|1.e1|1e|1e+|1e1.0|--1|0x1|1_0";
        let strings = r#""|"a|"\"|"\x"|"\a"|"\0"|"\|"\u"|"\u12"|"\u+123"|"\U0041"|"a"b"#;
        let odd = [
            "",
            " ",
            "\"\n\"",
            "\"a\u{1f}\"",
            "\"\\n\t\"",
            "\u{feff}1",
            "\u{a0}1",
            "1\u{0}",
        ];
        let plain = [words, arrays, objects, numbers, strings];
        let plain = plain.iter().flat_map(|texts| texts.split('|'));
        for text in plain.chain(odd) {
            assert_eq!(form(text), Err(Ambiguous::NotJson), "{text}");
            assert!(serde_json::from_str::<IgnoredAny>(text).is_err(), "{text}");
        }
    }

    /// Short strings are read by words, and the last ones of a text are not.
    #[test]
    fn a_string_of_any_length_is_read_whole_anywhere() {
        for length in 0..120 {
            for filling in [
                "a",
                " ",
                "!",
                "#",
                "[",
                "]",
                "\u{7f}",
                "é",
                "\u{800}",
                "\u{10ffff}",
            ] {
                let text = filling.repeat(length);
                let expected = format!("s{}:{text}", text.len());
                let json = format!("\"{text}\"");
                assert_eq!(form(&json), Ok(expected.clone()), "{json}");
                let json = format!("[\"{text}\",\"{text}\\\\\",1234567890123456789]");
                let escaped = format!("s{}:{text}\\", text.len() + 1);
                let expected = format!("[{expected}{escaped}#1234567890123456789e0;]");
                assert_eq!(form(&json), Ok(expected), "{json}");
            }
        }
    }

    #[test]
    fn a_control_character_is_refused_anywhere() {
        for (length, at) in (1..40).flat_map(|length| (0..length).map(move |at| (length, at))) {
            for control in ['\0', '\u{2}', '\t', '\n', '\u{1f}'] {
                let mut text = "x".repeat(length);
                text.replace_range(at..=at, control.encode_utf8(&mut [0; 4]));
                for json in [format!("\"{text}\""), format!("[\"{text}\",\"{text}\"]")] {
                    assert_eq!(form(&json), Err(Ambiguous::NotJson), "{json:?}");
                }
            }
        }
    }

    #[test]
    fn few_members_and_many_are_put_in_order_alike() {
        for count in 1..3 * FEW {
            let names: Vec<_> = (0..count).map(|at| format!("{at:02}")).collect();
            let written = |name: &String| format!(r#""{name}":{{"b":"{name}","a":[]}}"#);
            let mut members: Vec<_> = names.iter().map(written).collect();
            let sorted = |name: &String| format!("s2:{name}{{s1:a[]s1:bs2:{name}}}");
            let expected = format!("{{{}}}", names.iter().map(sorted).collect::<String>());
            for _ in 0..count {
                members.rotate_left(1);
                let json = format!("{{{}}}", members.join(","));
                assert_eq!(form(&json).as_ref(), Ok(&expected), "{json}");
            }
            for twin in &names {
                let json = format!("{{{},{}}}", members.join(","), written(twin));
                assert_eq!(form(&json), Err(Ambiguous::Repeated(twin.clone())));
            }
        }
    }

    #[test]
    fn what_was_written_before_stays() {
        let mut out = b"before".to_vec();
        canonical(r#"{"b":[],"a":1}"#, &mut out).expect("canonical");
        assert_eq!(out, b"before{s1:a#1e0;s1:b[]}");
        for refused in [r#"{"b":1,"a":1,"b":1}"#, "[1,2", r#"["a","\ud800"]"#] {
            canonical(refused, &mut out).expect_err("ambiguous");
            assert_eq!(out, b"before{s1:a#1e0;s1:b[]}");
        }
    }

    #[test]
    fn reasons_are_told_in_plain_words() {
        let told = |json: &str| form(json).unwrap_err().to_string();
        assert_eq!(
            told(r#"{"a":1,"a":2}"#),
            "the name `a` stands twice in one object"
        );
        assert_eq!(
            told(&"[".repeat(200)),
            "it is nested deeper than 128 levels"
        );
    }

    /// A quadratic way with these would take minutes.
    #[test]
    fn many_members_in_any_order_are_no_burden() {
        let member = |at: usize| format!(r#""{}":{at}"#, at * 7_919 % 100_003);
        let shuffled = |count: usize| (0..count).map(member).collect::<Vec<_>>();
        let mut members = shuffled(100_000);
        let one = form(&format!("{{{}}}", members.join(","))).expect("canonical");
        members.reverse();
        let other = form(&format!("{{{}}}", members.join(","))).expect("canonical");
        assert_eq!(one, other);

        members.push(member(0));
        let twice = form(&format!("{{{}}}", members.join(",")));
        assert_eq!(twice, Err(Ambiguous::Repeated("0".into())));

        let leaf = format!("{{{}}}", shuffled(10_000).join(","));
        let nested = (1..LEVELS).fold(leaf, |inner, _| format!(r#"{{"b":0,"a":{inner}}}"#));
        assert!(form(&nested).is_ok());
    }

    /// Throws of a dice that are the same for the same seed.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, sides: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 20) as usize % sides
        }
    }

    /// Any spelling of a value.
    fn respell(value: &Value, dice: &mut Dice) -> String {
        let spelt = match value {
            Value::Number(number) => respell_number(&number.to_string(), dice),
            Value::String(text) => respell_string(text, dice),
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| respell(item, dice)).collect();
                format!("[{}]", respell_list(&items, dice))
            }
            Value::Object(map) => {
                let mut members: Vec<_> = map.iter().collect();
                for at in (1..members.len()).rev() {
                    members.swap(at, dice.below(at + 1));
                }
                let member = |(name, value): (&String, &Value)| {
                    let name = respell_string(name, dice);
                    format!("{name}{}:{}", blank(dice), respell(value, dice))
                };
                let members: Vec<_> = members.into_iter().map(member).collect();
                format!("{{{}}}", respell_list(&members, dice))
            }
            word => word.to_string(),
        };
        format!("{}{spelt}{}", blank(dice), blank(dice))
    }

    fn respell_list(items: &[String], dice: &mut Dice) -> String {
        let comma = format!("{},{}", blank(dice), blank(dice));
        format!("{}{}", blank(dice), items.join(&comma))
    }

    fn blank(dice: &mut Dice) -> &'static str {
        ["", "", " ", "\n", "\t \r\n"][dice.below(5)]
    }

    fn respell_string(text: &str, dice: &mut Dice) -> String {
        let mut spelt = String::from('"');
        for char in text.chars() {
            if dice.below(3) == 0 {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    spelt += &format!("\\u{unit:04x}");
                }
            } else {
                let plain = serde_json::to_string(&char).expect("a string");
                spelt += &plain[1..plain.len() - 1];
            }
        }
        spelt + "\""
    }

    /// Moves the point of a number about, with zeros at either end.
    fn respell_number(text: &str, dice: &mut Dice) -> String {
        let (sign, text) = text
            .strip_prefix('-')
            .map_or(("", text), |text| ("-", text));
        let (mantissa, power) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let power: i64 = power.parse().expect("a power");
        let zeros = dice.below(4);
        let digits = format!("{whole}{fraction}{}", "0".repeat(zeros));
        let digits = digits.trim_start_matches('0');
        let power = power - (fraction.len() + zeros) as i64;
        let point = dice.below(digits.len() + 1);
        let (whole, fraction) = digits.split_at(point);
        let power = power + fraction.len() as i64;
        let whole = if whole.is_empty() { "0" } else { whole };
        let point = if fraction.is_empty() { "" } else { "." };
        let e = ["e", "E"][dice.below(2)];
        match dice.below(3) {
            _ if power != 0 => format!("{sign}{whole}{point}{fraction}{e}{power}"),
            0 => format!("{sign}{whole}{point}{fraction}{e}+00"),
            _ => format!("{sign}{whole}{point}{fraction}"),
        }
    }

    /// Changes one value or name inside; says whether there was a place with this number.
    fn change(value: &mut Value, place: &mut usize) -> bool {
        if *place > 0 {
            *place -= 1;
            return match value {
                Value::Array(items) => items.iter_mut().any(|item| change(item, place)),
                Value::Object(map) => map.values_mut().any(|value| change(value, place)),
                _ => false,
            };
        }
        match value {
            Value::Null => *value = json!(false),
            Value::Bool(bool) => *bool = !*bool,
            Value::Number(number) => {
                *value = match (number.as_i64(), number.as_u64()) {
                    (Some(number), _) => json!(number.wrapping_add(1)),
                    (_, Some(number)) => json!(number - 1),
                    _ => json!(number.as_f64().map(f64::next_up)),
                }
            }
            Value::String(text) => text.push('\u{301}'),
            Value::Array(items) => items.push(Value::Null),
            Value::Object(map) => {
                let Some(name) = map.keys().next().cloned() else {
                    map.insert(String::new(), Value::Null);
                    return true;
                };
                let member = map.remove(&name).expect("it has this name");
                let mut other = name + "x";
                while map.contains_key(&other) {
                    other.push('x');
                }
                map.insert(other, member);
            }
        }
        true
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-20i64..200).prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            (-99i32..99).prop_map(|cents| json!(f64::from(cents) / 100.0)),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 64, 8, |inner| {
            let member = ("[a-c]{0,2}|\\PC{0,3}", inner.clone());
            prop_oneof![
                vec(inner, 0..8).prop_map(Value::from),
                vec(member, 0..8).prop_map(|members| Value::Object(Map::from_iter(members))),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_respelt_has_the_same_form(value in values(), seed in 1u64..) {
            let respelt = respell(&value, &mut Dice(seed));
            prop_assert_eq!(form(&value.to_string()), form(&respelt), "{}", respelt);
        }

        #[test]
        fn a_value_changed_anywhere_has_another_form(value in values(), place in 0usize..40, seed in 1u64..) {
            let mut changed = value.clone();
            if change(&mut changed, &mut { place }) {
                let changed = respell(&changed, &mut Dice(seed));
                prop_assert_ne!(form(&value.to_string())?, form(&changed)?, "{}", changed);
            }
        }

        /// `IgnoredAny` minds neither depth nor surrogates, so this is the bare grammar.
        #[test]
        fn the_grammar_is_that_of_serde_json(
            pieces in vec(proptest::sample::select(vec![
                "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\ude00", "0", "1", "-", "+", ".",
                "e", "E5", " ", "\n", "null", "true", "false", "\"a\"", "\"a\":", "\"b\":1,", "é", "\u{1}",
            ]), 0..12),
        ) {
            let text = pieces.concat();
            let json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(json, form(&text) != Err(Ambiguous::NotJson), "{}", text);
        }

        /// The same, for texts that are JSON but for one character.
        #[test]
        fn a_damaged_text_is_json_if_serde_json_says_so(
            value in values(),
            seed in 1u64..,
            at in any::<proptest::sample::Index>(),
            other in proptest::option::of(prop_oneof![any::<char>(), "[\\[\\]{},:\"\\\\0-9eE.+-]".prop_map(|one| one.chars().next().unwrap_or(' '))]),
        ) {
            let mut text: Vec<char> = respell(&value, &mut Dice(seed)).chars().collect();
            let at = at.index(text.len());
            text.splice(at..=at, other);
            let text = String::from_iter(text);
            let json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(json, form(&text) != Err(Ambiguous::NotJson), "{}", text);
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            let json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(json, form(&text) != Err(Ambiguous::NotJson));
        }
    }
}

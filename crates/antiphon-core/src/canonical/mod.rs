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

mod number;
mod string;
#[cfg(test)]
mod tests;

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

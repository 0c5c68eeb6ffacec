//! Strings: read whatever their escapes, written by their length.

use super::{Ambiguous, Broken, Reader, write_decimal};

impl<'a> Reader<'a> {
    /// Reads a string from its quote on, and says where its bytes, up to the end, were written.
    pub(super) fn string(&mut self) -> Result<usize, Broken> {
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

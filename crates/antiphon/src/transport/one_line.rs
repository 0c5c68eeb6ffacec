//! One message per line (STDIO-B-01): keeping a message on its line.

/// Keeps a JSON message on one line (STDIO-B-01). Raw JSON that was passed through may span
/// several; a raw line break in JSON is always white space, so a blank says the same.
pub(crate) fn one_line(message: &mut [u8]) {
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', &message[from..]) {
        message[from + at] = b' ';
        from += at + 1;
    }
}

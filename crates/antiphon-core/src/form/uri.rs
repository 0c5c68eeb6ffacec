//! Whether a text is a URI (RFC 3986), with a scheme; checked while compiling, if need be.

/// Whether `text` is a URI. Hosts in brackets are IPv6 addresses only.
pub(super) const fn is_uri(text: &str) -> bool {
    let bytes = text.as_bytes();
    let colon = find(bytes, b":/?#");
    if colon == bytes.len() || bytes[colon] != b':' || !is_scheme(bytes.split_at(colon).0) {
        return false;
    }
    let rest = bytes.split_at(colon + 1).1;
    let (rest, fragment) = rest.split_at(find(rest, b"#"));
    let (hierarchy, query) = rest.split_at(find(rest, b"?"));
    let path = match hierarchy {
        [b'/', b'/', rest @ ..] => {
            let (authority, path) = rest.split_at(find(rest, b"/"));
            if !is_authority(authority) {
                return false;
            }
            path
        }
        path => path,
    };
    is_made_of(path, b":@/")
        && is_made_of(without_first(query), b":@/?")
        && is_made_of(without_first(fragment), b":@/?")
}

/// Where the first of `marks` stands, or the end.
const fn find(bytes: &[u8], marks: &[u8]) -> usize {
    let mut at = 0;
    while at < bytes.len() && !contains(marks, bytes[at]) {
        at += 1;
    }
    at
}

const fn contains(bytes: &[u8], byte: u8) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == byte {
            return true;
        }
        at += 1;
    }
    false
}

const fn without_first(bytes: &[u8]) -> &[u8] {
    match bytes {
        [_, rest @ ..] => rest,
        [] => bytes,
    }
}

const fn is_scheme(scheme: &[u8]) -> bool {
    let mut at = 0;
    while at < scheme.len() {
        let byte = scheme[at];
        let later = at > 0 && (byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.'));
        if !byte.is_ascii_alphabetic() && !later {
            return false;
        }
        at += 1;
    }
    !scheme.is_empty()
}

const fn is_authority(authority: &[u8]) -> bool {
    let at = find(authority, b"@");
    let (user, host) = match at == authority.len() {
        true => authority.split_at(0),
        false => (authority.split_at(at).0, authority.split_at(at + 1).1),
    };
    let (fits, port) = match host {
        [b'[', inner @ ..] => {
            let (address, rest) = inner.split_at(find(inner, b"]"));
            (!rest.is_empty() && is_ipv6(address), without_first(rest))
        }
        _ => {
            let (name, port) = host.split_at(find(host, b":"));
            (is_made_of(name, b""), port)
        }
    };
    let port = match port {
        [b':', digits @ ..] => is_digits(digits),
        _ => port.is_empty(),
    };
    fits && port && is_made_of(user, b":")
}

const fn is_digits(bytes: &[u8]) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether only plain characters, escapes and `also` are there.
const fn is_made_of(bytes: &[u8], also: &[u8]) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte == b'%' {
            let escape = at + 2 < bytes.len()
                && bytes[at + 1].is_ascii_hexdigit()
                && bytes[at + 2].is_ascii_hexdigit();
            if !escape {
                return false;
            }
            at += 2;
        } else if !byte.is_ascii_alphanumeric()
            && !contains(b"-._~!$&'()*+,;=", byte)
            && !contains(also, byte)
        {
            return false;
        }
        at += 1;
    }
    true
}

/// Eight groups, or fewer with one gap; the last two may be an IPv4 address.
const fn is_ipv6(bytes: &[u8]) -> bool {
    let mut groups = 0;
    let mut gap = false;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b':' {
            let double = at + 1 < bytes.len() && bytes[at + 1] == b':';
            if double && !gap {
                gap = true;
                at += 2;
                continue;
            }
            // One colon stands between two groups, and not beside a gap.
            let between = groups > 0 && bytes[at - 1] != b':' && at + 1 < bytes.len();
            if double || !between {
                return false;
            }
            at += 1;
        }
        let rest = bytes.split_at(at).1;
        let length = find(rest, b":");
        let group = rest.split_at(length).0;
        if at + length == bytes.len() && is_ipv4(group) {
            groups += 2;
        } else if is_group(group) {
            groups += 1;
        } else {
            return false;
        }
        at += length;
    }
    if gap { groups < 8 } else { groups == 8 }
}

const fn is_group(group: &[u8]) -> bool {
    let mut at = 0;
    while at < group.len() {
        if !group[at].is_ascii_hexdigit() {
            return false;
        }
        at += 1;
    }
    !group.is_empty() && group.len() <= 4
}

const fn is_ipv4(bytes: &[u8]) -> bool {
    let mut parts = 0;
    let mut rest = bytes;
    loop {
        let (part, after) = rest.split_at(find(rest, b"."));
        parts += 1;
        if !is_octet(part) || parts > 4 {
            return false;
        }
        if after.is_empty() {
            return parts == 4;
        }
        rest = without_first(after);
    }
}

/// 0 to 255, without leading zeros.
const fn is_octet(part: &[u8]) -> bool {
    let mut value = 0;
    let mut at = 0;
    while at < part.len() && at < 4 {
        if !part[at].is_ascii_digit() {
            return false;
        }
        value = value * 10 + (part[at] - b'0') as u32;
        at += 1;
    }
    let zeros = part.len() > 1 && part[0] == b'0';
    !part.is_empty() && part.len() <= 3 && value <= 255 && !zeros
}

//! The formats a text field may have, checked strictly. All of it can run while compiling.

use antiphon_types::StringFormat;

use super::uri;

/// Whether `text` is of this format.
pub const fn fits(format: StringFormat, text: &str) -> bool {
    match format {
        StringFormat::Email => is_email(text),
        StringFormat::Uri => uri::is_uri(text),
        StringFormat::Date => is_date(text),
        StringFormat::DateTime => is_date_time(text),
        // A format this does not know forbids nothing.
        _ => true,
    }
}

/// An address as RFC 5321 writes it, without quotes, comments and address literals.
const fn is_email(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b'@' {
        let dot = bytes[at] == b'.';
        let lone =
            at == 0 || bytes[at - 1] == b'.' || at + 1 == bytes.len() || bytes[at + 1] == b'@';
        if dot && lone || !dot && !is_atom(bytes[at]) {
            return false;
        }
        at += 1;
    }
    let (local, rest) = bytes.split_at(at);
    let [b'@', domain @ ..] = rest else {
        return false;
    };
    !local.is_empty() && local.len() <= 64 && bytes.len() <= 254 && is_domain(domain)
}

const fn is_atom(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'/'
                | b'='
                | b'?'
                | b'^'
                | b'_'
                | b'`'
                | b'{'
                | b'|'
                | b'}'
                | b'~'
        )
}

/// Labels of letters, digits and inner hyphens.
const fn is_domain(domain: &[u8]) -> bool {
    let mut at = 0;
    let mut label = 0;
    while at < domain.len() {
        let byte = domain[at];
        let ends = at + 1 == domain.len() || domain[at + 1] == b'.';
        let fits = match byte {
            b'.' => label > 0,
            b'-' => label > 0 && !ends,
            _ => byte.is_ascii_alphanumeric(),
        };
        label = if byte == b'.' { 0 } else { label + 1 };
        if !fits || label > 63 {
            return false;
        }
        at += 1;
    }
    label > 0 && domain.len() <= 253
}

/// A `full-date` of RFC 3339.
const fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10 && date(bytes)
}

/// Whether a date stands at the start.
const fn date(bytes: &[u8]) -> bool {
    let (Some(century), Some(years)) = (digits(bytes, 0), digits(bytes, 2)) else {
        return false;
    };
    let (Some(month), Some(day)) = (digits(bytes, 5), digits(bytes, 8)) else {
        return false;
    };
    let year = century as u32 * 100 + years as u32;
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    bytes[4] == b'-' && bytes[7] == b'-' && day >= 1 && day <= days
}

/// A `date-time` of RFC 3339.
const fn is_date_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 20 || !date(bytes) || !matches!(bytes[10], b'T' | b't') {
        return false;
    }
    let (Some(hour), Some(minute), Some(second)) =
        (digits(bytes, 11), digits(bytes, 14), digits(bytes, 17))
    else {
        return false;
    };
    if hour > 23 || minute > 59 || second > 60 || bytes[13] != b':' || bytes[16] != b':' {
        return false;
    }
    let mut at = 19;
    if bytes[at] == b'.' {
        at += 1;
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        if at == start || at == bytes.len() {
            return false;
        }
    }
    let Some(ahead) = offset(bytes, at) else {
        return false;
    };
    // A leap second is the last of a day, in UTC.
    let day = 24 * 60;
    let in_utc = (hour as i32 * 60 + minute as i32 - ahead + day) % day;
    second < 60 || in_utc == day - 1
}

/// The offset that stands at `at` and ends the text, in minutes.
const fn offset(bytes: &[u8], at: usize) -> Option<i32> {
    if matches!(bytes[at], b'Z' | b'z') && bytes.len() == at + 1 {
        return Some(0);
    }
    if bytes.len() != at + 6 || bytes[at + 3] != b':' {
        return None;
    }
    match (bytes[at], digits(bytes, at + 1), digits(bytes, at + 4)) {
        (b'+', Some(hours @ ..24), Some(minutes @ ..60)) => {
            Some(hours as i32 * 60 + minutes as i32)
        }
        (b'-', Some(hours @ ..24), Some(minutes @ ..60)) => {
            Some(-(hours as i32 * 60 + minutes as i32))
        }
        _ => None,
    }
}

/// The two digits at `at`.
const fn digits(bytes: &[u8], at: usize) -> Option<u8> {
    if at + 1 < bytes.len() && bytes[at].is_ascii_digit() && bytes[at + 1].is_ascii_digit() {
        return Some((bytes[at] - b'0') * 10 + bytes[at + 1] - b'0');
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use StringFormat::{Date, DateTime, Email, Uri};
    use proptest::prelude::*;

    fn all(format: StringFormat, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(fits(format, text), "{text:?} is refused");
        }
        for text in bad {
            assert!(!fits(format, text), "{text:?} is taken");
        }
    }

    #[test]
    fn addresses() {
        let long = format!("{}@x.org", "a".repeat(64));
        let longer = format!("{}@x.org", "a".repeat(65));
        let label = format!("a@{}.org", "b".repeat(64));
        let total = format!("a@{}org", "bcd.".repeat(70));
        all(
            Email,
            &[
                "a@b",
                "ada@example.org",
                "ada.l@example.co.uk",
                "o'hara+x=y/{z}@a-b.c",
                &long,
                "1@2.3",
                "a@xn--bcher-kva.example",
            ],
            &[
                "",
                "@",
                "a",
                "a@",
                "@b",
                "a@@b",
                "a@b@c",
                ".a@b",
                "a.@b",
                "a..b@c",
                "a b@c",
                "a@b c",
                "a@.b",
                "a@b.",
                "a@b..c",
                "a@-b",
                "a@b-",
                "a@b-.c",
                "a@b_c",
                "a@b.c ",
                " a@b.c",
                "a@b.c\n",
                "ü@b.c",
                "a@ü.c",
                "\"a b\"@c",
                "a(x)@b",
                "a@[127.0.0.1]",
                "Ada <a@b.c>",
                "a,b@c",
                "mailto:a@b.c",
                &longer,
                &label,
                &total,
            ],
        );
    }

    #[test]
    fn dates() {
        all(
            Date,
            &[
                "2026-07-28",
                "2024-02-29",
                "2000-02-29",
                "0000-01-01",
                "9999-12-31",
                "2026-11-30",
            ],
            &[
                "",
                "2026-7-28",
                "2026-07-8",
                "26-07-28",
                "2026-02-29",
                "1900-02-29",
                "2026-00-01",
                "2026-13-01",
                "2026-01-00",
                "2026-01-32",
                "2026-04-31",
                "2026/07/28",
                "20260728",
                "2026-07-28 ",
                " 2026-07-28",
                "2026-07-28T",
                "+2026-07-2",
                "２026-07-28",
                "2026-07-28Z",
                "2026-W30-2",
            ],
        );
    }

    #[test]
    fn dates_with_times() {
        all(
            DateTime,
            &[
                "2026-07-28T09:30:00Z",
                "2026-07-28t09:30:00z",
                "2026-07-28T09:30:00.5Z",
                "2026-07-28T09:30:00.123456789+02:00",
                "2026-07-28T23:59:59-23:59",
                "1998-12-31T23:59:60Z",
                "1998-12-31T15:59:60.123-08:00",
                "1999-01-01T00:59:60+01:00",
                "2026-07-28T00:00:00-00:00",
            ],
            &[
                "",
                "2026-07-28",
                "2026-07-28T09:30:00",
                "2026-07-28T09:30Z",
                "2026-07-28 09:30:00Z",
                "2026-07-28T24:00:00Z",
                "2026-07-28T09:60:00Z",
                "2026-07-28T09:30:61Z",
                "2026-07-28T09:30:60Z",
                "1998-12-31T23:59:60+01:00",
                "2026-02-29T09:30:00Z",
                "2026-07-28T09:30:00.Z",
                "2026-07-28T09:30:00.5",
                "2026-07-28T09:30:00+0200",
                "2026-07-28T09:30:00+24:00",
                "2026-07-28T09:30:00+02:60",
                "2026-07-28T09:30:00+02",
                "2026-07-28T09:30:00ZZ",
                "2026-07-28T09:30:00Z ",
                "2026-07-28T9:30:00Z",
                "2026-07-28T09-30-00Z",
                "2026-07-28T09:30:00,5Z",
                "2026-07-28T09:30:0aZ",
            ],
        );
    }

    #[test]
    fn uris() {
        all(
            Uri,
            &[
                "https://example.org",
                "https://example.org/",
                "http://a:80/b?c=d#e",
                "mailto:a@b.c",
                "urn:isbn:0",
                "a:",
                "a+b-c.d:x",
                "file:///srv",
                "http://u:p@h/",
                "http://[::1]:8080/",
                "http://[2001:db8::1:2]/",
                "http://[::ffff:1.2.3.4]/",
                "http://[1:2:3:4:5:6:7:8]",
                "http://[1:2:3:4:5:6:7::]",
                "http://a/%C3%BC",
                "tel:+1-2",
                "data:text/plain,x",
                "http://a?/?#/?",
                "http://a:",
                "http://",
                "x:a//b",
                "http://[1::]",
            ],
            &[
                "",
                "a",
                "/a",
                "//a/b",
                "a/b:c",
                ":a",
                "1a:b",
                "ä:b",
                "http://a b",
                "http://a/ü",
                "http://a/%",
                "http://a/%g0",
                "http://a/%2",
                "http://a:8a/",
                "http://a#b#c",
                "http://a/<b>",
                "http://a/\"",
                "http://a/[b]",
                "http://[::1",
                "http://::1]/",
                "http://[::1]a/",
                "http://[1:2:3]/",
                "http://[1:2:3:4:5:6:7:8:9]/",
                "http://[1::2::3]/",
                "http://[12345::]/",
                "http://[::1.2.3]/",
                "http://[::1.2.3.256]/",
                "http://[1:2:3:4:5:6:7:1.2.3.4]",
                "http://[:1:2]",
                "http://[]/",
                "http://u@v@w/",
                "http://a/\\b",
                "http://a\n",
                "http://a/^",
                "http://a/`",
                "a:{b}",
                "http://a/|",
                "http://[1:2:3:4:5:6:7:8::]/",
                "http://[1:]/",
                "http://[::g]/",
            ],
        );
    }

    proptest! {
        /// What is taken here, the libraries take too that the JSON Schema validator asks.
        #[test]
        fn nothing_is_taken_that_others_refuse(
            uri in "[a-z]{1,3}:(//)?([a-z]{0,2}@)?(\\[[0-9a-f:.]{0,12}\\]|[a-z%0-9.]{0,5})(:[0-9]{0,2})?[/a-z?#\\[\\]@:%0-9]{0,8}",
            email in "[a-z.!#'\"@]{1,6}@[a-z.0-9-]{1,8}",
        ) {
            if fits(Uri, &uri) {
                prop_assert!(fluent_uri::Uri::parse(uri.as_str()).is_ok(), "{uri}");
            }
            if fits(Email, &email) {
                prop_assert!(email_address::EmailAddress::is_valid(&email), "{email}");
            }
        }

        /// And URIs that the library takes are taken here, but for addresses of the future.
        #[test]
        fn no_uri_is_refused_that_others_take(
            uri in "[a-z]{1,3}:(//)?([a-z]{0,2}@)?(\\[[0-9a-f:.]{0,12}\\]|[a-z%0-9.]{0,5})(:[0-9]{0,2})?[/a-z?#\\[\\]@:%0-9]{0,8}",
        ) {
            prop_assert_eq!(fits(Uri, &uri), fluent_uri::Uri::parse(uri.as_str()).is_ok(), "{}", uri);
        }
    }
}

//! What links say: a text is one handle or none, and only whom it is for can open it, in time.
#![no_main]

use antiphon_core::{
    link::{BadHandle, Handle},
    moment::Moment,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = str::from_utf8(data) {
        a_text(text);
    }
    if let Some((question, rest)) = data.split_first_chunk()
        && let Some((until, rest)) = rest.split_first_chunk::<6>()
        && let Ok(subject) = str::from_utf8(rest)
    {
        let millis = until
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        there_and_back(question, Moment::from_millis(millis), subject);
    }
});

fn a_text(text: &str) {
    let Ok(handle) = text.parse::<Handle>() else {
        let opened = Handle::opened_by(text, None, Moment::default());
        return assert_eq!(opened, Err(BadHandle::Text));
    };
    assert_eq!(handle.to_string(), text);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    assert!(text.len() == 51 && text.bytes().all(plain));
    // Nobody makes up one that is for somebody: those that open are seeds.
    match Handle::opened_by(text, Some("ada"), Moment::default()) {
        Ok(opened) => assert!(opened == handle && Moment::default() < handle.until()),
        Err(BadHandle::Over) => assert_eq!(handle.until(), Moment::default()),
        Err(why) => assert_eq!(why, BadHandle::Subject),
    }
}

fn there_and_back(question: &[u8; 16], until: Moment, subject: &str) {
    let now = Moment::from_millis(until.as_millis().saturating_sub(1));
    let in_time = |handle| match now < until {
        true => Ok(handle),
        false => Err(BadHandle::Over),
    };
    let handle = Handle::new(question, until, Some(subject));
    let text = handle.to_string();
    assert_eq!(text.parse(), Ok(handle));
    assert_eq!(handle.until(), until);
    let opened = |text: &str, subject, now| Handle::opened_by(text, subject, now);
    assert_eq!(opened(&text, Some(subject), now), in_time(handle));
    assert_eq!(opened(&text, Some(subject), until), Err(BadHandle::Over));
    let other = format!("{subject} ");
    for other in [None, Some(&*other)] {
        assert_eq!(opened(&text, other, now), Err(BadHandle::Subject));
    }
    let anybody = Handle::new(question, until, None);
    assert_ne!(anybody, handle);
    assert_eq!(
        opened(&anybody.to_string(), Some(subject), now),
        in_time(anybody)
    );

    // Any character that is another makes another of it, or none.
    let at = question
        .iter()
        .map(|byte| usize::from(*byte))
        .sum::<usize>()
        % text.len();
    let mut changed = text;
    let other = match changed.as_bytes()[at] {
        b'A' => "Q",
        _ => "A",
    };
    changed.replace_range(at..=at, other);
    let opened = opened(&changed, Some(subject), now);
    assert!(
        matches!(opened, Err(BadHandle::Text | BadHandle::Subject)),
        "{opened:?}"
    );
}

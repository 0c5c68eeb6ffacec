//! Links: shown in full, opened only by who agrees (ELIC-C-12 to ELIC-C-19), and asked about again
//! when the server still waits (ELIC-C-08).

use std::io;

use antiphon::types::ElicitRequestUrlParams;
use serde_json::Map;

use super::{
    Prompts,
    address::Address,
    form::{CANCEL, Escape, Out, escape, with_ways_out},
    printable,
};
use crate::asked::{Reaction, Said};

/// What a person may do about a link.
#[derive(Clone, Copy)]
enum Does {
    Opens,
    Agrees,
    Leaves(Out),
}

/// Has a person say whether they go there, or leave by one of these ways. `again`: whether they
/// agreed to it before.
pub(super) fn answer(
    prompts: &mut dyn Prompts,
    link: &ElicitRequestUrlParams,
    out: &[(&str, Out)],
    again: bool,
) -> io::Result<Reaction> {
    prompts.tell(&printable::block(&link.message));
    let address = match Address::of(&link.url) {
        Ok(address) => address,
        Err(why) => {
            prompts.tell("It wants you to visit this address, where nobody should be sent:");
            prompts.tell(&format!("\n    {}\n", printable::line(&link.url)));
            prompts.tell(&format!("  ! {why}"));
            return Ok(Reaction::Refuses(format!("the link was refused: {why}")));
        }
    };
    prompts.tell(match again {
        false => "It wants you to visit this address, which is not opened unless you say so:",
        true => "It still waits for you to finish at this address:",
    });
    let mut options = Vec::new();
    match again {
        false => {
            options.push(("Agree, and open it in the browser", Does::Opens));
            options.push(("Agree: I open it myself", Does::Agrees));
        }
        true => {
            options.push(("Try again: I have finished there", Does::Agrees));
            options.push(("Open it again in the browser", Does::Opens));
        }
    }
    let labels: Vec<_> = options.iter().map(|(label, _)| *label).collect();
    let labels = with_ways_out(&labels, out);
    // Enter alone agrees to nothing that was not agreed to before.
    let start = if again { 0 } else { options.len() + CANCEL };
    loop {
        show(prompts, &address);
        let does = match prompts.choose("Your answer", "", &labels, start)? {
            Some(at) => match options.get(at) {
                Some((_, does)) => *does,
                None => Does::Leaves(out[at - options.len()].1),
            },
            None => match escape(prompts, false, out)? {
                Escape::Out(way) => Does::Leaves(way),
                Escape::Again | Escape::Back => continue,
            },
        };
        match does {
            Does::Leaves(way) => return Ok(way.into()),
            Does::Agrees => return Ok(Reaction::Says(Said::Accept(Map::new()))),
            Does::Opens => match prompts.open(&link.url) {
                Ok(()) => return Ok(Reaction::Says(Said::Accept(Map::new()))),
                Err(error) => prompts.tell(&format!("  ! It could not be opened: {}", why(&error))),
            },
        }
    }
}

/// The whole of it on a line of its own, and where it leads on the next.
fn show(prompts: &mut dyn Prompts, address: &Address<'_>) {
    let Address {
        before,
        host,
        after,
    } = address;
    let host = prompts.strong(host);
    prompts.tell(&format!("\n    {before}{host}{after}\n    host: {host}\n"));
    for warning in address.warnings() {
        prompts.tell(&format!("  ! {warning}"));
    }
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no program here that opens links".to_owned(),
        _ => printable::excerpt(&error.to_string(), 300),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            form::ways_out,
            prompts::scripted::{Does, Scripted},
        },
        *,
    };

    const URL: &str = "https://login.example.com/a?b=c#d";

    fn agreed() -> Reaction {
        Reaction::Says(Said::Accept(Map::new()))
    }

    /// A person who is asked about a link, and does this.
    fn asked(
        person: &mut Scripted,
        url: &str,
        again: bool,
        does: impl IntoIterator<Item = Does>,
    ) -> Reaction {
        let opens_nothing = person.opens_nothing;
        *person = Scripted::new(does);
        person.opens_nothing = opens_nothing;
        let link = ElicitRequestUrlParams::new("Go\n\u{1b}there", url);
        let reaction = answer(person, &link, ways_out(true), again).expect("asked");
        assert!(person.is_done(), "{}", person.shown);
        reaction
    }

    #[test]
    fn a_link_is_shown_in_full_with_its_host() {
        let url = format!("https://login.example.com/{}", "a".repeat(300));
        let mut person = Scripted::default();
        asked(&mut person, &url, false, [Does::Enters]);
        let shown = &person.shown;
        assert!(shown.contains("  | Go\n  | \\u{1b}there"), "{shown}");
        let line = format!(
            "\n    {}\n",
            url.replace("login.example.com", "*login.example.com*")
        );
        assert!(shown.contains(&line), "{shown}");
        assert!(
            shown.contains("\n    host: *login.example.com*\n"),
            "{shown}"
        );
    }

    #[test]
    fn only_who_agrees_has_it_opened() {
        let mut person = Scripted::default();
        for (does, expected) in [
            (vec![Does::Enters], Reaction::Says(Said::Cancel)),
            (vec![Does::Picks("Decline")], Reaction::Says(Said::Decline)),
            (vec![Does::Picks("Later")], Reaction::Later),
            (
                vec![Does::Escapes, Does::Enters],
                Reaction::Says(Said::Decline),
            ),
            (vec![Does::Picks("Agree: I open it myself")], agreed()),
        ] {
            assert_eq!(asked(&mut person, URL, false, does), expected);
            assert!(person.opened.is_empty());
        }
        let does = [
            Does::Escapes,
            Does::Picks("Go on"),
            Does::Picks("Agree, and"),
        ];
        assert_eq!(asked(&mut person, URL, false, does), agreed());
        assert_eq!(person.opened, [URL]);
    }

    #[test]
    fn what_cannot_be_opened_is_shown_again() {
        let mut person = Scripted::default();
        person.opens_nothing = true;
        let does = [Does::Picks("Agree, and"), Does::Picks("Agree: I")];
        assert_eq!(asked(&mut person, URL, false, does), agreed());
        assert!(person.shown.contains("could not be opened: no browser"));
        assert_eq!(
            person.shown.matches("host: ").count(),
            2,
            "{}",
            person.shown
        );
    }

    #[test]
    fn a_server_that_still_waits_can_be_tried_again() {
        let mut person = Scripted::default();
        let reaction = asked(&mut person, URL, true, [Does::Enters]);
        assert_eq!(reaction, agreed());
        assert!(person.shown.contains("still waits"), "{}", person.shown);
        assert!(person.opened.is_empty());
        asked(&mut person, URL, true, [Does::Picks("Open it again")]);
        assert_eq!(person.opened, [URL]);
        let reaction = asked(&mut person, URL, true, [Does::Picks("Decline")]);
        assert_eq!(reaction, Reaction::Says(Said::Decline));
    }

    #[test]
    fn nobody_is_sent_to_a_bad_place() {
        for url in [
            "http://example.com/",
            "https://example.com/\u{1b}[2J\u{202e}",
        ] {
            let mut person = Scripted::default();
            let reaction = asked(&mut person, url, false, []);
            assert!(matches!(reaction, Reaction::Refuses(_)), "{reaction:?}");
            let deceives = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!person.shown.contains(deceives), "{:?}", person.shown);
        }
    }

    #[test]
    fn punycode_is_told() {
        let mut person = Scripted::default();
        asked(
            &mut person,
            "https://xn--pple-43d.com/",
            false,
            [Does::Enters],
        );
        assert!(person.shown.contains("  ! The host is written in punycode"));
    }
}

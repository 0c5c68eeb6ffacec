//! Roots: the directories that a server may know of.

use std::{io, path::Path};

use super::{Prompts, person::leaves, printable};
use crate::{
    asked::{Reaction, Said},
    root::root,
};

/// Has a person name directories.
pub(super) fn answer(prompts: &mut dyn Prompts, can_wait: bool) -> io::Result<Reaction> {
    prompts.tell("It wants to know which directories it may work in.");
    let mut roots = Vec::new();
    loop {
        let label = match roots.len() {
            0 => "Path".to_owned(),
            count => format!("Path {}", count + 1),
        };
        match prompts.write(&label, "a directory; nothing when that was all", "")? {
            Some(path) if path.is_empty() => return Ok(Reaction::Says(Said::Roots(roots))),
            Some(path) => match root(Path::new(&path)) {
                Ok(root) => roots.push(root),
                Err(error) => prompts.tell(&format!("  ! {}: {error}", printable::line(&path))),
            },
            None => {
                if let Some(refused) = leaves(prompts, can_wait)? {
                    return Ok(refused);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::prompts::scripted::{Does, Scripted},
        *,
    };

    #[test]
    fn roots_are_directories_that_exist() {
        let does = ["/no such place", "Cargo.toml", "src", ""].map(Does::Writes);
        let mut person = Scripted::new(does);
        let reaction = answer(&mut person, true).expect("asked");
        assert_eq!(person.shown.matches("  ! ").count(), 2, "{}", person.shown);
        let Reaction::Says(Said::Roots(roots)) = reaction else {
            panic!("{reaction:?}");
        };
        assert_eq!(roots.len(), 1);
        assert!(roots[0].uri.starts_with("file:///"), "{}", roots[0].uri);
        assert!(roots[0].uri.ends_with("/src"), "{}", roots[0].uri);
        assert_eq!(roots[0].name.as_deref(), Some("src"));
    }

    #[test]
    fn none_is_an_answer_and_esc_and_enter_decline() {
        let mut person = Scripted::new([Does::Enters]);
        let reaction = answer(&mut person, true).expect("asked");
        assert_eq!(reaction, Reaction::Says(Said::Roots(Vec::new())));
        let mut person = Scripted::new([Does::Escapes, Does::Escapes, Does::Escapes, Does::Enters]);
        let reaction = answer(&mut person, true).expect("asked");
        assert!(matches!(reaction, Reaction::Refuses(_)), "{reaction:?}");
        assert!(person.is_done());
    }
}

//! What a client and a server said to each other, as text:
//!
//! ```text
//! ## rounds
//! > {"jsonrpc":"2.0","id":1,"method":"tools/call", …}
//! < {"jsonrpc":"2.0","id":1,"result":{"requestState":"<requestState 1>", …}}
//! ```
//!
//! A section is a connection over pipes; `>` is the client's, `<` the server's. What is another text
//! each time, such as a state, is numbered.

use std::fmt;

use serde_json::Value;

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// `>`
    Client,
    /// `<`
    Server,
}

/// A message, and whose it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// Who says it.
    pub by: Side,
    /// The message.
    pub message: Value,
}

/// A connection, and the case that was played.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The case, as the contract calls it.
    pub case: String,
    /// Everything, in its order.
    pub said: Vec<Said>,
}

/// What one side says before the other one does.
#[derive(Debug)]
pub struct Turn<'a> {
    /// Whose turn it is.
    pub by: Side,
    /// What they say.
    pub messages: Vec<&'a Value>,
}

impl Section {
    /// The sections of a transcript.
    ///
    /// # Errors
    /// When a line is none of a transcript.
    pub fn read(text: &str) -> Result<Vec<Self>, String> {
        let mut sections: Vec<Self> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let bad = |why: &dyn fmt::Display| format!("line {}: {why}", number + 1);
            if let Some(case) = line.strip_prefix("## ") {
                sections.push(Self {
                    case: case.to_owned(),
                    said: Vec::new(),
                });
                continue;
            }
            let by = match line.get(..2) {
                Some("> ") => Side::Client,
                Some("< ") => Side::Server,
                // The heading, and what is between sections.
                _ if line.is_empty() || line.starts_with("# ") => continue,
                _ => return Err(bad(&"it is nobody's")),
            };
            let message = serde_json::from_str(&line[2..]).map_err(|error| bad(&error))?;
            let section = sections
                .last_mut()
                .ok_or_else(|| bad(&"it belongs to no case"))?;
            section.said.push(Said { by, message });
        }
        Ok(sections)
    }

    /// Who speaks when. What one side says in a turn may come in another order.
    pub fn turns(&self) -> Vec<Turn<'_>> {
        let mut turns: Vec<Turn<'_>> = Vec::new();
        for Said { by, message } in &self.said {
            match turns.last_mut() {
                Some(turn) if turn.by == *by => turn.messages.push(message),
                _ => turns.push(Turn {
                    by: *by,
                    messages: vec![message],
                }),
            }
        }
        turns
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n## {}", self.case)?;
        for Said { by, message } in &self.said {
            let mark = match by {
                Side::Client => '>',
                Side::Server => '<',
            };
            writeln!(f, "{mark} {message}")?;
        }
        Ok(())
    }
}

/// The texts of a connection that are others each time, in the order in which they were seen.
#[derive(Debug, Default)]
pub struct Chances(Vec<String>);

/// The members that hold such a text.
const CHANCES: [&str; 2] = ["requestState", "elicitationId"];

impl Chances {
    /// Puts a number in the place of each of them.
    pub fn hide(&mut self, message: &mut Value) {
        each(message, &mut |name, text| {
            let at = self.0.iter().position(|known| known == text);
            let at = at.unwrap_or_else(|| {
                self.0.push(text.clone());
                self.0.len() - 1
            });
            *text = format!("<{name} {}>", at + 1);
        });
    }

    /// Puts each of them in the place of its number.
    pub fn reveal(&self, message: &mut Value) {
        each(message, &mut |name, text| {
            let number = text
                .strip_prefix('<')
                .and_then(|rest| rest.strip_suffix('>'));
            let number =
                number.and_then(|rest| rest.strip_prefix(name)?.trim_start().parse::<usize>().ok());
            if let Some(known) = number.and_then(|number| self.0.get(number.wrapping_sub(1))) {
                known.clone_into(text);
            }
        });
    }
}

fn each(value: &mut Value, change: &mut impl FnMut(&str, &mut String)) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if CHANCES.contains(&name.as_str()) => change(name, text),
                    value => each(value, change),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, change)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_transcript_is_read_as_it_is_written() {
        let text = "# Somebody\n\n## rounds\n> {\"id\":1}\n> {\"id\":2}\n< {\"id\":1}\n";
        let sections = Section::read(text).expect("a transcript");
        let [section] = &sections[..] else {
            panic!("{sections:?}");
        };
        assert_eq!(format!("# Somebody\n{section}"), text);
        let turns: Vec<_> = section
            .turns()
            .iter()
            .map(|turn| (turn.by, turn.messages.len()))
            .collect();
        assert_eq!(turns, [(Side::Client, 2), (Side::Server, 1)]);
        for bad in ["> {}", "## a\nx", "## a\n> {"] {
            Section::read(bad).expect_err(bad);
        }
    }

    #[test]
    fn what_is_another_text_each_time_is_numbered_and_found_again() {
        let mut chances = Chances::default();
        let [first, second] = [
            json!({ "result": { "requestState": "abc" } }),
            json!({ "params": { "elicitationId": "x" } }),
        ];
        for (message, hidden) in [
            (&first, "<requestState 1>"),
            (&second, "<elicitationId 2>"),
            (&first, "<requestState 1>"),
        ] {
            let mut changed = message.clone();
            chances.hide(&mut changed);
            assert!(changed.to_string().contains(hidden), "{changed}");
            chances.reveal(&mut changed);
            assert_eq!(changed, *message);
        }
    }
}

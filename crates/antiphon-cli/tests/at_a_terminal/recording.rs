//! A session at a terminal, as `docs/terminal-session.txt` has it: what the screen shows is compared
//! with that file. `ANTIPHON_RECORD=1 cargo test -p antiphon-cli --test at_a_terminal
//! the_recorded_session` writes it anew.

use std::{fs, path::Path};

use antiphon::{Answer, Ask, Form, Server, Stop, tool};
use serde_json::Value;

use crate::{
    fresh,
    support::{DOWN, ENTER, Terminal, host::serve},
};

/// Where an order goes.
#[derive(Form)]
struct Delivery {
    /// As it stands at the door.
    name: String,
    #[form(options("standard", "express"))]
    speed: String,
    /// Wrapped as a gift.
    gift: bool,
}

/// Order copies of a book.
#[tool]
async fn order(#[arg] title: String, #[arg] copies: u32, ask: Ask) -> Result<String, Stop> {
    let text = format!("Where should {copies} copies of {title} go?");
    let Delivery { name, speed, gift } = ask.form("delivery", text)?;
    let wrapped = if gift { ", wrapped" } else { "" };
    Ok(format!(
        "Order 17: {copies} × {title}{wrapped}, {speed} to {name}."
    ))
}

#[derive(Form)]
struct Confirm {
    /// Whether to pay it back.
    confirm: bool,
}

/// Pay an order back.
#[tool(destructive)]
async fn refund(#[arg] order: u32, ask: Ask) -> Result<String, Stop> {
    Ok(
        match ask.form("confirm", format!("Pay order {order} back?"))? {
            Answer::Accept(Confirm { confirm: true }) => format!("Order {order} is paid back."),
            _ => format!("Order {order} stands."),
        },
    )
}

/// What was typed, and what the screen showed.
struct Session<'a> {
    place: &'a Path,
    text: String,
}

impl Session<'_> {
    /// Runs a command to its end, with a person who does this meanwhile.
    fn run(&mut self, command: &str, exit: i32, does: impl FnOnce(&mut Terminal)) -> String {
        let args: Vec<_> = command.split(' ').skip(1).collect();
        let home = [("HOME", self.place), ("XDG_CONFIG_HOME", self.place)];
        let mut terminal = Terminal::run_in(self.place, &args, &home);
        does(&mut terminal);
        let code = terminal.wait_for_end();
        let screen = terminal.screen();
        assert_eq!(code, Some(exit), "{screen}");
        self.text += &format!("$ {command}\n{screen}\n\n");
        if exit != 0 {
            self.text += &format!("$ echo $?\n{exit}\n\n");
        }
        screen
    }
}

/// Whatever differs from one machine and moment to another.
fn settled(text: &str, url: &str, file: &str) -> String {
    let text = text.replace(url, "http://127.0.0.1:3000/mcp");
    let text = text.replace(file, "refund-1f2e3d4c.paused.json");
    let lines = text.lines().map(|line| match line.split_once(" min ") {
        Some((before, rest)) if rest.ends_with(" s left") => {
            let before = before.trim_end_matches(|c: char| c.is_ascii_digit());
            format!("{before}9 min 59 s left\n")
        }
        _ => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn the_recorded_session() {
    let server: Server = Server::new("book-shop", "1.0").add(order()).add(refund());
    let url = serve(server);
    let place = fresh("recorded");
    let names = format!("[servers.shop]\nurl = \"{url}\"\n");
    fs::write(place.join("antiphon.toml"), names).expect("written");
    let mut session = Session {
        place: &place,
        text: String::new(),
    };

    session.run("antiphon inspect shop", 0, |_| {});
    session.run(
        "antiphon call shop order title=Dune copies=2",
        0,
        |terminal| {
            terminal.answer("? name", "Ada Lovelace");
            terminal.answer("? speed", DOWN);
            terminal.answer("? gift", "y");
            terminal.answer("Send it?", "Change");
            terminal.answer("Which one?", "gift");
            // The line above has `? gift` in it as well.
            terminal.answer("? gift (Y/n)", "n");
            terminal.wait_for("Send it?");
            terminal.press(ENTER);
        },
    );
    // Nobody is there to be asked.
    let told = session.run("antiphon call shop refund order=17 --no-input", 20, |_| {});
    let file = told
        .split_whitespace()
        .find(|word| word.ends_with(".paused.json"))
        .expect("the file")
        .to_owned();
    let saved = fs::read(place.join(&file)).expect("saved");
    let saved: Value = serde_json::from_slice(&saved).expect("JSON");
    assert_eq!(saved["kind"], "paused");
    let done = session.run(&format!("antiphon resume {file} confirm=true"), 0, |_| {});
    assert_eq!(done, "Order 17 is paid back.");

    let shown = settled(session.text.trim_end(), &url, &file);
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{shown}");
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/terminal-session.txt");
    if std::env::var_os("ANTIPHON_RECORD").is_some() {
        fs::write(&record, &shown).expect("written");
    }
    let recorded = fs::read_to_string(&record).expect("a record");
    assert_eq!(shown, recorded, "the session differs from its record");
}

//! The demo at a terminal: a pseudo-terminal, with a person who types.
#![cfg(unix)]

use std::{
    fs::File,
    io::{Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use nix::pty::{Winsize, openpty};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
const ENTER: &str = "\r";
const ESC: &str = "\u{1b}";

/// A program at a terminal of its own.
struct Terminal {
    program: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    /// Everything that was shown and not yet waited for, without colours and moves.
    shown: String,
}

impl Terminal {
    fn demo() -> Self {
        let size = Winsize {
            ws_row: 50,
            ws_col: 160,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let ends = openpty(&size, None).expect("a pseudo-terminal");
        let end = || Stdio::from(ends.slave.try_clone().expect("a descriptor"));
        let program = Command::new(env!("CARGO_BIN_EXE_antiphon"))
            .arg("demo")
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("antiphon runs");
        let mut output = File::from(ends.master.try_clone().expect("a descriptor"));
        let (sender, screen) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Once the program is gone there is an error to read.
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            program,
            keyboard: ends.master.into(),
            screen,
            shown: String::new(),
        }
    }

    /// Waits until this is shown, and forgets everything up to there.
    fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let plain = plain(&self.shown);
            if let Some(at) = plain.find(text) {
                self.shown = plain[at + text.len()..].to_owned();
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("`{text}` was not shown, but this:\n{plain}"),
            }
        }
    }

    /// The line that begins with this, once it is complete.
    fn line_with(&mut self, start: &str) -> String {
        self.wait_for(start);
        let rest = loop {
            if let Some((line, _)) = plain(&self.shown).split_once("\r\n") {
                break line.to_owned();
            }
            let bytes = self.screen.recv_timeout(PATIENCE).expect("more");
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        };
        format!("{start}{rest}")
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("pressed");
    }

    /// Waits for a question, and types the answer.
    fn answer(&mut self, question: &str, text: &str) {
        self.wait_for(question);
        self.press(text);
        self.press(ENTER);
    }

    fn wait_for_end(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.program.try_wait().expect("a child") {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        _ = self.program.kill();
        _ = self.program.wait();
    }
}

/// What is shown without escape sequences. One that is cut off at the end is kept for later.
fn plain(shown: &str) -> String {
    let mut plain = String::new();
    let mut rest = shown;
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let Some(end) = sequence.find(|c: char| ('@'..='~').contains(&c)) else {
            return plain + "\u{1b}[" + sequence;
        };
        rest = &sequence[end + 1..];
    }
    plain + rest
}

#[test]
fn a_person_deploys_and_sees_each_leg() {
    let mut terminal = Terminal::demo();
    terminal.answer("What next?", "deploy");
    terminal.answer("? env", "prod");
    terminal.wait_for(r#"-> tools/call deploy {"env":"prod"}"#);
    terminal.wait_for("<- input_required [confirm] state ");
    terminal.wait_for("/mcp asks [confirm]:");
    terminal.wait_for("| Deploy to prod?");
    terminal.answer("? confirm", "y");
    terminal.wait_for(r#"[confirm: accept {"confirm":true}]"#);
    terminal.wait_for("<- complete");
    terminal.wait_for("| Deployed to prod");
    // And again, with another answer.
    terminal.answer("What next?", "wipe_cache");
    terminal.answer("? confirm", "y");
    terminal.answer("? scope", "sess");
    terminal.wait_for("| Wiped sessions");
    terminal.wait_for("What next?");
    terminal.press(ESC);
    assert_eq!(terminal.wait_for_end(), Some(0));
}

#[test]
fn declining_is_one_key_away() {
    let mut terminal = Terminal::demo();
    terminal.answer("What next?", "deploy");
    terminal.answer("? env", "prod");
    terminal.wait_for("? confirm");
    terminal.press(ESC);
    terminal.answer("Leave?", "Decline");
    terminal.wait_for("[confirm: decline]");
    terminal.wait_for("| Deployment to prod cancelled");
    terminal.answer("What next?", "Quit");
    assert_eq!(terminal.wait_for_end(), Some(0));
}

#[test]
fn resources_models_and_roots_are_asked_for_too() {
    let mut terminal = Terminal::demo();
    terminal.answer("What next?", "vault");
    terminal.answer("? id", "7");
    terminal.answer("? reason", "audit");
    terminal.wait_for("| Vault 7, opened because: audit");
    terminal.answer("What next?", "summarize");
    terminal.answer("? text", "A long story.");
    terminal.answer("? assistant", "Short.");
    terminal.wait_for("| Summary: Short.");
    terminal.answer("What next?", "workspace");
    terminal.answer("? Path", "/");
    terminal.answer("? Path 2", "");
    terminal.wait_for("| 1 root(s): file:///");
    terminal.answer("What next?", "report");
    terminal.answer("? rounds", "2");
    terminal.wait_for("<- input_required [] state ");
    terminal.wait_for("| Done after 2 round(s)");
}

#[test]
fn a_link_is_shown_and_its_page_is_there_while_the_person_is_asked() {
    let mut terminal = Terminal::demo();
    terminal.answer("What next?", "sign_in");
    terminal.wait_for("not opened for you:");
    let link = terminal.line_with("http://127.0.0.1:");
    terminal.wait_for("Your answer");
    let (host, path) = link
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .expect("an address");
    let mut page = TcpStream::connect(host).expect("served");
    write!(
        page,
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    )
    .expect("sent");
    let mut text = String::new();
    page.read_to_string(&mut text).expect("a page");
    assert!(text.contains("You are signed in"), "{text}");
    // Enter alone agrees to nothing.
    terminal.press("Accept");
    terminal.press(ENTER);
    terminal.wait_for("| Signed in as Ada.");
}

#[test]
fn an_interrupt_ends_it() {
    let mut terminal = Terminal::demo();
    terminal.wait_for("What next?");
    let until = Instant::now() + PATIENCE;
    // Between two keys it is the terminal that takes the interrupt, and this one is nobody's.
    while terminal.program.try_wait().expect("a child").is_none() {
        assert!(Instant::now() < until, "it does not end");
        terminal.press("\u{3}");
        thread::sleep(Duration::from_millis(20));
    }
    assert_ne!(terminal.wait_for_end(), Some(0));
}

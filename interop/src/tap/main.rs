//! Stands between a client and a server on pipes, and writes down what they say.
//!
//! `antiphon-interop-tap FILE CASE COMMAND ARGS...` starts the server, and adds a section to the file.

use std::{
    error::Error,
    fs::OpenOptions,
    io::{self, BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use antiphon_interop::transcript::{Chances, Said, Section, Side};

/// What was said so far.
type Heard = Arc<Mutex<Vec<(Side, String)>>>;

/// Hands every line on, and keeps it.
fn pass(by: Side, from: impl Read, mut to: impl Write, heard: &Heard) -> io::Result<()> {
    for line in BufReader::new(from).lines() {
        let line = line?;
        // Kept first: the other side may answer at once.
        heard
            .lock()
            .expect("nobody panics")
            .push((by, line.clone()));
        to.write_all(format!("{line}\n").as_bytes())?;
        to.flush()?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let [file, case, program, arguments @ ..] = &words[..] else {
        return Err("usage: antiphon-interop-tap FILE CASE COMMAND ARGS...".into());
    };
    let mut server: Child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (input, output) = (server.stdin.take(), server.stdout.take());
    let (input, output) = (input.ok_or("no input")?, output.ok_or("no output")?);
    let heard = Heard::default();
    let client = heard.clone();
    thread::spawn(move || pass(Side::Client, io::stdin(), input, &client));
    // A client that has heard enough is gone.
    _ = pass(Side::Server, output, io::stdout(), &heard);
    _ = server.wait();
    let heard = heard.lock().expect("nobody panics");
    let mut chances = Chances::default();
    let said = heard.iter().map(|(by, line)| {
        let mut message = serde_json::from_str(line)?;
        chances.hide(&mut message);
        Ok(Said { by: *by, message })
    });
    let section = Section {
        case: case.clone(),
        said: said.collect::<Result<_, serde_json::Error>>()?,
    };
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(section.to_string().as_bytes())?;
    Ok(())
}

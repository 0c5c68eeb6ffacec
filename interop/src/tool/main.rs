//! The `antiphon` command as a client of the grid: the cases `inspect`, `call` and `resume`.
//!
//! Started as the clients of `interop/CONTRACT.md` are. The command is the program beside this one.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use antiphon_interop::same;
use serde_json::{Value, json};

type Done = Result<(), Box<dyn Error>>;

/// A server, and how the command gets there.
struct Grid {
    antiphon: PathBuf,
    /// Where files are put.
    folder: PathBuf,
    is_modern: bool,
    url: Option<String>,
    command: Vec<String>,
}

impl Grid {
    fn given() -> Option<(Self, Vec<String>)> {
        let mut grid = Self {
            antiphon: std::env::current_exe().ok()?.with_file_name("antiphon"),
            folder: std::env::temp_dir().join(format!("antiphon-interop-{}", std::process::id())),
            is_modern: true,
            url: None,
            command: Vec::new(),
        };
        let mut cases = Vec::new();
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--" => break,
                "--era" => grid.is_modern = words.next()? == "modern",
                "--url" => grid.url = Some(words.next()?),
                _ => cases.push(word),
            }
        }
        grid.command = words.collect();
        Some((grid, cases))
    }

    fn run(&self, command: &mut Command) -> Result<Output, Box<dyn Error>> {
        command
            .current_dir(&self.folder)
            .env("HOME", &self.folder)
            .env("XDG_CACHE_HOME", &self.folder)
            .env("XDG_STATE_HOME", &self.folder)
            .stdin(Stdio::null());
        Ok(command.output()?)
    }

    /// Runs a command of the tool on the server.
    fn antiphon(&self, name: &str, words: &[&str]) -> Result<Output, Box<dyn Error>> {
        let mut command = Command::new(&self.antiphon);
        command.arg(name).args(&self.url).args(words);
        match self.is_modern {
            true => command.args(["--protocol", "2026-07-28"]),
            false => command.arg("--legacy"),
        };
        if !self.command.is_empty() {
            command.arg("--").args(&self.command);
        }
        self.run(&mut command)
    }

    fn inspect(&self) -> Done {
        let shown = json_of(&self.antiphon("inspect", &["--json"])?)?;
        same(&shown["serverInfo"]["name"], &json!("ensemble"))?;
        let era = if self.is_modern { "modern" } else { "legacy" };
        same(&shown["era"], &json!(era))?;
        let count = |name: &str| shown[name].as_array().map_or(0, Vec::len);
        let counts = ["tools", "prompts", "resources", "resourceTemplates"].map(count);
        same(&counts, &[16, 3, 26, 1])?;
        let read = self.antiphon("read", &["item://7"])?;
        same(&text_of(&read, 0)?, &"item 7".to_owned())
    }

    fn call(&self) -> Done {
        let sum = json_of(&self.antiphon("call", &["add", "a=2", "b=40", "--json"])?)?;
        same(&sum["structuredContent"], &json!({ "sum": 42 }))?;
        let rules = "[[answer]]\ntool = \"quiz\"\naccept = { answer = \"a\" }\n";
        fs::write(self.folder.join("answers.toml"), rules)?;
        let quiz = self.antiphon("call", &["quiz", "--answers", "answers.toml", "--strict"])?;
        same(&text_of(&quiz, 0)?, &"a / a / a".to_owned())
    }

    /// Nobody is there to answer, and then somebody is.
    fn resume(&self) -> Done {
        let file = "confirm.paused.json";
        let waits = self.antiphon("call", &["confirm", "action=deploy", "--save", file])?;
        text_of(&waits, 20)?;
        let mut resume = Command::new(&self.antiphon);
        let ran = self.run(resume.args(["resume", file, "ok=true"]))?;
        // A server that is started anew for this may have other keys.
        let is_new = self.is_modern && !self.command.is_empty();
        match ran.status.code() {
            Some(21) if is_new => Ok(()),
            _ => same(&text_of(&ran, 0)?, &"done: deploy".to_owned()),
        }
    }
}

/// What was printed, if it ended like this.
fn text_of(output: &Output, code: i32) -> Result<String, Box<dyn Error>> {
    let told = String::from_utf8_lossy(&output.stderr);
    match output.status.code() == Some(code) {
        true => Ok(String::from_utf8(output.stdout.clone())?
            .trim_end()
            .to_owned()),
        false => Err(format!("it ended with {}: {told}", output.status).into()),
    }
}

fn json_of(output: &Output) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_str(&text_of(output, 0)?)?)
}

/// A folder that is there as long as this.
struct Folder<'a>(&'a Path);

impl Drop for Folder<'_> {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(self.0);
    }
}

fn main() -> Done {
    let (grid, cases) = Grid::given().ok_or("an option has no value")?;
    fs::create_dir_all(&grid.folder)?;
    let _folder = Folder(&grid.folder);
    for case in cases {
        let done = match case.as_str() {
            "inspect" => grid.inspect(),
            "call" => grid.call(),
            "resume" => grid.resume(),
            other => Err(format!("there is no case {other}").into()),
        };
        println!(
            "{}",
            match done {
                Ok(()) => json!({ "case": case, "ok": true }),
                Err(why) => json!({ "case": case, "ok": false, "why": why.to_string() }),
            }
        );
    }
    Ok(())
}

//! What `antiphon audit` finds on the small servers here: those of the peers, and ours.
//!
//! Started by `interop/audit`. Exits with 1 if ours does not stand, with 2 if something cannot be audited.

mod auditing;
mod report;
mod servers;

use std::{error::Error, fs, path::PathBuf, process::ExitCode, thread};

use auditing::{Audited, TOOLS, Tool};
use servers::Candidate;

/// What the command line says.
pub(crate) struct Given {
    /// The folder of the grid in the repository.
    pub(crate) here: PathBuf,
    /// A folder that is ours alone. It has the file `keys`.
    pub(crate) folder: PathBuf,
    /// Where our programs are built.
    pub(crate) built: PathBuf,
    /// Where the peers are installed, if they are to be audited.
    pub(crate) installed: Option<PathBuf>,
    /// How long states are kept to see whether they expire.
    pub(crate) wait: Option<String>,
    /// Where the results are written, with the day.
    out: Option<(PathBuf, String)>,
}

fn given() -> Result<Given, Box<dyn Error>> {
    let (mut here, mut folder, mut built, mut installed) = (None, None, None, None);
    let (mut out, mut day, mut wait) = (None, None, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("{word} needs a value"))?;
        match word.as_str() {
            "--here" => here = Some(value.into()),
            "--folder" => folder = Some(value.into()),
            "--built" => built = Some(value.into()),
            "--installed" => installed = Some(value.into()),
            "--wait" => wait = Some(value),
            "--out" => out = Some(PathBuf::from(value)),
            "--day" => day = Some(value),
            _ => return Err(format!("{word} is not known").into()),
        }
    }
    Ok(Given {
        here: here.ok_or("--here is missing")?,
        folder: folder.ok_or("--folder is missing")?,
        built: built.ok_or("--built is missing")?,
        installed,
        wait,
        out: out.zip(day),
    })
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("interop/audit: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether ours stand.
fn run() -> Result<bool, Box<dyn Error>> {
    let given = given()?;
    let candidates = Candidate::all(&given)?;
    let all = thread::scope(|scope| {
        let audits: Vec<_> = candidates
            .iter()
            .map(|candidate| scope.spawn(|| audit(candidate, &given)))
            .collect();
        let all: Result<Vec<_>, String> = audits
            .into_iter()
            .map(|audit| audit.join().map_err(|_| "an audit panicked".to_owned())?)
            .collect();
        all
    })?;
    for (candidate, audits) in candidates.iter().zip(&all) {
        for (tool, audited) in TOOLS.iter().zip(audits) {
            if let Some(audited) = audited {
                println!("{}, {}: {}", candidate.name, tool.name, audited.summary());
            }
        }
    }
    if let Some((path, day)) = &given.out {
        fs::write(path, report::page(&candidates, &all, day)?)?;
    }
    let ours = candidates
        .iter()
        .zip(&all)
        .filter(|(candidate, _)| candidate.is_ours);
    let mut stands = true;
    for (candidate, audits) in ours {
        for finding in audits.iter().flatten().flat_map(Audited::holes) {
            println!("FAILED {}: {finding}", candidate.name);
            stands = false;
        }
    }
    Ok(stands)
}

/// Audits each tool of a server that is there in its revision, on servers of its own. Audits that wait
/// do so at once, and the others are done meanwhile.
fn audit(candidate: &Candidate, given: &Given) -> Result<Vec<Option<Audited>>, String> {
    let one = |tool: &Tool| {
        if !candidate.is_modern && !tool.is_older {
            return Ok(None);
        }
        let about = |error: Box<dyn Error>| format!("{}, {}: {error}", candidate.name, tool.name);
        let audited = auditing::audit(candidate, tool, given).map_err(about)?;
        Ok(Some(audited))
    };
    thread::scope(|scope| {
        let waiting: Vec<_> = TOOLS
            .iter()
            .map(|tool| tool.waits.then(|| scope.spawn(move || one(tool))))
            .collect();
        let audits = TOOLS
            .iter()
            .zip(waiting)
            .map(|(tool, waiting)| match waiting {
                Some(waiting) => waiting.join().map_err(|_| "an audit panicked".to_owned())?,
                None => one(tool),
            });
        audits.collect()
    })
}

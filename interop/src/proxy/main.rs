//! Two replicas of our server behind nginx, which passes requests to one after the other: everything that
//! asks, streams, states that are brought twice, and replicas that are killed between rounds.
//!
//! Started by `interop/proxy`. Exits with 1 if a check failed.

mod bench;
mod cases;
mod killed;
mod nginx;
mod report;
mod single_use;
mod streams;

use std::{
    error::Error,
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
};

use bench::Place;
use report::Report;

/// What the command line says.
struct Given {
    /// The folder of the grid in the repository.
    here: PathBuf,
    /// A folder that is ours alone. It has the file `keys`.
    folder: PathBuf,
    /// Where our programs are built.
    built: PathBuf,
    /// Where the peers are installed, if they are to play.
    installed: Option<PathBuf>,
    /// Where the results are written, with the day.
    out: Option<(PathBuf, String)>,
}

fn given() -> Result<Given, Box<dyn Error>> {
    let (mut here, mut folder, mut built, mut installed) = (None, None, None, None);
    let (mut out, mut day) = (None, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("{word} needs a value"))?;
        match word.as_str() {
            "--here" => here = Some(value.into()),
            "--folder" => folder = Some(value.into()),
            "--built" => built = Some(value.into()),
            "--installed" => installed = Some(value.into()),
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
        out: out.zip(day),
    })
}

// One thread: what is started here ends with the thread that started it.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let given = given()?;
    let place = Place {
        site: fs::read_to_string(given.here.join("proxy.conf"))?,
        folder: given.folder,
        built: given.built,
    };
    let mut report = Report::default();
    cases::ours(&place, &mut report).await?;
    if let Some(installed) = &given.installed {
        cases::theirs(&place, &given.here, installed, &mut report).await?;
    }
    streams::checks(&place, &mut report).await?;
    single_use::checks(&place, &mut report).await?;
    killed::checks(&place, &mut report).await?;
    if let Some((path, day)) = &given.out {
        fs::write(path, report.page(&nginx_version()?, day))?;
    }
    println!("{}", report.summary());
    Ok(match report.has_failures() {
        false => ExitCode::SUCCESS,
        true => ExitCode::FAILURE,
    })
}

/// As nginx names itself, such as `nginx/1.22.1`.
fn nginx_version() -> Result<String, Box<dyn Error>> {
    let told = Command::new("nginx").arg("-v").output()?.stderr;
    let told = String::from_utf8(told)?;
    let version = told.trim().rsplit(' ').next();
    Ok(version.ok_or("nginx has no version")?.to_owned())
}

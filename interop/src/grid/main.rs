//! Puts clients in front of servers and writes down what came of it: our client with each peer's
//! server, and each peer's client with our server, on both transports, in every era both have.
//!
//! Started by `interop/run`, which installs the peers. Exits with 1 if a cell failed.

mod cell;
mod peers;
mod play;
mod record;
mod report;

use std::{error::Error, fs, path::PathBuf, process::ExitCode};

use cell::{Case, Cell, Pairing};
use peers::{Ours, Peer};

/// What the command line says.
struct Given {
    /// The folder of the grid in the repository.
    here: PathBuf,
    /// Where peers are installed.
    installed: PathBuf,
    /// Where our programs are built.
    built: PathBuf,
    /// The peers that play; all, if none is named.
    peers: Vec<String>,
    /// The cases that are played; all, if none is named.
    cases: Vec<Case>,
    /// Where the results are written, with the day.
    out: Option<(PathBuf, String)>,
    /// The folder for transcripts, if that is all that is wanted.
    record: Option<PathBuf>,
}

fn given() -> Result<Given, Box<dyn Error>> {
    let (mut here, mut installed, mut built) = (None, None, None);
    let (mut out, mut day, mut record) = (None, None, None);
    let (mut peers, mut cases) = (Vec::new(), Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--here" => here = Some(value()?.into()),
            "--installed" => installed = Some(value()?.into()),
            "--built" => built = Some(value()?.into()),
            "--peer" => peers.push(value()?),
            "--case" => cases.push(Case::named(&value()?)?),
            "--out" => out = Some(PathBuf::from(value()?)),
            "--day" => day = Some(value()?),
            "--record" => record = Some(value()?.into()),
            _ => return Err(format!("{word} is not known").into()),
        }
    }
    Ok(Given {
        here: here.ok_or("--here is missing")?,
        installed: installed.ok_or("--installed is missing")?,
        built: built.ok_or("--built is missing")?,
        peers,
        cases,
        out: out.zip(day),
        record,
    })
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let given = given()?;
    let mut peers = Peer::read(&given.here, &given.installed)?;
    if let Some(odd) = given
        .peers
        .iter()
        .find(|name| peers.iter().all(|peer| peer.name != **name))
    {
        return Err(format!("there is no peer {odd}").into());
    }
    peers.retain(|peer| given.peers.is_empty() || given.peers.contains(&peer.name));
    let ours = Ours::in_folder(&given.built);
    if let Some(folder) = &given.record {
        let tap = given.built.join("antiphon-interop-tap");
        record::record(&peers, &ours, &tap, folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut cells: Vec<Cell> = Vec::new();
    for pairing in Pairing::all(&peers) {
        let (server, client) = pairing.programs(&ours);
        let mut cases = Case::of(pairing.our_end);
        cases.retain(|case| given.cases.is_empty() || given.cases.contains(case));
        if cases.is_empty() {
            continue;
        }
        let played = play::play(server, client, &pairing, &cases);
        let judged: Vec<_> = played
            .into_iter()
            .map(|(case, outcome)| pairing.judge(case, outcome))
            .collect();
        println!("{}", report::line(&pairing, &judged));
        cells.extend(judged);
    }
    let failed: Vec<_> = cells.iter().filter(|cell| cell.is_failure()).collect();
    for cell in &failed {
        println!("FAILED {cell}");
    }
    if let Some((path, day)) = &given.out {
        fs::write(path, report::page(&peers, &cells, day))?;
    }
    println!("{}", report::summary(&cells));
    Ok(match failed.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

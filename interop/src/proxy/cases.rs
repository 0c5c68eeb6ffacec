//! The cases of the contract, played by the clients of the grid.

use std::{collections::BTreeMap, error::Error, fs, path::Path};

use antiphon_interop::{
    cases::{ASKING, PLAIN, all},
    process::{Outcome, hear},
};
use serde::Deserialize;

use crate::{
    bench::{Bench, Guard, Place, Setup, soon},
    nginx::Answered,
    report::{Report, outcome},
};

/// What is called in these.
const CALLED: [&str; 10] = [
    "order",
    "confirm",
    "sign_in",
    "sum_up",
    "where",
    "trip",
    "quiz",
    "wait",
    "letter",
    "report://7",
];

/// A peer of `interop/peers.json`, as far as it matters here.
#[derive(Deserialize)]
struct Peer {
    name: String,
    eras: Vec<String>,
    client: Vec<String>,
    #[serde(default)]
    defects: Vec<Defect>,
}

/// Why a case is not played.
#[derive(Deserialize)]
struct Defect {
    our_end: String,
    cases: Vec<String>,
    era: Option<String>,
    transport: Option<String>,
}

impl Peer {
    fn plays(&self, era: &str, case: &str) -> bool {
        !self.defects.iter().any(|defect| {
            defect.our_end == "server"
                && defect.cases.iter().any(|broken| broken == case)
                && defect.era.as_deref().is_none_or(|of| of == era)
                && defect.transport.as_deref().is_none_or(|of| of == "http")
        })
    }
}

/// Our client, with each guard.
pub(crate) async fn ours(place: &Place, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let client = place.built.join("antiphon-interop-client");
    let client = [client.to_string_lossy().into_owned()];
    for (guard, words) in [
        (Guard::None, "no guard"),
        (Guard::Memory, "a guard in memory"),
        (Guard::File, "a shared file"),
    ] {
        let bench = Bench::start(place, Setup::with(guard)).await?;
        let cases = [&PLAIN[..], &ASKING].concat();
        let what = format!("our client, modern, {words}");
        modern(&bench, &client, &cases, what, report).await?;
    }
    let bench = Bench::start(place, Setup::with(Guard::File)).await?;
    // A subscription hears of changes in its own replica, so that case is for sessions only;
    // `streams.rs` has the like of it for others.
    let cases: Vec<_> = all().collect();
    // Sessions are opened in turn, so there is one with each replica.
    for _ in 0..2 {
        legacy(
            &bench,
            &client,
            &cases,
            "our client, legacy".to_owned(),
            report,
        );
    }
    report.check(
        "legacy: each session is with one replica, and both have some",
        soon(|| one_each(&bench)).await,
    );
    Ok(())
}

/// The clients of others, through whatever asks.
pub(crate) async fn theirs(
    place: &Place,
    here: &Path,
    installed: &Path,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let peers = fs::read_to_string(here.join("peers.json"))?;
    let peers: Vec<Peer> = serde_json::from_str(&peers)?;
    let [here, installed] = [here, installed].map(|path| path.to_string_lossy().into_owned());
    let bench = Bench::start(place, Setup::with(Guard::File)).await?;
    for peer in &peers {
        let client: Vec<_> = peer
            .client
            .iter()
            .map(|word| {
                word.replace("{here}", &here)
                    .replace("{installed}", &installed)
            })
            .collect();
        for era in &peer.eras {
            let mut cases = ASKING.to_vec();
            cases.retain(|case| peer.plays(era, case));
            let what = format!("{} client, {era}", peer.name);
            match era.as_str() {
                "modern" => modern(&bench, &client, &cases, what, report).await?,
                _ => legacy(&bench, &client, &cases, what, report),
            }
        }
    }
    report.check(
        "legacy: each session is with one replica, and both have some",
        soon(|| one_each(&bench)).await,
    );
    Ok(())
}

/// Plays the cases; the rounds of each call go to both replicas.
async fn modern(
    bench: &Bench,
    client: &[String],
    cases: &[&'static str],
    what: String,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let before = bench.nginx.answered()?.len();
    let mut checks = play(bench, client, "modern", cases);
    let both = soon(|| both(&bench.nginx.answered()?[before..], cases)).await;
    checks.push(("both replicas".to_owned(), outcome(both)));
    report.group(what, checks);
    Ok(())
}

fn legacy(
    bench: &Bench,
    client: &[String],
    cases: &[&'static str],
    what: String,
    report: &mut Report,
) {
    report.group(what, play(bench, client, "legacy", cases));
}

fn play(
    bench: &Bench,
    client: &[String],
    era: &str,
    cases: &[&'static str],
) -> Vec<(String, Outcome)> {
    let url = ["--url".to_owned(), bench.nginx.url.clone()];
    let outcomes = hear(client, era, &url, cases, &[]);
    let names = cases.iter().map(|case| (*case).to_owned());
    names.zip(outcomes).collect()
}

/// That each call which asks was answered by both, in one round or another.
fn both(answered: &[Answered], cases: &[&str]) -> Result<(), Box<dyn Error>> {
    for name in CALLED {
        if name == "sign_in" && !cases.contains(&"url") {
            continue;
        }
        let rounds = answered.iter().filter(|one| one.name == name);
        let by: Vec<_> = rounds.filter_map(Answered::by).collect();
        if !(by.contains(&0) && by.contains(&1)) {
            return Err(format!("the rounds of {name} were answered by {by:?}").into());
        }
    }
    Ok(())
}

fn one_each(bench: &Bench) -> Result<(), Box<dyn Error>> {
    let mut with = BTreeMap::new();
    for (session, number) in bench.sessions()? {
        if *with.entry(session.clone()).or_insert(number) != number {
            return Err(format!("the session {session} went to both").into());
        }
    }
    match [0, 1].map(|number| with.values().filter(|with| **with == number).count()) {
        [0, _] | [_, 0] => Err("a replica had no session".into()),
        _ => Ok(()),
    }
}

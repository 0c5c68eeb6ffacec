//! Checks the wire types against the published schemas: for every revision,
//! every definition has samples of our types, and every sample fits.

mod check;
mod closed;
mod exempt;
mod members;
mod sample;
mod samples;
mod schema;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use antiphon_types::Version;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let (Some(dir), None) = (args.next(), args.next()) else {
        eprintln!("usage: antiphon-spec-check DIR");
        return ExitCode::from(2);
    };
    match run(&PathBuf::from(dir)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => {
            eprintln!("{failures} failures");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("antiphon-spec-check: {message}");
            ExitCode::from(2)
        }
    }
}

/// Checks all revisions against the schemas in `dir`; how many failures.
fn run(dir: &Path) -> Result<usize, String> {
    let versions = || Version::MODERN.iter().chain(Version::LEGACY).copied();
    let documents = versions()
        .map(|version| schema::Document::load(dir, version))
        .collect::<Result<Vec<_>, _>>()?;
    let mut failures = 0;
    for (version, document) in versions().zip(&documents) {
        let samples = samples::of(version);
        let report = check::check(document, &samples, &exempt::of(version));
        println!("{version}: {report}");
        let mut all = report.failures;
        if !version.is_modern() {
            let older = samples::older::of(version);
            all.extend(check::unfit(document, &older, &[]));
            println!("{version}: {} modern samples made older", older.list.len());
        }
        for failure in &all {
            println!("{version} {failure}");
        }
        failures += all.len();
    }
    Ok(failures)
}

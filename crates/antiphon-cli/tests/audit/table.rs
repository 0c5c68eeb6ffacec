//! What the command says of every planted server: the probe of its flaw finds it, and no other
//! finds anything.

use std::{process::Command, sync::Mutex, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    planted::{FLAWS, Flaw, Planted},
    room::Room,
};

/// How many audits run at once.
const AT_ONCE: usize = 4;
/// How long states live where that is probed, and how long they are kept. An honest round takes
/// milliseconds, also on a busy machine far less than this.
const LIFE: Duration = Duration::from_secs(10);
const WAIT: &str = "11s";

/// Whether the clock is a part of what is wrong, or of everything being right.
fn is_waited_for(flaw: Option<Flaw>) -> bool {
    matches!(flaw, None | Some(Flaw::Expired | Flaw::ErrorTexts))
}

/// The tool that shows a flaw.
fn tool(flaw: Option<Flaw>) -> &'static str {
    match flaw {
        Some(Flaw::LinkScheme | Flaw::LinkIdentity) => "pay",
        _ => "order",
    }
}

/// What can be wrong with a server of 2025-11-25 as well.
const OLDER: [Flaw; 9] = [
    Flaw::RenamedAnswers,
    Flaw::MistypedAnswers,
    Flaw::OversizedAnswers,
    Flaw::UndeclaredCapabilities,
    Flaw::QuestionsDrift,
    Flaw::SecretFields,
    Flaw::LinkScheme,
    Flaw::LinkIdentity,
    Flaw::EraConfusion,
];

/// In which revision a server is audited.
#[derive(Clone, Copy, PartialEq)]
enum Era {
    Modern,
    Older,
}

/// What the command says of a tool of a server, and how it ends.
fn audit(flaw: Option<Flaw>, tool: &str, era: Era) -> (Option<i32>, Value) {
    let waits = is_waited_for(flaw) && era == Era::Modern;
    let server = match waits {
        true => Planted::serve_with_life(flaw, LIFE),
        false => Planted::serve(flaw),
    };
    let arguments =
        json!({ "item": "green tea", "reference": 7, "options": { "a": 1, "b": "two" } });
    let room = Room::new();
    let mut command: Command = room.command(&["audit", &server.url, "--tool", tool]);
    command
        .args(["--args", &arguments.to_string()])
        .args(["--allow-effects", "--json", "--replica", &server.replica])
        .args(["--bearer-env", "ONE", "--bearer2-env", "TWO"])
        .envs([("ONE", "one"), ("TWO", "two")]);
    if waits {
        command.args(["--wait", WAIT]);
    }
    if era == Era::Older {
        command.arg("--legacy");
    }
    let output = command.output().expect("antiphon runs");
    let said = serde_json::from_slice(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    let said = said.unwrap_or_else(|error| panic!("{flaw:?}: {error}: {told}"));
    (output.status.code(), said)
}

/// The verdicts but `pass`, each with its probe.
fn findings(report: &Value) -> Vec<(String, String)> {
    let probes = report["probes"].as_array().expect("probes");
    let ids: Vec<_> = probes.iter().map(|probe| &probe["id"]).collect();
    assert_eq!(ids, FLAWS.map(|(_, id)| id), "every probe ran");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let verdicts = probes
        .iter()
        .map(|probe| (text(&probe["id"]), text(&probe["verdict"])));
    verdicts.filter(|(_, verdict)| verdict != "pass").collect()
}

/// What is wrong with what is said of a server; nothing, if it is right.
fn wrong(flaw: Option<Flaw>, era: Era) -> Option<String> {
    let tool = tool(flaw);
    let (status, report) = audit(flaw, tool, era);
    let mut expected = Vec::new();
    for (other, id) in FLAWS {
        let verdict = match other {
            _ if Some(other) == flaw && other.is_weak() => "weak",
            _ if Some(other) == flaw => "fail",
            Flaw::Expired if !is_waited_for(flaw) => "not tested",
            _ if !applies(other, tool, era) => "not tested",
            _ => continue,
        };
        expected.push((id.to_owned(), verdict.to_owned()));
    }
    let found = findings(&report);
    let code = i32::from(flaw.is_some_and(|flaw| !flaw.is_weak()));
    let is_right = found == expected && status == Some(code);
    let probes = report["probes"].as_array().expect("probes");
    let told = probes.iter().filter(|probe| probe["verdict"] != "pass");
    let told: Vec<_> = told
        .map(|probe| {
            format!(
                "\n    {}: {} {}",
                probe["id"], probe["detail"], probe["evidence"]
            )
        })
        .collect();
    (!is_right).then(|| {
        let name = flaw.map_or("no flaw", Flaw::id);
        let told = told.concat();
        format!("{name}: expected {expected:?}, found {found:?}, ended with {status:?}{told}\n")
    })
}

/// Whether a probe has something to look at in what a tool asks.
fn applies(probe: Flaw, tool: &str, era: Era) -> bool {
    match probe {
        _ if era == Era::Older && !OLDER.contains(&probe) => false,
        // Without a key it is the fields that have names, and a link has none.
        Flaw::RenamedAnswers if era == Era::Older => tool != "pay",
        Flaw::LinkScheme | Flaw::LinkIdentity => tool == "pay",
        Flaw::SecretFields => tool != "pay",
        _ => true,
    }
}

/// Audits all of these, some at a time.
fn audit_all(servers: Vec<Option<Flaw>>, era: Era) {
    let (servers, wrongs) = (Mutex::new(servers), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(flaw) = servers.lock().expect("no panic").pop() else {
                        break;
                    };
                    let wrong = wrong(flaw, era);
                    wrongs.lock().expect("no panic").extend(wrong);
                }
            });
        }
    });
    let wrongs = wrongs.into_inner().expect("no panic");
    assert!(wrongs.is_empty(), "{}", wrongs.concat());
}

#[test]
fn each_probe_finds_its_flaw_and_no_other() {
    let mut servers: Vec<_> = FLAWS.map(|(flaw, _)| Some(flaw)).to_vec();
    servers.push(None);
    // Those that wait go first.
    servers.sort_by_key(|flaw| match flaw {
        Some(Flaw::Replayed | Flaw::ReplayedConcurrently) => 2,
        flaw => usize::from(is_waited_for(*flaw)),
    });
    audit_all(servers, Era::Modern);
}

#[test]
fn each_probe_of_the_older_era_finds_its_flaw_and_no_other() {
    let mut servers: Vec<_> = OLDER.map(Some).to_vec();
    servers.push(None);
    audit_all(servers, Era::Older);
}

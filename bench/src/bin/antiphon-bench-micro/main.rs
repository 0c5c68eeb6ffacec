//! What the parts of the SDK cost, one by one and in process: instructions under callgrind, and
//! allocations. See `bench/micro`.
//!
//! `antiphon-bench-micro --list` prints the names of all, `antiphon-bench-micro NAME TIMES` does one
//! so many times and prints how many allocations that took, and of how many bytes.

mod client;
mod dispatch;
mod headers;
mod ledger;
mod messages;
mod meter;
mod nested;
mod parse;
mod seal;
mod sse;

use meter::Meter;

/// One that prepares what it needs, then has the meter count its work.
type Benchmark = fn(&mut Meter);

/// All of them, in the order of the table.
const BENCHMARKS: &[(&str, Benchmark)] = &[
    ("parse/echo", parse::echo),
    ("parse/retry", parse::retry),
    ("parse/nested", parse::nested),
    ("dispatch/echo", dispatch::echo),
    ("dispatch/confirm", dispatch::confirm),
    ("nested/serde", nested::serde),
    ("nested/unread", nested::unread),
    ("nested/typed", nested::typed),
    ("nested/checked", nested::checked),
    ("seal/both", seal::both),
    ("seal/cipher", seal::cipher),
    ("ledger/write", ledger::write),
    ("ledger/read", ledger::read),
    ("ledger/digest", ledger::digest),
    ("headers/check", headers::check),
    ("headers/encode", headers::encode),
    ("sse/answer", sse::answer),
    ("sse/answer-64k", sse::answer_64k),
    ("sse/read", sse::read),
    ("sse/read-64k", sse::read_64k),
    ("client/encode", client::encode),
    ("client/decode", client::decode),
    ("client/decode-asked", client::decode_asked),
    ("client/echo", client::echo),
    ("client/confirm", client::confirm),
];

fn main() -> Result<(), String> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list"] => {
            for (name, _) in BENCHMARKS {
                println!("{name}");
            }
            Ok(())
        }
        [name, times] => {
            let known = BENCHMARKS.iter().find(|(known, _)| *known == name);
            let (_, benchmark) = known.ok_or(format!("no benchmark is called {name}"))?;
            let times = times.parse().map_err(|_| format!("{times} is no number"))?;
            let mut meter = Meter::new(times);
            benchmark(&mut meter);
            println!("{meter}");
            Ok(())
        }
        _ => Err("usage: antiphon-bench-micro --list | NAME TIMES".to_owned()),
    }
}

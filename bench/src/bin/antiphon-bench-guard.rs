//! Compares figures with recorded budgets: `antiphon-bench-guard BUDGETS < FIGURES` fails if one is
//! over, `antiphon-bench-guard --record BUDGETS < FIGURES` makes them the budgets. See `bench/guard`.
//!
//! Both are lines of a name, its instructions and its allocations.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Read},
    process::ExitCode,
};

/// How far a figure may be from its budget, in per cent.
const SLACK: u64 = 5;

const HEAD: &str = "\
# What hot paths may cost: a name, its instructions, its allocations.
# Written by `bench/guard --record`, checked by `bench/guard`.
";

/// What one operation costs, by its name.
type Costs = BTreeMap<String, Cost>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cost {
    instructions: u64,
    allocations: u64,
}

/// Something about a figure that should be known.
#[derive(Debug, PartialEq, Eq)]
enum Finding {
    /// It is too high.
    Over(Difference),
    /// It is so low that the budget guards nothing.
    Under(Difference),
    /// There is no budget for it.
    New(String),
    /// There is a budget, and nothing was measured.
    Missing(String),
}

#[derive(Debug, PartialEq, Eq)]
struct Difference {
    name: String,
    what: &'static str,
    budget: u64,
    measured: u64,
}

impl Finding {
    /// Whether it must not be.
    fn fails(&self) -> bool {
        !matches!(self, Self::Under(_))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Over(difference) => write!(f, "OVER   {difference}"),
            Self::Under(difference) => write!(f, "under  {difference}; lower the budget"),
            Self::New(name) => write!(f, "NEW    {name} has no budget"),
            Self::Missing(name) => write!(f, "GONE   {name} has a budget and was not measured"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            what,
            budget,
            measured,
        } = self;
        let change = match budget {
            0 => "from nothing".to_owned(),
            _ => format!(
                "{:+.1} %",
                (*measured as f64 / *budget as f64 - 1.0) * 100.0
            ),
        };
        write!(f, "{name}: {measured} {what}, budget {budget}, {change}")
    }
}

/// Reads lines; what begins with `#` is a remark.
fn read(text: &str) -> Result<Costs, String> {
    let mut costs = Costs::new();
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let wrong = || format!("not a name and two numbers: {line}");
        let [name, instructions, allocations] = line.split_whitespace().collect::<Vec<_>>()[..]
        else {
            return Err(wrong());
        };
        let cost = Cost {
            instructions: instructions.parse().map_err(|_| wrong())?,
            allocations: allocations.parse().map_err(|_| wrong())?,
        };
        if costs.insert(name.to_owned(), cost).is_some() {
            return Err(format!("{name} stands twice"));
        }
    }
    match costs.is_empty() {
        true => Err("there are no figures".to_owned()),
        false => Ok(costs),
    }
}

fn written(costs: &Costs) -> String {
    let mut text = HEAD.to_owned();
    for (name, cost) in costs {
        let (instructions, allocations) = (cost.instructions, cost.allocations);
        text += &format!("{name:<24} {instructions:>9} {allocations:>5}\n");
    }
    text
}

/// All that is to be said of these figures.
fn compare(budgets: &Costs, measured: &Costs) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, budget) in budgets {
        let Some(cost) = measured.get(name) else {
            findings.push(Finding::Missing(name.clone()));
            continue;
        };
        for (what, budget, measured) in [
            ("instructions", budget.instructions, cost.instructions),
            ("allocations", budget.allocations, cost.allocations),
        ] {
            let difference = || Difference {
                name: name.clone(),
                what,
                budget,
                measured,
            };
            if measured * 100 > budget * (100 + SLACK) {
                findings.push(Finding::Over(difference()));
            } else if measured * 100 < budget * (100 - SLACK) {
                findings.push(Finding::Under(difference()));
            }
        }
    }
    let new = measured.keys().filter(|name| !budgets.contains_key(*name));
    findings.extend(new.cloned().map(Finding::New));
    findings
}

fn run() -> Result<bool, String> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let (record, file) = match &words[..] {
        [flag, file] if flag == "--record" => (true, file),
        [file] if !file.starts_with('-') => (false, file),
        _ => return Err("usage: antiphon-bench-guard [--record] BUDGETS < FIGURES".to_owned()),
    };
    let of = |error: io::Error| format!("{file}: {error}");
    let mut figures = String::new();
    let read_in = io::stdin().read_to_string(&mut figures);
    read_in.map_err(|error| error.to_string())?;
    let measured = read(&figures)?;
    if record {
        std::fs::write(file, written(&measured)).map_err(of)?;
        println!("recorded {} budgets", measured.len());
        return Ok(true);
    }
    let budgets = read(&std::fs::read_to_string(file).map_err(of)?)?;
    let findings = compare(&budgets, &measured);
    for finding in &findings {
        println!("{finding}");
    }
    let failed = findings.iter().filter(|finding| finding.fails()).count();
    match failed {
        0 => println!("{} figures are within their budgets", measured.len()),
        _ => println!("{failed} figures of {} are not as recorded", measured.len()),
    }
    Ok(failed == 0)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("antiphon-bench-guard: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGETS: &str = "# remark\nparse/echo 1000 20\n\nseal 2000 0\n";

    /// What is found of these figures under [`BUDGETS`], and whether that fails.
    fn found(figures: &str) -> (Vec<String>, bool) {
        let read = |text| read(text).expect("figures");
        let findings = compare(&read(BUDGETS), &read(figures));
        let failed = findings.iter().any(Finding::fails);
        (findings.iter().map(ToString::to_string).collect(), failed)
    }

    #[test]
    fn figures_within_their_budgets_are_not_mentioned() {
        for figures in [
            "parse/echo 1000 20\nseal 2000 0",
            "parse/echo 1050 21\nseal 1900 0",
        ] {
            assert_eq!(found(figures), (vec![], false), "{figures}");
        }
    }

    #[test]
    fn one_over_its_budget_fails_with_the_numbers() {
        let (said, failed) = found("parse/echo 1051 22\nseal 2000 1");
        assert!(failed);
        let expected = [
            "OVER   parse/echo: 1051 instructions, budget 1000, +5.1 %",
            "OVER   parse/echo: 22 allocations, budget 20, +10.0 %",
            "OVER   seal: 1 allocations, budget 0, from nothing",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn one_far_under_its_budget_is_told_and_does_not_fail() {
        let (said, failed) = found("parse/echo 949 20\nseal 2000 0");
        assert!(!failed);
        let expected = "under  parse/echo: 949 instructions, budget 1000, -5.1 %; lower the budget";
        assert_eq!(said, [expected]);
    }

    #[test]
    fn what_is_not_measured_or_has_no_budget_fails() {
        let (said, failed) = found("parse/echo 1000 20");
        assert!(failed);
        assert_eq!(said, ["GONE   seal has a budget and was not measured"]);
        let (said, failed) = found("parse/echo 1000 20\nseal 2000 0\nopen 1 1");
        assert!(failed);
        assert_eq!(said, ["NEW    open has no budget"]);
    }

    #[test]
    fn what_is_recorded_is_read_back() {
        let costs = read(BUDGETS).expect("budgets");
        assert_eq!(read(&written(&costs)), Ok(costs));
    }

    #[test]
    fn what_is_not_a_figure_is_refused() {
        for text in [
            "",
            "# nothing",
            "a 1",
            "a 1 x",
            "a 1 2 3",
            "a 1 2\na 1 2",
            "a -1 2",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}

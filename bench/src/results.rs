//! `RESULTS.md` and its plots, put together from the figures of a run and from what other scripts
//! printed.

use std::{
    fmt::{Display, Write},
    fs, io,
    path::Path,
};

use crate::{
    counts::Counts,
    growth, memory,
    plot::{Group, Line, Panel, bars, curves},
    report::Report,
    table::Table,
    targets::{self, Found},
    workers,
};

/// The workloads in the picture, which has no room for all.
const PICTURED: [&str; 7] = [
    "echo-32",
    "confirm-32",
    "nested",
    "large",
    "list",
    "stdio-32",
    "older-confirm-32",
];
const CPU_PLOT: &str = "cpu.svg";
const GROWTH_PLOT: &str = "growth.svg";

/// Writes the results to a file, and the plots to `plots` beside it.
pub(crate) fn compose(figures: &Path, sections: &Path, results: &Path) -> io::Result<()> {
    let report = Report::read(figures)?;
    let sections = Sections::read(sections)?;
    let folder = results.parent().unwrap_or(Path::new("")).join("plots");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(CPU_PLOT), cpu_plot(&report))?;
    fs::write(folder.join(GROWTH_PLOT), growth_plot(&report))?;
    fs::write(results, text(&report, &sections))
}

/// What other scripts printed; nothing where one did not run.
#[derive(Default)]
struct Sections {
    machine: String,
    counts: String,
    growth: String,
    micro: String,
    rebuild: String,
    soak: String,
}

impl Sections {
    fn read(folder: &Path) -> io::Result<Self> {
        let section = |name: &str| match fs::read_to_string(folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            text => text,
        };
        Ok(Self {
            machine: section("machine.txt")?,
            counts: section("counts.txt")?,
            growth: section("growth.txt")?,
            micro: section("micro.txt")?,
            rebuild: section("rebuild.txt")?,
            soak: section("soak.txt")?,
        })
    }
}

fn text(report: &Report, sections: &Sections) -> String {
    let mut page = Page::default();
    page.paragraph("# Results");
    page.paragraph(
        "Written by `bench/run`; do not edit. [README.md](README.md) tells what is measured and how to \
         read it, [CONTRACT.md](CONTRACT.md) what every server and client does.",
    );
    page.machine(&sections.machine);
    page.method(report);
    page.targets(report, sections);
    page.counted(sections);
    page.contests(report);
    page.growth(report, &sections.growth);
    page.memory(report);
    page.clients(report);
    page.rebuild(&sections.rebuild);
    page.printed(
        "Soak",
        "`bench/soak`: mixed load, with whatever clients do wrong.",
        &sections.soak,
    );
    page.0
}

/// What is written so far.
#[derive(Default)]
struct Page(String);

impl Page {
    fn paragraph(&mut self, text: impl Display) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        writeln!(self.0, "{text}").expect("a string can be written to");
    }

    fn table(&mut self, table: &Table) {
        self.0.push('\n');
        write!(self.0, "{table}").expect("a string can be written to");
    }

    /// A section with what a script printed, if it ran.
    fn printed(&mut self, title: &str, about: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.paragraph(format_args!("## {title}"));
        self.paragraph(about);
        self.verbatim(text);
    }

    fn verbatim(&mut self, text: &str) {
        self.paragraph(format_args!("```text\n{}\n```", text.trim_matches('\n')));
    }

    fn machine(&mut self, lines: &str) {
        let lines: Vec<String> = (lines.lines())
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| format!("- {name}: {value}"))
            .collect();
        self.paragraph(lines.join("\n"));
    }

    fn method(&mut self, report: &Report) {
        self.paragraph("## Method");
        self.paragraph(format_args!(
            "Servers take turns, one burst of {} ms each per round, in {} rounds after one that warms \
             up; every answer is checked. **CPU us** is the time that the server's threads spent on a \
             CPU, in user space and in the kernel, for each request that was answered: the median over \
             the rounds, with its multiple of `{}` and of the best peer, and then the least. Servers on \
             Rust are built with the same profile; all run on one thread, at their defaults. Instructions \
             and allocations are counted under valgrind, as the difference between a long and a short \
             run, and do not depend on what else the machine does. Figures within a table were measured \
             together, and are to be compared only with each other.",
            report.burst_ms, report.rounds, report.roles.baseline,
        ));
    }

    fn targets(&mut self, report: &Report, sections: &Sections) {
        self.paragraph("## Targets");
        self.paragraph(format_args!(
            "What was found for `{}` in this run, with all checks, limits, sealing and guards at their \
             defaults. CPU figures are medians, and the verdict is by them. [HISTORY.md](HISTORY.md) \
             tells what was found out about those that are missed.",
            report.roles.subject,
        ));
        let found = Found {
            report,
            counts: &Counts::read(&sections.counts),
            growth: &Counts::read(&sections.growth),
            micro: &sections.micro,
            rebuild: &sections.rebuild,
        };
        self.table(&targets::shown(&targets::targets(&found)));
    }

    fn counted(&mut self, sections: &Sections) {
        self.printed(
            "Instructions and allocations",
            "`bench/count`, in user space. `antiphon-503` is the server with 503 tools.",
            &sections.counts,
        );
        self.printed(
            "Single parts",
            "`bench/micro`: parts of the library by themselves, in process.",
            &sections.micro,
        );
    }

    fn contests(&mut self, report: &Report) {
        if report.workloads.is_empty() && report.workers.is_empty() {
            return;
        }
        self.paragraph("## CPU time");
        self.paragraph(format_args!(
            "![CPU time per request, by server and workload](plots/{CPU_PLOT})"
        ));
        for comparison in &report.workloads {
            self.paragraph(format_args!("### {}", comparison.name));
            self.paragraph(format_args!("{}.", capital(&comparison.title)));
            self.table(&comparison.shown(&report.roles.baseline));
        }
        if !report.workers.is_empty() {
            self.paragraph("### workers");
            self.paragraph(
                "Echo over HTTP, 32 connections, on a runtime of one thread and on one of two.",
            );
            self.table(&workers::shown(&report.workers));
        }
    }

    fn growth(&mut self, report: &Report, counted: &str) {
        if report.growth.is_empty() {
            return;
        }
        self.paragraph("## Growth");
        self.paragraph(
            "CPU us per echo, as one thing grows and all else stays. Each level is a process of its own, \
             and the levels of a server take turns.",
        );
        self.paragraph(format_args!(
            "![CPU time per echo as things grow](plots/{GROWTH_PLOT})"
        ));
        for found in &report.growth {
            self.table(&growth::shown(found));
        }
        if !counted.trim().is_empty() {
            self.paragraph(
                "`bench/growth`: instructions of `antiphon` per echo, in user space, beside 10,000 of \
                 each, and beside few.",
            );
            self.verbatim(counted);
        }
    }

    fn memory(&mut self, report: &Report) {
        if report.memory.is_empty() {
            return;
        }
        self.paragraph("## Memory");
        self.paragraph(
            "Resident memory in KiB. An open call includes its connection, of which `bare` shows the \
             share. What stays after each confirm, in bytes, is the mark that makes a state good for one \
             use; it goes when the state expires, after 600 seconds, so that its sum is bounded by the \
             confirms of that time. Others keep no such mark, and take a state as often as it is sent.",
        );
        self.table(&memory::shown(&report.memory));
    }

    /// The tables of `bench/rebuild` are Markdown already.
    fn rebuild(&mut self, tables: &str) {
        if tables.trim().is_empty() {
            return;
        }
        self.paragraph("## The user's own build");
        self.paragraph(
            "`bench/rebuild`: a server of 20 tools, released again after one of its handler files was \
             edited, and how many crates come along.",
        );
        self.paragraph(tables.trim_matches('\n'));
    }

    fn clients(&mut self, report: &Report) {
        if report.clients.is_empty() {
            return;
        }
        self.paragraph("## Clients");
        for (title, table) in report.shown_clients() {
            self.paragraph(format_args!(
                "{}. The CPU time is the client's.",
                capital(title)
            ));
            self.table(&table);
        }
    }
}

fn cpu_plot(report: &Report) -> String {
    let mut groups = Vec::new();
    for comparison in &report.workloads {
        if !PICTURED.contains(&comparison.name.as_str()) {
            continue;
        }
        let bars = comparison.servers.iter().filter_map(|row| {
            let figures = row.found.as_ref()?;
            Some((row.server.as_str(), figures.cpu_us.median))
        });
        groups.push(Group {
            name: &comparison.name,
            bars: bars.collect(),
        });
    }
    bars(
        "CPU time of a server per request",
        "microseconds on a CPU per request, logarithmic",
        &groups,
    )
}

fn growth_plot(report: &Report) -> String {
    let mut panels = Vec::new();
    for growth in &report.growth {
        let lines = growth.servers.iter().filter_map(|row| {
            let curve = row.found.as_ref()?;
            let points = curve.points.iter();
            Some(Line {
                name: &row.server,
                points: points.map(|p| (p.at, p.cpu_us.median)).collect(),
            })
        });
        panels.push(Panel {
            along: growth.axis.unit(),
            lines: lines.collect(),
        });
    }
    curves(
        "CPU time of a server per echo, as one thing grows",
        "microseconds on a CPU",
        &panels,
    )
}

/// The text with a capital letter at its start.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{contest::Bursts, load::Burst, report::Roles, workload::WORKLOADS};

    fn report() -> Report {
        let roles = Roles {
            baseline: "floor".to_owned(),
            client_baseline: "hyper".to_owned(),
            subject: "antiphon".to_owned(),
            limits: vec!["floor".to_owned()],
        };
        let mut report = Report::new(roles, 7, 400);
        let bursts = |us| -> Bursts {
            let burst = Burst {
                cpu: std::time::Duration::from_micros(us),
                wall: std::time::Duration::from_millis(1),
                latencies: vec![1000; 10],
            };
            Some(Ok(vec![burst]))
        };
        let results = vec![
            ("floor".to_owned(), bursts(100)),
            ("antiphon".to_owned(), bursts(120)),
        ];
        let stdio = WORKLOADS
            .iter()
            .find(|workload| workload.name == "stdio-32");
        report.add(stdio.expect("a workload"), results);
        report
    }

    #[test]
    fn a_page_holds_what_was_measured_and_nothing_else() {
        let sections = Sections {
            machine: "date: 2026-11-17\nCPU: two cores\n".to_owned(),
            counts: "\nper echo instructions x floor allocations bytes\n".to_owned(),
            ..Sections::default()
        };
        let text = text(&report(), &sections);
        assert!(
            text.contains("\n- date: 2026-11-17\n- CPU: two cores\n"),
            "{text}"
        );
        assert!(
            text.contains("### stdio-32\n\nEcho over stdio, 32 in flight.\n\n|"),
            "{text}"
        );
        assert!(text.contains("```text\nper echo instructions"), "{text}");
        let target = text
            .lines()
            .find(|line| line.contains("stdio, 32 in flight, CPU"));
        assert!(target.is_some_and(|line| line.contains("1.20") && line.contains("reached")));
        for missing in [
            "## Memory",
            "## Growth",
            "## Soak",
            "## Clients",
            "### workers",
        ] {
            assert!(!text.contains(missing), "{missing}");
        }
    }

    #[test]
    fn results_and_plots_are_written_from_files() {
        let folder = std::env::temp_dir().join(format!("antiphon-results-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let (figures, results) = (folder.join("figures.json"), folder.join("RESULTS.md"));
        report().write(&figures).expect("written");
        compose(&figures, &folder, &results).expect("composed");
        let text = fs::read_to_string(&results).expect("results");
        assert!(text.starts_with("# Results\n\nWritten by"));
        let plot = fs::read_to_string(folder.join("plots").join(CPU_PLOT)).expect("a plot");
        assert!(plot.contains(">stdio-32</text>"));
        fs::remove_dir_all(&folder).expect("removed");
    }
}

//! Mixed load on our own servers for as long as one likes: nothing may grow, and nothing may be left
//! behind. `bench/README.md` tells what is done and what is looked at.

#[path = "../../cpu.rs"]
mod cpu;
mod hosts;
mod lane;
mod message;
mod modern;
mod older;
mod pipe;
mod piped;
mod random;
#[path = "../../resident.rs"]
mod resident;
mod verdict;
mod wire;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::Parser;
use tokio::{
    task::JoinSet,
    time::{Instant, interval, sleep},
};

use crate::{
    cpu::CpuTime,
    hosts::Host,
    lane::{Pace, Tally, lane},
    message::{Done, Failure},
    modern::Modern,
    older::Older,
    piped::{Era, Piped},
    random::Random,
    verdict::{Course, allowed},
};

/// Soak a server.
#[derive(Parser)]
struct Options {
    /// The program of the server.
    #[arg(long)]
    server: PathBuf,
    /// How long there is load.
    #[arg(long, default_value_t = 2.0)]
    minutes: f64,
    /// How many flows begin in a second.
    #[arg(long, default_value_t = 600.0)]
    rate: f64,
    /// How long the server keeps what nobody comes back for, in seconds.
    #[arg(long, default_value_t = 20)]
    ttl: u64,
    /// What the server is to lose on purpose.
    #[arg(long, hide = true)]
    leak: Option<String>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(soak(&options)),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(faults) if faults.is_empty() => {
            println!("nothing grew, and nothing is left");
            ExitCode::SUCCESS
        }
        Ok(faults) => {
            for fault in faults {
                println!("FAULT {fault}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("antiphon-soak: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the load; what is wrong with the servers.
async fn soak(options: &Options) -> Result<Vec<String>, Failure> {
    let mut flags = vec!["--ttl".to_owned(), options.ttl.to_string()];
    if let Some(leak) = &options.leak {
        flags.extend(["--leak".to_owned(), leak.clone()]);
    }
    let ttl = Duration::from_secs(options.ttl);
    let (http, port) = Host::http(&options.server, &flags).await?;
    let (modern, modern_pipe) = Host::stdio(&options.server, &flags, Era::Modern).await?;
    let (older, older_pipe) = Host::stdio(&options.server, &flags, Era::Older).await?;
    let mut watch = Watch::begin([http, modern, older]).await?;

    let length = Duration::from_secs_f64(options.minutes * 60.0);
    let mut lanes = JoinSet::new();
    for number in 1..=LANES {
        let every = Duration::from_secs_f64(LANES as f64 / options.rate);
        // One after the other, not all at once.
        let first = watch.began + every.mul_f64(number as f64 / LANES as f64);
        let pace = Pace {
            first,
            every,
            until: watch.began + length,
        };
        let random = Random(number << 8);
        match number % 8 {
            0 => {
                let guest = Piped::new(modern_pipe.clone(), Era::Modern, number);
                lanes.spawn(lane("stdio", guest, random, pace));
            }
            1 => {
                let guest = Piped::new(older_pipe.clone(), Era::Older, number);
                lanes.spawn(lane("stdio, older", guest, random, pace));
            }
            2..=4 => {
                let guest = Older::new(port, number).await?;
                lanes.spawn(lane("http, older", guest, random, pace));
            }
            _ => {
                let guest = Modern::new(port, number, ttl).await?;
                lanes.spawn(lane("http", guest, random, pace));
            }
        }
    }
    let tally = watch.load(lanes, length).await?;
    let tried = watch.cpu()?;
    watch.rest(ttl).await?;
    Ok(watch.report(length, &tally, tried))
}

/// Half of them modern over HTTP but for a bit, and the rest shared by the others.
const LANES: u64 = 16;

/// All servers, and what they hold in the course of the run.
struct Watch {
    hosts: Vec<Host>,
    courses: Vec<Course>,
    cpu: Vec<CpuTime>,
    own_cpu: CpuTime,
    began: Instant,
}

impl Watch {
    async fn begin(hosts: impl IntoIterator<Item = Host>) -> Result<Self, Failure> {
        let mut watch = Self {
            hosts: hosts.into_iter().collect(),
            courses: Vec::new(),
            cpu: Vec::new(),
            own_cpu: CpuTime::of(std::process::id())?,
            began: Instant::now(),
        };
        for host in &mut watch.hosts {
            // The first answer may still make something that stays.
            host.holding().await?;
            let before = host.holding().await?;
            watch.courses.push(Course {
                name: host.name,
                before,
                samples: Vec::new(),
                after: before,
            });
            watch.cpu.push(host.cpu()?);
        }
        watch.began = Instant::now();
        Ok(watch)
    }

    /// Looks at the servers until all lanes are done.
    async fn load(
        &mut self,
        mut lanes: JoinSet<Result<Tally, Failure>>,
        length: Duration,
    ) -> Result<Tally, Failure> {
        let mut tally = Tally::new();
        let every = (length / 100).clamp(Duration::from_millis(100), Duration::from_secs(1));
        let mut ticks = interval(every);
        let mut rows = Rows::new(length, &self.courses);
        loop {
            tokio::select! {
                ended = lanes.join_next() => match ended {
                    None => return Ok(tally),
                    Some(ended) => for (flow, count) in ended?? {
                        *tally.entry(flow).or_default() += count;
                    },
                },
                _ = ticks.tick() => {
                    self.sample().await?;
                    rows.show(self.began.elapsed(), &self.courses);
                }
            }
        }
    }

    async fn sample(&mut self) -> Done {
        for (host, course) in self.hosts.iter_mut().zip(&mut self.courses) {
            let holding = host.holding().await?;
            course.samples.push((self.began.elapsed(), holding));
        }
        Ok(())
    }

    /// Waits until nothing is left, or everything should be gone.
    async fn rest(&mut self, ttl: Duration) -> Done {
        let until = Instant::now() + 2 * ttl + Duration::from_secs(5);
        loop {
            for (host, course) in self.hosts.iter_mut().zip(&mut self.courses) {
                course.after = host.holding().await?;
            }
            if self.courses.iter().all(Course::is_over) || Instant::now() > until {
                return Ok(());
            }
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// What the servers took on a CPU, and this process.
    fn cpu(&self) -> Result<(Duration, Duration), Failure> {
        let mut servers = Duration::ZERO;
        for (host, before) in self.hosts.iter().zip(&self.cpu) {
            servers += host.cpu()?.since(*before);
        }
        let own = CpuTime::of(std::process::id())?.since(self.own_cpu);
        Ok((servers, own))
    }

    fn report(&self, length: Duration, tally: &Tally, cpu: (Duration, Duration)) -> Vec<String> {
        println!();
        for (flow, count) in tally {
            println!("{count:9} {flow}");
        }
        let flows: u64 = tally.values().sum();
        println!("{flows:9} flows, every answer checked");
        let share = |cpu: Duration| 100.0 * cpu.as_secs_f64() / length.as_secs_f64();
        let (servers, own) = (share(cpu.0), share(cpu.1));
        println!("CPU: servers {servers:.0} % of one core, load {own:.0} %\n");
        for course in &self.courses {
            let (second, last) = course.growth(length);
            let (before, after) = (course.before, course.after);
            println!(
                "{}: resident {second} KiB in the second quarter, {last} in the last, {} allowed; \
                 tasks {} before, {} after; descriptors {}, {}; threads {}, {}; sessions {}, {}",
                course.name,
                allowed(second),
                before.tasks,
                after.tasks,
                before.descriptors,
                after.descriptors,
                before.threads,
                after.threads,
                before.sessions,
                after.sessions,
            );
        }
        let faults = self.courses.iter().flat_map(|course| course.faults(length));
        faults.collect()
    }
}

/// The table that is printed while there is load.
struct Rows {
    every: Duration,
    next: Duration,
}

impl Rows {
    fn new(length: Duration, courses: &[Course]) -> Self {
        print!("{:>7}", "seconds");
        for course in courses {
            print!(" | {:^31}", course.name);
        }
        print!("\n{:>7}", "");
        for _ in courses {
            let [kib, tasks, descriptors, sessions] = ["KiB", "tasks", "fds", "sessions"];
            print!(" | {kib:>7} {tasks:>6} {descriptors:>6} {sessions:>9}");
        }
        println!();
        Self {
            every: (length / 12).min(Duration::from_secs(60)),
            next: Duration::ZERO,
        }
    }

    /// Prints the last samples if it is time.
    fn show(&mut self, now: Duration, courses: &[Course]) {
        if now < self.next {
            return;
        }
        self.next += self.every;
        print!("{:7}", now.as_secs());
        for (_, held) in courses.iter().filter_map(|course| course.samples.last()) {
            print!(
                " | {:7} {:6} {:6} {:9}",
                held.resident_kib, held.tasks, held.descriptors, held.sessions
            );
        }
        println!();
    }
}

//! A shop in a process of its own, which can be killed wherever it stands.

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::{Duration, SystemTime},
};

use antiphon::{
    Ask, Form, Server, State, Stop, http,
    sealing::{Key, Sealing},
    store::FileStore,
};
use antiphon_tests::{ground::Ground, http as wire};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

/// How a shop remembers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    Neither,
    Guard,
    Journal,
    Both,
    BothAndRerun,
}

impl Column {
    const ALL: [Self; 5] = [
        Self::Neither,
        Self::Guard,
        Self::Journal,
        Self::Both,
        Self::BothAndRerun,
    ];

    fn sealing(self, store: FileStore) -> Sealing {
        let key = Key::new(&[7; 32]).expect("long enough");
        let sealing = Sealing::keys([key]).audience("shop");
        match self {
            Self::Neither => sealing.replayable(),
            Self::Guard => sealing.single_use(store),
            Self::Journal => sealing.replayable().journal(store),
            Self::Both => sealing.single_use(store.clone()).journal(store),
            Self::BothAndRerun => Self::Both.sealing(store).rerun_if_unknown(),
        }
    }
}

// ---- in the process of the shop ----

const GROUND: &str = "ANTIPHON_TESTS_SHOP";
const COLUMN: &str = "ANTIPHON_TESTS_SHOP_COLUMN";
const STOP_AT: &str = "ANTIPHON_TESTS_SHOP_STOPS_AT";
const LATER: &str = "ANTIPHON_TESTS_SHOP_LATER";

/// Where the shop is, and where it stands still.
struct Place {
    ground: PathBuf,
    stop_at: String,
}

impl Place {
    /// Says that it came here, and waits for the word to go on.
    async fn pass(&self, point: &str) {
        if self.stop_at == point {
            println!("reached {point}");
            while !self.ground.join("go").exists() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    }

    /// Writes a line to one of its files; how many there are now.
    fn write(&self, file: &str) -> usize {
        let path = self.ground.join(file);
        let mut file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.as_mut().expect("a file");
        file.write_all(b"x\n").expect("a line");
        lines(&path)
    }

    async fn effect(&self) -> Result<usize, Stop> {
        let number = self.write("effects");
        self.pass("during").await;
        Ok(number)
    }
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[derive(Form)]
struct Name {
    name: String,
}

type Shop = State<Arc<Place>>;

/// Asks, charges, and asks for something else.
async fn charge(State(place): Shop, ask: Ask) -> Result<String, Stop> {
    asks_and_charges(&place, &ask, false).await
}

/// The same, if it is harmless.
async fn remind(State(place): Shop, ask: Ask) -> Result<String, Stop> {
    asks_and_charges(&place, &ask, true).await
}

async fn asks_and_charges(place: &Place, ask: &Ask, harmless: bool) -> Result<String, Stop> {
    place.write("runs");
    let Name { name } = ask.form("name", "Who pays?")?;
    place.pass("before").await;
    let charge = ask.once("charge", async || place.effect().await);
    let number = match harmless {
        true => charge.rerun_if_unknown().await?,
        false => charge.await?,
    };
    place.pass("after").await;
    let Name { name: note } = ask.form("note", "What is it for?")?;
    Ok(format!("{name} pays number {number} for {note}"))
}

/// Charges at once.
async fn hasty(State(place): Shop, ask: Ask) -> Result<String, Stop> {
    let number = ask.once("charge", async || place.effect().await).await?;
    Ok(format!("number {number}"))
}

/// Charges at once, but only in a call that is known by its state.
async fn anchored(State(place): Shop, ask: Ask) -> Result<String, Stop> {
    ask.anchor()?;
    let number = ask.once("charge", async || place.effect().await).await?;
    Ok(format!("number {number}"))
}

/// The shop, when it is run as a process; does nothing when it is run as a test.
#[tokio::test]
async fn a_process_that_is_killed() {
    let Some(ground) = std::env::var_os(GROUND).map(PathBuf::from) else {
        return;
    };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let setting = |name| std::env::var(name).expect("it is set");
    let column = Column::ALL.map(|column| (format!("{column:?}"), column));
    let column = column
        .into_iter()
        .find(|(name, _)| *name == setting(COLUMN));
    let (_, column) = column.expect("a column");
    let later = Duration::from_secs(setting(LATER).parse().expect("seconds"));
    let store = FileStore::open(ground.join("store")).expect("a store");
    let place = Place {
        ground,
        stop_at: setting(STOP_AT),
    };
    let server: Server = Server::new("shop", "1.0")
        .tool("charge", charge)
        .tool("remind", remind)
        .tool("hasty", hasty)
        .tool("anchored", anchored)
        .sealing(
            column
                .sealing(store)
                .clock(move || SystemTime::now() + later),
        )
        .with_state(Arc::new(place));
    let server = wire::Server::start(http::service(server)).await;
    println!("listens on {}", server.address);
    std::future::pending::<()>().await;
}

// ---- in the process of the test ----

/// The shop as a test sees it. Its processes come and go; what they wrote stays.
pub(crate) struct Running {
    ground: Ground,
    column: Column,
    process: Child,
    output: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
}

impl Running {
    /// A shop that stands still at this point, if any.
    pub(crate) async fn start(column: Column, stop_at: &str) -> Self {
        Self::start_in(Ground::new(), column, stop_at, 0).await
    }

    async fn start_in(ground: Ground, column: Column, stop_at: &str, later: u32) -> Self {
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(ground.file("log"));
        let log: File = log.expect("a log");
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "shop::a_process_that_is_killed", "--nocapture"])
            .env(GROUND, ground.path())
            .env(COLUMN, format!("{column:?}"))
            .env(STOP_AT, stop_at)
            .env(LATER, later.to_string())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .expect("a process");
        let output = process.stdout.take().expect("its output");
        let mut shop = Self {
            ground,
            column,
            process,
            output: BufReader::new(output).lines(),
            address: ([127, 0, 0, 1], 0).into(),
        };
        let address = shop.hears("listens on ").await;
        shop.address = address.parse().expect("an address");
        shop
    }

    /// Waits until the shop says this; what follows on the line.
    async fn hears(&mut self, what: &str) -> String {
        let hearing = async {
            while let Some(line) = self.output.next_line().await.expect("a line") {
                if let Some((_, rest)) = line.split_once(what) {
                    return rest.to_owned();
                }
            }
            panic!("it ended without \"{what}\"; it said: {}", self.log())
        };
        let patience = Duration::from_secs(20);
        tokio::time::timeout(patience, hearing)
            .await
            .expect("it never said that")
    }

    /// Waits until the shop stands still.
    pub(crate) async fn reaches(&mut self, point: &str) {
        self.hears(&format!("reached {point}")).await;
    }

    /// Lets it go on.
    pub(crate) fn go(&self) {
        fs::write(self.ground.file("go"), "").expect("a file");
    }

    /// Kills the process. Another goes on with the same files, a minute later.
    pub(crate) async fn crash(mut self) -> Self {
        self.process.kill().await.expect("it is killed");
        Self::start_in(self.ground, self.column, "", 60).await
    }

    /// Sends a request; its answer.
    pub(crate) async fn ask(&self, message: &Value) -> Value {
        send(self.address, message).await
    }

    /// Sends a request whose answer is looked at later, if at all.
    pub(crate) fn send(&self, message: &Value) -> tokio::task::JoinHandle<Value> {
        let (address, message) = (self.address, message.clone());
        tokio::spawn(async move { send(address, &message).await })
    }

    /// How often the effect happened.
    pub(crate) fn effects(&self) -> usize {
        lines(&self.ground.file("effects"))
    }

    /// How often the handler ran.
    pub(crate) fn runs(&self) -> usize {
        lines(&self.ground.file("runs"))
    }

    /// What all its processes logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.ground.file("log")).unwrap_or_default()
    }
}

async fn send(address: SocketAddr, message: &Value) -> Value {
    let answer = wire::send(address, wire::post(message)).await;
    answer.last().clone()
}

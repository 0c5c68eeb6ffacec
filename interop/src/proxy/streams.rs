//! Streams arrive at once: what is sent can be acted upon before there is more.

use std::{
    error::Error,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use antiphon::{
    client::{CallTool, Change, Connection},
    types::SubscriptionFilter,
};
use antiphon_interop::same;
use tokio::time::{sleep, timeout};

use crate::{
    bench::{Bench, Guard, Place, Setup, soon},
    report::Report,
};

/// How often the tool `hold` reports.
const STEPS: u32 = 3;
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn checks(place: &Place, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let setup = Setup::with(Guard::File).staged();
    let bench = Bench::start(place, setup).await?;
    for era in ["modern", "legacy"] {
        let client = bench.client(era).await?;
        // Each replica once.
        for _ in 0..2 {
            report.check(
                format!("{era}: progress arrives while the call waits for who saw it"),
                released(&bench, &client).await,
            );
        }
        report.check(
            format!("{era}: a change arrives while the subscription is open"),
            told(&client).await,
        );
        client.close().await;
    }
    report.check("both replicas streamed", soon(|| both_held(&bench)).await);
    drop(bench);
    let older = setup.version("proxy_http_version 1.0;");
    let bench = Bench::start(place, older).await?;
    report.check(
        "over HTTP/1.0 to the replicas it does so as well",
        released(&bench, &bench.client("modern").await?).await,
    );
    drop(bench);
    let deaf = "proxy_http_version 1.0; proxy_ignore_headers X-Accel-Buffering;";
    let bench = Bench::start(place, setup.version(deaf)).await?;
    report.check(
        "but not if nginx is told to ignore X-Accel-Buffering",
        held_back(&bench).await,
    );
    Ok(())
}

/// A call that goes on with each report that arrives, and not otherwise.
async fn released(bench: &Bench, client: &Connection) -> Result<(), Box<dyn Error>> {
    for step in 1..=STEPS {
        _ = fs::remove_file(bench.stage.join(step.to_string()));
    }
    let (stage, heard) = (bench.stage.clone(), AtomicU32::new(0));
    let call = CallTool::new("hold", ())
        .on_progress(move |_| go_on(&stage, 1 + heard.fetch_add(1, SeqCst)));
    let result = timeout(PATIENCE, client.call(call)).await;
    let result = result.map_err(|_| "nothing was heard of its progress")??;
    same(&result.first_text(), &Some("released"))
}

fn go_on(stage: &Path, step: u32) {
    _ = fs::write(stage.join(step.to_string()), "");
}

/// A subscription hears of changes in the replica that it is connected to.
async fn told(client: &Connection) -> Result<(), Box<dyn Error>> {
    let note = "note://today";
    let filter = SubscriptionFilter::new().resource(note);
    let mut changes = client.listen(filter).await?;
    // One after the other: both are told.
    for _ in 0..2 {
        client.call_tool("touch", ()).await?;
    }
    let change = timeout(PATIENCE, changes.next())
        .await
        .map_err(|_| "nothing was heard of the change")?
        .ok_or("the subscription ended")??;
    same(&change, &Change::Resource(note.to_owned()))
}

fn both_held(bench: &Bench) -> Result<(), Box<dyn Error>> {
    let answered = bench.nginx.answered()?;
    let mut held: Vec<_> = answered
        .iter()
        .filter(|answered| answered.name == "hold")
        .filter_map(|answered| answered.by())
        .collect();
    held.sort_unstable();
    same(&held[..], &[0, 1])
}

/// That the check above can fail: here not all of it arrives, however long one waits.
async fn held_back(bench: &Bench) -> Result<(), Box<dyn Error>> {
    let client = bench.client("modern").await?;
    let heard = Arc::new(AtomicU32::new(0));
    let (stage, hears) = (bench.stage.clone(), heard.clone());
    let call = CallTool::new("hold", ())
        .on_progress(move |_| go_on(&stage, 1 + hears.fetch_add(1, SeqCst)));
    let later = async {
        sleep(Duration::from_secs(1)).await;
        let early = heard.load(SeqCst);
        (1..=STEPS).for_each(|step| go_on(&bench.stage, step));
        early
    };
    let (result, early) = tokio::join!(client.call(call), later);
    same(&result?.first_text(), &Some("released"))?;
    match (early < STEPS, heard.load(SeqCst)) {
        (true, STEPS) => Ok(()),
        (false, _) => Err("it was not held back".into()),
        (true, late) => Err(format!("{late} reports came").into()),
    }
}

//! `--trace` and `--jsonl`: what goes over the wire.

use std::{
    fs::File,
    io::Write,
    path::Path,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use antiphon::client::Traffic;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    failure::Failure, legs::Legs, options::Connecting, paused::shown, private, progress::Progress,
};

/// Who is shown the traffic.
pub(crate) struct Trace {
    legs: Option<Legs>,
    file: Option<Mutex<File>>,
    progress: Progress,
}

/// A line of `--jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    /// When, in UTC.
    at: String,
    /// `sent` or `received`.
    way: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a RawValue>,
    /// What is not JSON at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Trace {
    /// Opens the file, if one is named; `None` if nobody wants to see anything.
    pub(crate) fn new(
        connecting: &Connecting,
        progress: &Progress,
    ) -> Result<Option<Self>, Failure> {
        let open = |path: &Path| {
            private::create(path)
                .map_err(|error| Failure::usage(format!("--jsonl {}: {error}", shown(path))))
        };
        let file = connecting.jsonl.as_deref().map(open).transpose()?;
        let legs = connecting.trace.then(Legs::all);
        Ok((file.is_some() || legs.is_some()).then(|| Self {
            legs,
            file: file.map(Mutex::new),
            progress: progress.clone(),
        }))
    }

    pub(crate) fn show(&self, traffic: Traffic<'_>) {
        if let Some(line) = self.legs.as_ref().and_then(|legs| legs.describe(traffic)) {
            self.progress.line(&format!("  {line}"));
        }
        if let Some(file) = &self.file {
            let mut line = line(traffic);
            line.push(b'\n');
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            // Whole lines only, so that what is there can be read whatever happens.
            if let Err(error) = file.write_all(&line) {
                self.progress.line(&format!("antiphon: --jsonl: {error}"));
            }
        }
    }
}

fn line(traffic: Traffic<'_>) -> Vec<u8> {
    let (way, bytes) = match traffic {
        Traffic::Sent(bytes) => ("sent", bytes),
        Traffic::Received(bytes) => ("received", bytes),
    };
    let at = humantime::format_rfc3339_micros(SystemTime::now()).to_string();
    let message: Option<&RawValue> = serde_json::from_slice(bytes).ok();
    // A line break within the message would be one in the file.
    let message = message.filter(|message| !message.get().contains(['\n', '\r']));
    let text = match message {
        Some(_) => None,
        None => Some(String::from_utf8_lossy(bytes).into_owned()),
    };
    let line = Line {
        at,
        way,
        message,
        text,
    };
    serde_json::to_vec(&line).unwrap_or_default()
}

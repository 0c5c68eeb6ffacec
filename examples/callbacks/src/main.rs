//! A client that answers a server's questions: forms at the terminal, links after a look at them,
//! the workspace roots by itself.
//!
//! `cargo run -p example-callbacks` calls the tool `book` of a server in this process. With a URL,
//! a tool and its arguments as JSON it calls any server:
//! `cargo run -p example-callbacks -- http://localhost:3000/mcp greet '{"name":"Ada"}'`.

mod travel;

use std::{
    error::Error,
    io::{self, BufRead, Write},
    process::ExitCode,
};

use antiphon::{
    Client,
    client::{Form, Http, Link, Reply},
    memory,
    types::{PrimitiveSchema, Root},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

/// What stays as it is in the path of a URI; the rest is escaped.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.');

/// Asks for one line; none if nobody is there. Standard input blocks, so this runs on a thread
/// where it may.
async fn line(prompt: String) -> io::Result<Option<String>> {
    let ask = move || {
        print!("{prompt} ");
        io::stdout().flush()?;
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim().to_owned()))
    };
    tokio::task::spawn_blocking(ask).await?
}

/// Shows who asks and what, and fills in the form field by field. What does not fit comes back,
/// and the user is told why.
async fn fill_in(form: Form) -> io::Result<Reply> {
    println!(
        "{} asks for `{}`: {}",
        form.server(),
        form.call().name(),
        form.message
    );
    for error in form.errors() {
        println!("  not yet: {error}");
    }
    let mut content = form.defaults();
    for (name, field) in &form.requested_schema.properties {
        let typed = line(format!("  {name} (empty: as it is; `no`: decline)")).await?;
        match typed.as_deref() {
            // Silence is not consent.
            None => return Ok(form.cancel()),
            Some("") => continue,
            Some("no") => return Ok(form.decline()),
            Some(text) => {
                content.insert(name.clone(), value(field, text));
            }
        }
    }
    Ok(form.accept(content))
}

/// What was typed, as the field wants it. What it does not want comes back.
fn value(field: &PrimitiveSchema, text: &str) -> Value {
    match field {
        PrimitiveSchema::Number(_) | PrimitiveSchema::Boolean(_) => {
            serde_json::from_str(text).unwrap_or_else(|_| json!(text))
        }
        PrimitiveSchema::UntitledMultiSelect(_) | PrimitiveSchema::TitledMultiSelect(_) => {
            text.split(',').map(str::trim).collect()
        }
        _ => json!(text),
    }
}

/// Shows the whole link, and never opens it without a yes.
async fn visit(link: Link) -> io::Result<Reply> {
    println!(
        "{} asks to open {} ({})",
        link.server(),
        link.url,
        link.message
    );
    match line("  open it? [y/N]".to_owned()).await?.as_deref() {
        Some("y" | "yes") => Ok(link.accept()),
        Some(_) => Ok(link.decline()),
        None => Ok(link.cancel()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("callbacks: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let client = Client::new("callbacks", "1.0")
        .on_form(fill_in)
        .on_url(visit)
        .on_roots(|roots| async move {
            let here = std::env::current_dir()?;
            let path = utf8_percent_encode(&here.to_string_lossy(), PATH).to_string();
            let root = Root::new(format!("file://{path}"));
            Ok::<_, io::Error>(roots.list([root]))
        });

    let mut arguments = std::env::args().skip(1);
    let (connection, tool, given) = match (arguments.next(), arguments.next()) {
        (Some(url), Some(tool)) => {
            let given = arguments.next().unwrap_or_else(|| "{}".to_owned());
            let given: Map<String, Value> = serde_json::from_str(&given)
                .map_err(|error| format!("ARGUMENTS must be a JSON object: {error}"))?;
            (client.connect(Http::new(&url)).await?, tool, given)
        }
        (None, _) => {
            let connection = client.connect(memory(travel::server())).await?;
            let given = Map::from_iter([("city".to_owned(), json!("Oslo"))]);
            (connection, "book".to_owned(), given)
        }
        _ => return Err("usage: callbacks [URL TOOL [ARGUMENTS]]".into()),
    };
    let result = connection.call_tool(&tool, given).await?;
    let text = result.first_text().unwrap_or("(no text)");
    if result.failed() {
        return Err(text.into());
    }
    println!("{text}");
    Ok(())
}

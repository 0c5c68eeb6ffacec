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
};

use antiphon::{
    Client,
    client::{Form, Http, Link, Reply},
    memory,
    types::Root,
};
use serde_json::{Map, Value, json};

/// Asks for one line. Standard input blocks, so this runs on a thread where it may.
async fn line(prompt: String) -> io::Result<String> {
    let ask = move || {
        print!("{prompt} ");
        io::stdout().flush()?;
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        Ok(line.trim().to_owned())
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
    for (name, _) in &form.requested_schema.properties {
        let typed = line(format!("  {name} (empty: as it is; `no`: decline)")).await?;
        match typed.as_str() {
            "" => continue,
            "no" => return Ok(form.decline()),
            // Whatever reads as JSON is a number or a boolean, the rest is text.
            text => {
                let value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
                content.insert(name.clone(), value);
            }
        }
    }
    Ok(form.accept(content))
}

/// Shows the whole link, and never opens it without a yes.
async fn visit(link: Link) -> io::Result<Reply> {
    println!(
        "{} asks to open {} ({})",
        link.server(),
        link.url,
        link.message
    );
    match line("  open it? [y/N]".to_owned()).await?.as_str() {
        "y" | "yes" => Ok(link.accept()),
        _ => Ok(link.decline()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::new("callbacks", "1.0")
        .on_form(fill_in)
        .on_url(visit)
        .on_roots(|roots| async move {
            let here = std::env::current_dir()?;
            let root = Root::new(format!("file://{}", here.display()));
            Ok::<_, io::Error>(roots.list([root]))
        });

    let mut arguments = std::env::args().skip(1);
    let (connection, tool, given) = match (arguments.next(), arguments.next()) {
        (Some(url), Some(tool)) => {
            let given = arguments.next().unwrap_or_else(|| "{}".to_owned());
            let given: Map<String, Value> = serde_json::from_str(&given)?;
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
    println!("{}", result.first_text().unwrap_or("(no text)"));
    Ok(())
}

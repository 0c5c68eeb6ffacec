//! What the client does in each scenario: list what there is, then use it.

use std::error::Error;

use antiphon::{
    Client,
    client::{Connection, Http},
    types::{CallToolResult, Root, Tool},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

type Done = Result<(), Box<dyn Error>>;

/// Where a scenario plays.
pub(crate) struct Server {
    pub(crate) url: String,
    /// What the suite hands over, as JSON.
    pub(crate) context: Option<String>,
}

impl Server {
    async fn connect(&self, client: &Client) -> Result<Connection, Box<dyn Error>> {
        Ok(client.connect(Http::new(&self.url)).await?)
    }
}

fn client() -> Client {
    Client::new("antiphon-conformance", env!("CARGO_PKG_VERSION"))
}

/// The tool of this name, if it is offered.
fn offered<'a>(tools: &'a [Tool], name: &str) -> Result<&'a Tool, String> {
    tools
        .iter()
        .find(|tool| tool.name == name)
        .ok_or_else(|| format!("the server does not offer {name}"))
}

/// A result that is no failure.
fn succeeded(name: &str, result: CallToolResult) -> Result<CallToolResult, String> {
    match result.failed() {
        true => Err(format!("{name} failed: {}", said(&result))),
        false => Ok(result),
    }
}

pub(crate) fn said(result: &CallToolResult) -> &str {
    result.first_text().unwrap_or("nothing")
}

/// The server is greeted.
pub(crate) async fn initialize(server: &Server) -> Done {
    let connection = server.connect(&client()).await?;
    println!("revision {}", connection.protocol_version());
    println!("{} tools", connection.tools().all().await?.len());
    connection.close().await;
    Ok(())
}

/// A form is sent back as it came, with its defaults.
pub(crate) async fn defaults(server: &Server) -> Done {
    let client = client().on_form(|form| async move { form.accept(form.defaults()) });
    let connection = server.connect(&client).await?;
    let name = "test_client_elicitation_defaults";
    let result = connection.call_tool(name, ()).await?;
    println!("{name}: {}", said(&succeeded(name, result)?));
    connection.close().await;
    Ok(())
}

/// The stream of a call ends before its result, which is fetched later.
pub(crate) async fn reconnection(server: &Server) -> Done {
    let connection = server.connect(&client()).await?;
    let result = connection.call_tool("test_reconnection", ()).await?;
    println!(
        "test_reconnection: {}",
        said(&succeeded("test_reconnection", result)?)
    );
    connection.close().await;
    Ok(())
}

/// A tool is found and called.
pub(crate) async fn tools_call(server: &Server) -> Done {
    let connection = server.connect(&client()).await?;
    let tools = connection.tools().all().await?;
    let add = &offered(&tools, "add_numbers")?.name;
    let result = connection.call_tool(add, json!({"a": 5, "b": 3})).await?;
    println!("5 + 3: {}", said(&succeeded(add, result)?));
    connection.close().await;
    Ok(())
}

/// Every request says who is calling and what it can do, also after the first was refused.
pub(crate) async fn request_metadata(server: &Server) -> Done {
    let client = client()
        .on_form(|form| async move { form.accept(form.defaults()) })
        .on_sample(|sample| async move { sample.text("Hello.", "none") })
        .on_roots(|roots| async move { roots.list([Root::new("file:///srv")]) });
    let connection = server.connect(&client).await?;
    println!("{} tools", connection.tools().all().await?.len());
    connection.close().await;
    Ok(())
}

/// Calls that ask: their state goes back as it came, and to no other call.
pub(crate) async fn request_state(server: &Server) -> Done {
    let client = client().on_form(|form| async move { form.accept(json!({"confirmed": true})) });
    let connection = server.connect(&client).await?;
    let tools = connection.tools().all().await?;
    let call = async |name| -> Done {
        let name = &offered(&tools, name)?.name;
        let result = connection.call_tool(name, json!({})).await?;
        println!("{name}: {}", said(&succeeded(name, result)?));
        Ok(())
    };
    // Side by side, so that there is something to mix up.
    let (echo, unrelated) = tokio::join!(call("test_mrtr_echo_state"), call("test_mrtr_unrelated"));
    echo?;
    unrelated?;
    call("test_mrtr_no_state").await?;
    call("test_mrtr_no_result_type").await?;
    connection.close().await;
    Ok(())
}

/// Everything that is offered is listed and used; each request says in its headers what it is.
pub(crate) async fn standard_headers(server: &Server) -> Done {
    let connection = server.connect(&client()).await?;
    for tool in connection.tools().all().await? {
        let result = connection.call_tool(&tool.name, json!({})).await?;
        println!("{}: {}", tool.name, said(&result));
    }
    for resource in connection.resources().all().await? {
        let read = connection.read_resource(&resource.uri).await?;
        println!("{}: {} parts", resource.uri, read.contents.len());
    }
    for prompt in connection.prompts().all().await? {
        let got = connection.get_prompt(&prompt.name, ()).await?;
        println!("{}: {} messages", prompt.name, got.messages.len());
    }
    connection.close().await;
    Ok(())
}

/// The calls that the suite asks for, whose arguments are mirrored in headers.
pub(crate) async fn custom_headers(server: &Server) -> Done {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Context {
        tool_calls: Vec<Call>,
    }
    #[derive(Deserialize)]
    struct Call {
        name: String,
        #[serde(default)]
        arguments: Map<String, Value>,
    }

    let context = server.context.as_deref();
    let context = context.ok_or("MCP_CONFORMANCE_CONTEXT must say what to call")?;
    let context: Context = serde_json::from_str(context)?;
    let connection = server.connect(&client()).await?;
    let tools = connection.tools().all().await?;
    for Call { name, arguments } in context.tool_calls {
        let name = &offered(&tools, &name)?.name;
        let result = connection.call_tool(name, arguments).await?;
        println!("{name}: {}", said(&succeeded(name, result)?));
    }
    connection.close().await;
    Ok(())
}

/// Tools whose headers break the rules are not offered; all others are called.
pub(crate) async fn invalid_tool_headers(server: &Server) -> Done {
    let connection = server.connect(&client()).await?;
    let tools = connection.tools().all().await?;
    offered(&tools, "valid_tool")?;
    for tool in tools {
        let region = json!({"region": "us-west1"});
        let result = connection.call_tool(&tool.name, region).await?;
        println!("{}: {}", tool.name, said(&succeeded(&tool.name, result)?));
    }
    connection.close().await;
    Ok(())
}

/// A schema that refers to another address is taken as it is.
pub(crate) async fn foreign_reference(server: &Server) -> Done {
    let connection = server.connect(&client()).await?;
    for tool in connection.tools().all().await? {
        println!("{}: {}", tool.name, Value::Object(tool.input_schema));
    }
    connection.close().await;
    Ok(())
}

/// A schema reaches the caller with everything in it.
pub(crate) async fn schema_preservation(server: &Server) -> Done {
    let connection = server.connect(&client()).await?;
    let tools = connection.tools().all().await?;
    let schema = &offered(&tools, "json_schema_2020_12_tool")?.input_schema;
    let echo = &offered(&tools, "json_schema_echo")?.name;
    let result = connection
        .call_tool(echo, json!({ "schema": schema }))
        .await?;
    println!("{echo}: {}", said(&succeeded(echo, result)?));
    connection.close().await;
    Ok(())
}

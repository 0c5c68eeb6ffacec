//! How does one write a server by hand? One tool that greets, on stdio, or on HTTP with
//! `raw-server --http PORT`.

use antiphon::raw::{
    About, Answering, Call, CallTool, Endpoint, Error, List, Rendered, Reply, Service,
};
use antiphon::types::{CallToolResult, Implementation, ListToolsResult, ServerCapabilities, Tool};

struct Greeter;

impl Service for Greeter {
    fn about(&self) -> About {
        About::new(Implementation::new("greeter", "1.0"))
            .capabilities(ServerCapabilities::default().tools(false))
    }

    fn list_tools<'a>(
        &'a self,
        _: &'a Call<'a>,
        _: List<'a>,
    ) -> Answering<'a, Rendered<ListToolsResult>> {
        let greet = Tool::empty("greet").description("Says hello.");
        Box::pin(async { Ok(ListToolsResult::new(vec![greet]).into()) })
    }

    fn call_tool<'a>(
        &'a self,
        _: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            match tool.name {
                "greet" => Ok(CallToolResult::text("Hello!").into()),
                other => Err(Error::invalid_params(format!("Unknown tool: {other}"))),
            }
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let endpoint = Endpoint::new(Greeter);
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => antiphon::stdio::serve(endpoint).await?,
        ["--http", port] => {
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
            antiphon::http::serve(listener, antiphon::http::service(endpoint)).await?;
        }
        _ => return Err("usage: raw-server [--http PORT]".into()),
    }
    Ok(())
}

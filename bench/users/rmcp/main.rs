mod desk1;
mod desk2;
mod desk3;
mod desk4;
mod desk5;

use std::{fmt::Display, io, sync::Arc};

use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
    service::TowerToHyperService,
};
use rmcp::{
    ErrorData, ServerHandler, ServiceExt,
    handler::server::router::tool::ToolRouter,
    model::{ServerCapabilities, ServerConfig},
    tool_handler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};

#[derive(Clone)]
pub struct Shop {
    owner: Arc<str>,
    router: Arc<ToolRouter<Self>>,
}

fn failed(error: impl Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[tool_handler(router = self.router)]
impl ServerHandler for Shop {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let router = Shop::desk1() + Shop::desk2() + Shop::desk3() + Shop::desk4() + Shop::desk5();
    let shop = Shop {
        owner: "Ada".into(),
        router: Arc::new(router),
    };
    if std::env::args().any(|arg| arg == "--stdio") {
        let running = shop.serve(rmcp::transport::stdio()).await;
        running.map_err(io::Error::other)?.waiting().await?;
        return Ok(());
    }
    let service = TowerToHyperService::new(StreamableHttpService::new(
        move || Ok(shop.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    ));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    loop {
        let (stream, _) = listener.accept().await?;
        let service = service.clone();
        tokio::spawn(async move {
            let builder = Builder::new(TokioExecutor::new());
            _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

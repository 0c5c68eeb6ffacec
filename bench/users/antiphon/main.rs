mod desk1;
mod desk2;
mod desk3;
mod desk4;
mod desk5;

use std::sync::Arc;

use antiphon::{Server, http, stdio};

#[derive(Clone)]
pub struct Shop {
    owner: Arc<str>,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let server = Server::new("shop", "1.0");
    let server = desk2::add(desk1::add(server));
    let server = desk5::add(desk4::add(desk3::add(server)));
    let server = server.with_state(Shop {
        owner: "Ada".into(),
    });
    if std::env::args().any(|arg| arg == "--stdio") {
        return stdio::serve(server).await;
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    http::serve(listener, http::service(server)).await
}

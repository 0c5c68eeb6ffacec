//! What handlers need before, as arguments: found where it can be, asked for where it must be.

mod inn;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    antiphon::stdio::serve(inn::server()).await
}

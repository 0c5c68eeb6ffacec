use antiphon::{Progress, Server};

async fn work(progress: Option<Progress>) -> String {
    format!("{}", progress.is_some())
}

fn main() {
    let _: Server = Server::new("worker", "1.0").tool("work", work);
}

use antiphon::Server;

struct Celsius(f64);

async fn temperature() -> Celsius {
    Celsius(21.5)
}

async fn weekday() -> Result<u8, antiphon::Stop> {
    Ok(3)
}

fn main() {
    let _: Server = Server::new("weather", "1.0")
        .tool("temperature", temperature)
        .tool("weekday", weekday)
        .resource("weather://now", temperature);
}

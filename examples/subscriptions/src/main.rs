//! A resource that clients watch: they are told when it changes, and read it again.
//!
//! `cargo run -p example-subscriptions`, on stdio. A client listens with `subscriptions/listen`
//! for `room://temperature`; the tool `set` sets a goal, and a task in the background heats or
//! cools the room by a degree at a time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering::Relaxed},
    },
    time::Duration,
};

use antiphon::{
    Args, Resource, Server, State,
    schemars::{self, JsonSchema},
    stdio,
};
use serde::Deserialize;

const TEMPERATURE: &str = "room://temperature";

#[derive(Clone)]
struct Room {
    now: Arc<AtomicI32>,
    goal: Arc<AtomicI32>,
}

async fn temperature(State(room): State<Room>) -> String {
    format!("{} °C", room.now.load(Relaxed))
}

/// Set the temperature the room should have.
#[derive(Deserialize, JsonSchema)]
struct Set {
    #[schemars(range(min = 10, max = 30))]
    celsius: i32,
}

async fn set(Args(set): Args<Set>, State(room): State<Room>) -> String {
    room.goal.store(set.celsius, Relaxed);
    format!("It will be {} °C soon.", set.celsius)
}

/// Moves the temperature towards the goal and says so. Whoever listens is told; whoever does not
/// listen costs nothing.
async fn heat(server: Server, room: Room) {
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let (now, goal) = (room.now.load(Relaxed), room.goal.load(Relaxed));
        if now != goal {
            room.now.store(now + (goal - now).signum(), Relaxed);
            server.notify_resource_updated(TEMPERATURE);
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let room = Room {
        now: Arc::new(AtomicI32::new(20)),
        goal: Arc::new(AtomicI32::new(20)),
    };
    let server = Server::new("room", "1.0")
        .tool("set", set)
        .add(Resource::new(TEMPERATURE, temperature).watched())
        .with_state(room.clone());
    // A clone is the same server: what is announced on one, clients of the other hear.
    tokio::spawn(heat(server.clone(), room));
    stdio::serve(server).await
}

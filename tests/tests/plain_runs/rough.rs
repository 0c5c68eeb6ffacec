//! The same flow as a tool, round by round: other servers, rotated keys, requests that are sent again,
//! answers that come one by one.

use std::{
    collections::BTreeSet,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use antiphon::{
    Answer, Ask, Context, Form, FromCall, Resolve, Resolved, Server, Stop,
    sealing::{Key, Sealing},
    store::MemoryStore,
};
use antiphon_tests::{asking::retry, call, wire::Connection};
use proptest::{collection::vec, prelude::*, test_runner::TestCaseError};
use serde_json::{Map, Value, json};

use super::{
    flow::{Flow, Keys, NAMES, Op, Reply, answer, mixed, question, worked},
    plain::Run,
};

/// What happens between the rounds.
#[derive(Debug, Clone)]
pub(crate) struct Trip {
    legs: Vec<Leg>,
    guard: bool,
    /// There must be one of both, or work is done again.
    journal: bool,
}

#[derive(Debug, Clone)]
struct Leg {
    /// How many of the questions are answered, in thirds.
    answers: u8,
    /// How often the request is sent once more.
    again: u8,
    /// Whether that is at the same time.
    at_once: bool,
    /// Whether an earlier request is sent once more.
    older: bool,
    rotates: bool,
}

pub(crate) fn trips() -> impl Strategy<Value = Trip> {
    let leg = (0..4u8, 0..3u8, any::<[bool; 3]>()).prop_map(|(answers, again, other)| Leg {
        answers,
        again,
        at_once: other[0],
        older: other[1],
        rotates: other[2],
    });
    let kept = prop_oneof![Just((true, false)), Just((false, true)), Just((true, true))];
    (vec(leg, 1..6), kept).prop_map(|(legs, (guard, journal))| Trip {
        legs,
        guard,
        journal,
    })
}

/// What every server of a flow has.
#[derive(Clone)]
struct World {
    flow: Arc<Flow>,
    run: Arc<Mutex<Run>>,
}

#[derive(Form)]
struct Number {
    number: u32,
}

/// A resolver, by its number.
#[derive(Clone)]
struct Node<const N: usize>(u64);

impl<const N: usize> Resolve<World> for Node<N> {
    const NAME: &'static str = NAMES[N];

    async fn resolve(call: &Context<'_>, world: &World) -> Result<Self, Stop> {
        let ops = &world.flow.resolvers[N];
        let prefix = format!("{}.", NAMES[N]);
        let mut doing = Doing::new(call, world, prefix)?;
        Ok(Self(doing.ops(ops, N as u64).await?))
    }
}

/// What the handler does by itself.
struct Own(u64);

impl FromCall<World> for Own {
    const ASKS: bool = true;

    async fn from_call(call: &Context<'_>, world: &World) -> Result<Self, Stop> {
        let mut doing = Doing::new(call, world, String::new())?;
        Ok(Self(doing.ops(&world.flow.handler, 7).await?))
    }
}

async fn tool(
    Resolved(Node(one)): Resolved<Node<2>>,
    Resolved(Node(other)): Resolved<Node<3>>,
    own: Result<Own, Stop>,
) -> Result<String, Stop> {
    let Own(own) = own?;
    Ok(format!("{one} {other} {own}"))
}

/// One run of a handler or a resolver.
struct Doing<'c> {
    call: &'c Context<'c>,
    world: &'c World,
    prefix: String,
    ask: Ask,
    keys: Keys,
}

impl<'c> Doing<'c> {
    fn new(call: &'c Context<'c>, world: &'c World, prefix: String) -> Result<Self, Stop> {
        Ok(Self {
            call,
            world,
            prefix,
            ask: call.ask()?,
            keys: Keys::default(),
        })
    }

    fn ops<'a>(
        &'a mut self,
        ops: &'a [Op],
        from: u64,
    ) -> Pin<Box<dyn Future<Output = Result<u64, Stop>> + Send + 'a>> {
        Box::pin(async move {
            let mut so_far = from;
            for op in ops {
                so_far = self.op(op, so_far).await?;
            }
            Ok(so_far)
        })
    }

    async fn op(&mut self, op: &Op, so_far: u64) -> Result<u64, Stop> {
        Ok(match op {
            Op::Ask(numbers) => {
                let keys: Vec<_> = numbers.iter().map(|it| self.keys.next('q', *it)).collect();
                let asked: Vec<Result<Answer<Number>, Stop>> = keys
                    .iter()
                    .map(|key| {
                        let full = format!("{}{key}", self.prefix);
                        self.ask.form(key, question(&full, so_far))
                    })
                    .collect();
                let answers = asked.into_iter().collect::<Result<Vec<_>, Stop>>()?;
                let answers: Vec<_> = answers
                    .into_iter()
                    .map(|answer| match answer {
                        Answer::Accept(Number { number }) => Reply::Accept(number),
                        Answer::Decline => Reply::Decline,
                        Answer::Cancel => Reply::Cancel,
                    })
                    .collect();
                mixed(so_far, &answers)
            }
            Op::Once(number) => {
                let key = self.keys.next('w', *number);
                let came: u64 = self.work(&key, so_far).await?;
                mixed(so_far, &came)
            }
            Op::Join(one, other) => {
                let keys = [self.keys.next('w', *one), self.keys.next('w', *other)];
                let (one, other) =
                    tokio::join!(self.work(&keys[0], so_far), self.work(&keys[1], so_far));
                mixed(so_far, &[one?, other?])
            }
            Op::Take(number) => {
                let (call, world) = (self.call, self.world);
                let value = match number {
                    0 => call.resolve::<Node<0>, _>(world).await?.0,
                    1 => call.resolve::<Node<1>, _>(world).await?.0,
                    2 => call.resolve::<Node<2>, _>(world).await?.0,
                    _ => call.resolve::<Node<3>, _>(world).await?.0,
                };
                mixed(so_far, &value)
            }
            Op::Later(rounds) => {
                if self.ask.round() < u32::from(*rounds) {
                    self.ask.later(Duration::from_secs(1))?;
                }
                so_far
            }
            Op::Branch(yes, no) => {
                let way = if so_far.is_multiple_of(2) { yes } else { no };
                self.ops(way, so_far).await?
            }
        })
    }

    async fn work(&self, key: &str, so_far: u64) -> Result<u64, Stop> {
        let full = format!("{}{key}", self.prefix);
        let work = async || {
            // Others get on meanwhile, and may come to the same.
            tokio::task::yield_now().await;
            let came = worked(&full, so_far);
            let mut run = self
                .world
                .run
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *run.done.entry(full.clone()).or_default() += 1;
            Ok(came)
        };
        self.ask.once(key, work).await
    }
}

/// Where a flow is played.
struct Ground {
    world: World,
    store: Arc<MemoryStore>,
    keys: u8,
    guard: bool,
    journal: bool,
}

impl Ground {
    /// A server of its own, which shares nothing but keys and stores with others.
    fn server(&self) -> Connection {
        let key = |number: u8| Key::new(&[number; 32]).expect("long enough");
        // In the phases of a rotation, the newer opens before it seals. None is retired: a request
        // of any age may come again.
        let (old, new) = (self.keys / 2, self.keys / 2 + 1);
        let seals = if self.keys.is_multiple_of(2) {
            old
        } else {
            new
        };
        let others = (0..=new).filter(|other| *other != seals);
        let keys: Vec<_> = std::iter::once(seals).chain(others).map(key).collect();
        let mut sealing = Sealing::keys(keys).audience("flow");
        sealing = match self.guard {
            true => sealing.single_use(self.store.clone()),
            false => sealing.replayable(),
        };
        if self.journal {
            sealing = sealing.journal(self.store.clone());
        }
        let server = Server::new("flow", "1.0")
            .tool("flow", tool)
            .sealing(sealing)
            .with_state(self.world.clone());
        Connection::memory(server)
    }

    async fn ask(&self, message: &Value) -> Value {
        self.server().ask(message).await.result().clone()
    }
}

pub(crate) async fn run(flow: &Flow, trip: &Trip) -> Result<Run, TestCaseError> {
    let world = World {
        flow: Arc::new(flow.clone()),
        run: Arc::default(),
    };
    let mut ground = Ground {
        world,
        store: Arc::default(),
        keys: 0,
        guard: trip.guard,
        journal: trip.journal,
    };
    let first = call(1, "flow", json!({}));
    // Sent once: nobody knows a first request when it comes again.
    let mut sent = vec![first.clone()];
    let mut came = vec![ground.ask(&first).await];
    let mut asked = BTreeSet::new();
    let mut legs = trip.legs.iter().cycle();
    while came[came.len() - 1]["resultType"] == "input_required" {
        prop_assert!(came.len() < 60, "it does not end: {:?}", came.last());
        let leg = legs.next().expect("there is one");
        if leg.rotates {
            ground.keys += 1;
        }
        let last = &came[came.len() - 1];
        let answers = answers(last, leg, flow.people, &mut asked)?;
        let state = last["requestState"].as_str().expect("a state");
        let next = retry(&first, state, answers);
        if leg.older && sent.len() > 1 {
            let at = usize::from(leg.answers) % (sent.len() - 1) + 1;
            let again = ground.ask(&sent[at]).await;
            same(&again, &came[at], ground.guard)?;
        }
        let answer = match leg.at_once && leg.again > 0 {
            true => {
                let (one, other) = tokio::join!(ground.ask(&next), ground.ask(&next));
                same(&one, &other, ground.guard)?;
                other
            }
            false => ground.ask(&next).await,
        };
        for _ in 0..leg.again {
            same(&ground.ask(&next).await, &answer, ground.guard)?;
        }
        sent.push(next);
        came.push(answer);
    }
    let last = &came[came.len() - 1];
    prop_assert_eq!(&last["isError"], &Value::Null, "{}", last);
    let mut run = ground
        .world
        .run
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let mut run = std::mem::take(&mut *run);
    run.text = last["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    run.asked = asked;
    Ok(run)
}

/// What people say to some of what they are asked; to one thing at least.
fn answers(
    result: &Value,
    leg: &Leg,
    people: u64,
    asked: &mut BTreeSet<String>,
) -> Result<Value, TestCaseError> {
    let none = Map::new();
    let questions = result["inputRequests"].as_object().unwrap_or(&none);
    let most = (questions.len() * usize::from(leg.answers))
        .div_ceil(3)
        .max(1);
    let mut answers = Map::new();
    for (key, request) in questions {
        let message = request["params"]["message"].as_str().unwrap_or_default();
        asked.insert(message.to_owned());
        if answers.len() >= most {
            continue;
        }
        let entry = match answer(people, message) {
            Reply::Accept(number) => json!({ "action": "accept", "content": { "number": number } }),
            Reply::Decline => json!({ "action": "decline" }),
            Reply::Cancel => json!({ "action": "cancel" }),
        };
        answers.insert(key.clone(), entry);
    }
    Ok(answers.into())
}

/// A request that was sent again got the same answer: the very same with a guard, the same questions
/// without.
fn same(again: &Value, first: &Value, guard: bool) -> Result<(), TestCaseError> {
    let stateless = |answer: &Value| {
        let mut answer = answer.clone();
        if !guard && let Some(answer) = answer.as_object_mut() {
            answer.remove("requestState");
        }
        answer
    };
    prop_assert_eq!(stateless(again), stateless(first));
    Ok(())
}

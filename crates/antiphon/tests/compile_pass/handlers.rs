//! Everything that is a handler.

use std::future::{Future, ready};

use antiphon::{
    Args, Call, CancellationToken, ClientInfo, Context, FromCall, Json, Progress, Server, State,
    Stop, schemars::JsonSchema,
};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize, JsonSchema)]
struct Word {
    word: String,
}

#[derive(Clone)]
struct Dictionary;

impl Dictionary {
    async fn lookup(Args(Word { word }): Args<Word>, State(_): State<Self>) -> String {
        word
    }

    fn count(State(_): State<Self>) -> impl Future<Output = Result<String, Stop>> {
        ready(Ok("0".to_owned()))
    }

    fn boxed(call: Call) -> std::pin::Pin<Box<dyn Future<Output = String> + Send>> {
        Box::pin(async move { call.target().to_owned() })
    }

    async fn words(self, _: Call) -> String {
        "none".to_owned()
    }
}

/// An extractor of the author, for one state.
struct Language;

impl FromCall<Dictionary> for Language {
    async fn from_call(_: &Context<'_>, _: &Dictionary) -> Result<Self, Stop> {
        Ok(Self)
    }
}

async fn language(_: Language) -> &'static str {
    "English"
}

async fn maybe(client: Option<ClientInfo>, progress: Result<Progress, Stop>) -> String {
    format!("{} {}", client.is_some(), progress.is_ok())
}

async fn no_arguments() {}

macro_rules! arity {
    ($($name:ident($($n:tt)*);)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "that is what is shown")]
        async fn $name($(arity!(@ $n _): arity!(@ $n Call),)*) -> String {
            stringify!($name).to_owned()
        }
    )*};
    (@ $n:tt $what:tt) => { $what };
}

arity! {
    a0(); a1(1); a2(1 2); a3(1 2 3); a4(1 2 3 4); a5(1 2 3 4 5); a6(1 2 3 4 5 6);
    a7(1 2 3 4 5 6 7); a8(1 2 3 4 5 6 7 8); a9(1 2 3 4 5 6 7 8 9);
    a10(1 2 3 4 5 6 7 8 9 10); a11(1 2 3 4 5 6 7 8 9 10 11);
    a12(1 2 3 4 5 6 7 8 9 10 11 12);
}

#[test]
fn all_of_them_register() {
    let greeting = "Hello".to_owned();
    let dictionary = Dictionary;
    let _: Server = Server::new("everything", "1.0")
        .tool("a0", a0)
        .tool("a1", a1)
        .tool("a2", a2)
        .tool("a3", a3)
        .tool("a4", a4)
        .tool("a5", a5)
        .tool("a6", a6)
        .tool("a7", a7)
        .tool("a8", a8)
        .tool("a9", a9)
        .tool("a10", a10)
        .tool("a11", a11)
        .tool("a12", a12)
        .tool("no_arguments", no_arguments)
        .tool(
            "closure",
            |Args(word): Args<Word>| async move { Json(word) },
        )
        .tool("async_closure", async |_: CancellationToken| "done")
        .tool("capturing", move |_: Call| {
            let greeting = greeting.clone();
            async move { greeting }
        })
        .tool("lookup", Dictionary::lookup)
        .tool("count", Dictionary::count)
        .tool("boxed", Dictionary::boxed)
        .tool("words", move |call: Call| dictionary.clone().words(call))
        .tool("language", language)
        .tool("maybe", maybe)
        .prompt("greet", async |Args(Word { word }): Args<Word>| word)
        .resource("words://all", async || "none")
        .with_state(Dictionary);
}

//! Links: agreeing to open one is not doing what is behind it, and only whom it was made for can.

use antiphon::{
    Answer, Ask, Completions, Server, State, Stop,
    link::{BadHandle, NotCompleted},
    sealing::Sealing,
    testing::Script,
};
use antiphon_core::{link::Handle, moment::Moment};

type Accounts = Completions<String>;

async fn balance(State(accounts): State<Accounts>, ask: Ask) -> Result<String, Stop> {
    let account = ask.url(
        "signin",
        "Sign in",
        |handle| format!("https://bank.example/sign-in/{handle}"),
        |handle| accounts.get(handle),
    )?;
    Ok(format!("{account} has 7 ducats"))
}

fn server(accounts: &Accounts) -> Server {
    Server::new("bank", "1.0")
        .tool("balance", balance)
        .with_state(accounts.clone())
}

fn handle_of(url: &str) -> &str {
    url.rsplit('/').next().expect("a handle")
}

#[tokio::test]
async fn what_is_behind_a_link_counts_once_it_is_done() {
    let accounts = Accounts::new();
    let page = accounts.clone();
    let people = Script::new().visit("signin", move |url| {
        let page = page.clone();
        async move {
            let handle = handle_of(&url);
            page.complete(handle, Some("ada"), "Ada".to_owned())
                .expect("a good link");
            let again = page.complete(handle, Some("eve"), "Eve".to_owned());
            assert_eq!(again, Err(NotCompleted::Before));
        }
    });
    let played = people.call_tool(&server(&accounts), "balance", ()).await;
    assert_eq!(played.text(), "Ada has 7 ducats");
    played.assert_rounds([["signin"]]);
    // A link of another call is another link.
    let people = (0..4).fold(Script::new(), |script, _| script.accept_link("signin"));
    let played = people.call_tool(&server(&accounts), "balance", ()).await;
    assert!(played.failure().contains("not completed"));
}

/// ELIC-S-11: asked again, with the same link, and told so.
#[tokio::test]
async fn agreeing_is_not_doing() {
    let accounts = Accounts::new();
    let page = accounts.clone();
    let people = Script::new()
        .accept_link("signin")
        .visit("signin", move |url| {
            let page = page.clone();
            async move {
                page.complete(handle_of(&url), None, "Ada".to_owned())
                    .expect("a good link");
            }
        });
    let played = people.call_tool(&server(&accounts), "balance", ()).await;
    assert_eq!(played.text(), "Ada has 7 ducats");
    played.assert_rounds([["signin"], ["signin"]]);
    assert!(played.message("signin").contains("not completed"));
    let played = Script::new()
        .decline("signin")
        .call_tool(&server(&accounts), "balance", ())
        .await;
    assert_eq!(played.failure(), "The user declined to answer `signin`.");
}

/// ELIC-S-32: a link that was sent on to somebody else is not completed by them.
#[tokio::test]
async fn only_whom_a_link_was_made_for_can_complete_it() {
    let accounts = Accounts::new();
    let page = accounts.clone();
    let server =
        server(&accounts).sealing(Sealing::default().bind_principal(|_| Some("mallory".into())));
    let people = Script::new()
        .visit("signin", move |url| {
            let page = page.clone();
            async move {
                let handle = handle_of(&url);
                for victim in [Some("victor"), None] {
                    let refused = page.complete(handle, victim, "Victor".to_owned());
                    assert_eq!(refused, Err(NotCompleted::Handle(BadHandle::Subject)));
                }
                let forged = format!("A{}", &handle[1..]);
                page.complete(&forged, Some("mallory"), "Victor".to_owned())
                    .expect_err("not made for anybody");
            }
        })
        .decline("signin");
    let played = people.call_tool(&server, "balance", ()).await;
    assert_eq!(played.failure(), "The user declined to answer `signin`.");
}

#[tokio::test]
async fn handlers_may_want_to_know_what_the_user_did() {
    async fn pay(ask: Ask) -> Result<String, Stop> {
        let paid = ask.url(
            "pay",
            "Pay",
            |handle| format!("http://127.0.0.1:9/{handle}"),
            |_| Some(7),
        );
        Ok(format!("{:?}", Answer::of(paid)?))
    }
    let server = Server::new("pay", "1.0").tool("pay", pay);
    for (people, text) in [
        (Script::new().accept_link("pay"), "Accept(7)"),
        (Script::new().decline("pay"), "Decline"),
        (Script::new().cancel("pay"), "Cancel"),
    ] {
        assert_eq!(people.call_tool(&server, "pay", ()).await.text(), text);
    }
}

/// ELIC-S-28
#[tokio::test]
async fn a_link_that_is_not_safe_is_not_sent() {
    async fn open(State(url): State<&'static str>, ask: Ask) -> Result<String, Stop> {
        ask.url("page", "Open", |_| url.to_owned(), |_| Some(()))?;
        Ok("opened".to_owned())
    }
    for url in [
        "http://bank.example/",
        "ftp://bank.example/",
        "https://bank.example@evil.example/",
        "/sign-in",
        "",
    ] {
        let server = Server::new("open", "1.0")
            .tool("open", open)
            .with_state(url);
        let played = Script::new().call_tool(&server, "open", ()).await;
        assert_eq!(played.error().code, -32603, "{url}");
        assert!(played.error().message.contains("`page`"), "{url}");
    }
}

/// Nobody but who waits for it can tell that a handle is made up; so made-up ones must not keep
/// others out for good.
#[tokio::test]
async fn made_up_handles_do_not_keep_others_out() {
    let accounts = Accounts::new();
    let far = Moment::from_millis((1 << 48) - 1);
    for n in 0..70_000_u128 {
        let handle = Handle::new(&n.to_be_bytes(), far, None).to_string();
        _ = accounts.complete(&handle, Some("mallory"), String::new());
    }
    let page = accounts.clone();
    let people = Script::new().visit("signin", move |url| {
        let page = page.clone();
        async move {
            page.complete(handle_of(&url), Some("ada"), "Ada".to_owned())
                .expect("there is room");
        }
    });
    let played = people.call_tool(&server(&accounts), "balance", ()).await;
    assert_eq!(played.text(), "Ada has 7 ducats");
}

//! Sealed states open as they were made, for whom and what they were made, in time; and never
//! otherwise.

use std::time::Duration;

use antiphon_core::{
    canonical::canonical,
    ledger::{Body, LONGEST_KEY, Ledger, Question, Standing, Step},
    moment::Moment,
    seal::{
        Key,
        claims::{Claims, Life, Method, Request, SKEW, principal},
        digest::{Of, Secret},
        envelope::{self, Draft, Envelope},
        guard::StateId,
        refusal::Refusal,
        ring::Ring,
        spill::Handle,
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{Index, select},
};

const MILLISECOND: Duration = Duration::from_millis(1);
const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn ring() -> Ring {
    let keys = [1, 2].map(|byte| Key::new(&[byte; 32]).expect("long enough"));
    Ring::new(&keys).expect("two keys")
}

fn sealed(ring: &Ring, nonce: [u8; 12], claims: &Claims, body: &Body) -> String {
    let mut draft = Draft::default();
    claims.write(draft.payload());
    match body {
        Body::Ledger(ledger) => ledger.write(draft.payload()).expect("small"),
        Body::Elsewhere(handle) => Body::write_handle(*handle, draft.payload()),
    }
    let length = draft.sealed_len();
    let text = draft.seal(ring, nonce);
    assert_eq!(text.len(), (length * 4).div_ceil(3));
    text
}

fn opened(ring: &Ring, text: &str) -> Result<(Claims, Body), Refusal> {
    let Envelope::Ring(bytes) = Envelope::read(text, 1 << 20)? else {
        return Err(Refusal::Form);
    };
    let payload = envelope::open(ring, bytes)?;
    let (claims, body) = Claims::read(payload.as_bytes())?;
    Ok((claims, Body::read(body)?))
}

fn methods() -> impl Strategy<Value = Method> {
    select(vec![
        Method::CallTool,
        Method::GetPrompt,
        Method::ReadResource,
    ])
}

/// Moments far enough from either end to be moved about.
fn moments() -> impl Strategy<Value = Moment> {
    (1u64 << 20..1 << 46).prop_map(Moment::from_millis)
}

fn any_claims() -> impl Strategy<Value = Claims> {
    let times = [0u64..1 << 48, 0..1 << 48, 0..1 << 48];
    (methods(), times, any::<u16>(), any::<[[u8; 16]; 6]>()).prop_map(
        |(method, times, round, bytes)| {
            let [issued, expires, deadline] = times.map(Moment::from_millis);
            let [id, secret, audience, target, arguments, principal] = bytes;
            Claims {
                method,
                issued,
                expires,
                deadline,
                round,
                id: StateId(id),
                secret: Secret::new(secret),
                audience,
                target,
                arguments,
                principal,
            }
        },
    )
}

/// Keys of all lengths that a ledger can hold.
fn keys() -> impl Strategy<Value = String> {
    let longest = (0..=LONGEST_KEY).prop_map(|length| "k".repeat(length));
    let short = any::<String>().prop_filter("too long", |key| key.len() <= LONGEST_KEY);
    prop_oneof![9 => "[a-c]{0,2}", 9 => short, 1 => longest]
}

fn questions(standing: impl Strategy<Value = Standing>) -> impl Strategy<Value = Vec<Question>> {
    let question = (keys(), any::<[u8; 16]>(), any::<[u8; 2]>(), standing).prop_map(
        |(key, digest, [tries, drifts], standing)| Question {
            key: key.into(),
            digest,
            tries,
            drifts,
            standing,
        },
    );
    vec(question, 0..4)
}

fn ledgers() -> impl Strategy<Value = Ledger> {
    let pending = questions(any::<String>().prop_map(|note| Standing::Pending(note.into())));
    let answered =
        questions(
            (any::<u16>(), any::<String>()).prop_map(|(round, answer)| Standing::Answered {
                round,
                answer: answer.into(),
            }),
        );
    let step =
        (keys(), any::<(u16, u8)>(), any::<String>()).prop_map(|(key, (round, shared), result)| {
            Step {
                key: key.into(),
                round,
                shared,
                result: result.into(),
            }
        });
    (
        vec(any::<String>(), 0..4),
        pending,
        answered,
        vec(step, 0..4),
        option::of(any::<u16>()),
        option::of(any::<String>()),
    )
        .prop_map(
            |(by_hand, pending, answered, steps, rounds, state)| Ledger {
                by_hand,
                // In the order they are written.
                questions: [pending, answered].concat(),
                steps,
                rounds,
                state,
            },
        )
}

fn bodies() -> impl Strategy<Value = Body> {
    let handle = any::<[u8; 16]>().prop_map(|bytes| Body::Elsewhere(Handle(bytes)));
    prop_oneof![9 => ledgers().prop_map(Body::Ledger), 1 => handle]
}

/// What a state is made for.
#[derive(Debug, Clone, PartialEq)]
struct MadeFor {
    method: Method,
    target: String,
    arguments: Vec<u8>,
    who: [Option<String>; 4],
    audience: String,
}

impl MadeFor {
    fn principal(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let parts = self.who.each_ref().map(Option::as_deref);
        principal(&parts, &mut bytes);
        bytes
    }

    fn claims(&self, life: Life, secret: [u8; 16]) -> Claims {
        let principal = self.principal();
        let (id, secret) = (StateId([9; 16]), Secret::new(secret));
        let mut digester = secret.digester();
        let request = self.request(&principal);
        Claims::first(&request, &self.audience, life, id, secret, &mut digester)
    }

    fn request<'a>(&'a self, principal: &'a [u8]) -> Request<'a> {
        Request {
            method: self.method,
            target: &self.target,
            arguments: &self.arguments,
            principal,
        }
    }

    fn check(&self, claims: &Claims, now: Moment) -> Result<(), Refusal> {
        let principal = self.principal();
        let mut digester = claims.secret.digester();
        let request = self.request(&principal);
        claims.check(&request, [&*self.audience], now, &mut digester)
    }
}

/// Short texts that are easily mistaken for each other, and others.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof!["[aTRP\u{0}\u{1}]{0,4}", any::<String>()]
}

fn made_for() -> impl Strategy<Value = MadeFor> {
    let part = || option::of(texts());
    (
        methods(),
        texts(),
        vec(any::<u8>(), 0..40),
        [part(), part(), part(), part()],
        texts(),
    )
        .prop_map(|(method, target, arguments, who, audience)| MadeFor {
            method,
            target,
            arguments,
            who,
            audience,
        })
}

fn lives() -> impl Strategy<Value = Life> {
    let span = || (1u64..1 << 32).prop_map(Duration::from_millis);
    (moments(), span(), span()).prop_map(|(now, ttl, call)| {
        let deadline = now.after(call);
        Life { now, ttl, deadline }
    })
}

fn before(moment: Moment) -> Moment {
    Moment::from_millis(moment.as_millis() - 1)
}

proptest! {
    #[test]
    fn a_state_opens_as_it_was_made(
        claims in any_claims(),
        body in bodies(),
        nonce in any::<[u8; 12]>(),
    ) {
        let text = sealed(&ring(), nonce, &claims, &body);
        prop_assert_eq!(opened(&ring(), &text), Ok((claims, body)));
    }

    /// What stands in a ledger in whatever order is found again, the pending questions first.
    #[test]
    fn a_ledger_says_the_same_in_any_order(
        ledger in ledgers(),
        by in any::<Index>(),
    ) {
        let mut other = ledger.clone();
        if !other.questions.is_empty() {
            other.questions.rotate_left(by.index(ledger.questions.len()));
        }
        let read = |ledger: &Ledger| {
            let mut bytes = Vec::new();
            ledger.write(&mut bytes).expect("small");
            Body::read(&bytes)
        };
        prop_assert_eq!(read(&ledger), Ok(Body::Ledger(ledger.clone())));
        let Ok(Body::Ledger(again)) = read(&other) else { panic!("{other:?} is not read") };
        prop_assert!(again.pending().eq(other.pending()));
        let mut there = other.questions;
        there.sort_by_key(|question| matches!(question.standing, Standing::Answered { .. }));
        prop_assert_eq!(again.questions, there);
    }

    /// No part of a body can be left out or cut short without being missed.
    #[test]
    fn a_body_that_is_cut_is_another_or_none(body in bodies(), at in any::<Index>()) {
        let mut bytes = Vec::new();
        match &body {
            Body::Ledger(ledger) => ledger.write(&mut bytes).expect("small"),
            Body::Elsewhere(handle) => Body::write_handle(*handle, &mut bytes),
        }
        prop_assume!(!bytes.is_empty());
        bytes.truncate(at.index(bytes.len()));
        prop_assert_ne!(Body::read(&bytes), Ok(body));
    }

    #[test]
    fn with_one_bit_changed_it_never_opens(
        claims in any_claims(),
        body in bodies(),
        at in any::<Index>(),
        bit in 0..8,
    ) {
        let text = sealed(&ring(), [7; 12], &claims, &body);
        let mut bytes = URL_SAFE_NO_PAD.decode(text).expect("base64url");
        let at = at.index(bytes.len());
        bytes[at] ^= 1u8 << bit;
        let refused = opened(&ring(), &URL_SAFE_NO_PAD.encode(bytes));
        prop_assert!(refused.is_err(), "byte {}", at);
    }

    #[test]
    fn with_one_character_changed_it_never_opens(
        claims in any_claims(),
        body in bodies(),
        at in any::<Index>(),
        other in prop_oneof![
            9 => select(ALPHABET.chars().collect::<Vec<_>>()).prop_map(Some),
            1 => option::of(any::<char>()),
        ],
    ) {
        let text = sealed(&ring(), [7; 12], &claims, &body);
        let mut chars: Vec<_> = text.chars().collect();
        let at = at.index(chars.len());
        chars.splice(at..=at, other);
        let changed = String::from_iter(chars);
        prop_assume!(changed != text);
        prop_assert!(opened(&ring(), &changed).is_err(), "{}", changed);
    }

    #[test]
    fn it_is_good_for_the_very_same_request_alone(
        made_for in made_for(),
        other in made_for(),
        life in lives(),
        secret in any::<[u8; 16]>(),
    ) {
        let claims = made_for.claims(life, secret);
        prop_assert_eq!(made_for.check(&claims, life.now), Ok(()));

        let same = made_for.clone();
        let near = |text: &str| text.strip_suffix('a').map_or_else(|| format!("{text}a"), str::to_owned);
        let mut more = made_for.arguments.clone();
        more.push(0);
        for (changed, why) in [
            (MadeFor { method: other.method, ..same.clone() }, Refusal::Method),
            (MadeFor { target: other.target, ..same.clone() }, Refusal::Target),
            (MadeFor { target: near(&same.target), ..same.clone() }, Refusal::Target),
            (MadeFor { arguments: other.arguments, ..same.clone() }, Refusal::Arguments),
            (MadeFor { arguments: more, ..same.clone() }, Refusal::Arguments),
            (MadeFor { who: other.who, ..same.clone() }, Refusal::Principal),
            (MadeFor { audience: other.audience, ..same.clone() }, Refusal::Audience),
            (MadeFor { audience: near(&same.audience), ..same.clone() }, Refusal::Audience),
        ] {
            let expected = if changed == made_for { Ok(()) } else { Err(why) };
            prop_assert_eq!(changed.check(&claims, life.now), expected, "{:?}", changed);
        }
        for part in 0..4 {
            let mut changed = same.clone();
            changed.who[part] = match &same.who[part] {
                Some(text) if text.is_empty() => None,
                Some(text) => Some(near(text)),
                None => Some(String::new()),
            };
            prop_assert_eq!(changed.check(&claims, life.now), Err(Refusal::Principal), "{:?}", changed);
        }
    }

    #[test]
    fn any_of_several_names_will_do(
        made_for in made_for(),
        others in vec(texts(), 0..3),
        life in lives(),
    ) {
        let claims = made_for.claims(life, [3; 16]);
        let principal = made_for.principal();
        let check = |names: &[String]| {
            let names = names.iter().map(String::as_str);
            let mut digester = claims.secret.digester();
            claims.check(&made_for.request(&principal), names, life.now, &mut digester)
        };
        let mut names = others;
        let known = names.contains(&made_for.audience);
        prop_assert_eq!(check(&names), if known { Ok(()) } else { Err(Refusal::Audience) });
        names.push(made_for.audience.clone());
        prop_assert_eq!(check(&names), Ok(()));
    }

    #[test]
    fn its_time_is_exact(made_for in made_for(), life in lives()) {
        let claims = made_for.claims(life, [3; 16]);
        let at = |now| made_for.check(&claims, now);
        let (expires, deadline) = (life.now.after(life.ttl), life.deadline);
        prop_assert!(claims.expires <= claims.deadline);

        prop_assert_eq!(at(before(expires.min(deadline))), Ok(()));
        let over = if deadline <= expires { Refusal::Overdue } else { Refusal::Expired };
        prop_assert_eq!(at(expires.min(deadline)), Err(over));
        if expires < deadline {
            prop_assert_eq!(at(before(deadline)), Err(Refusal::Expired));
        }
        prop_assert_eq!(at(deadline), Err(Refusal::Overdue));
        prop_assert_eq!(at(Moment::LAST), Err(Refusal::Overdue));

        let earliest = Moment::from_millis(life.now.as_millis() - 30_000);
        prop_assert_eq!(at(earliest), Ok(()));
        prop_assert_eq!(at(before(earliest)), Err(Refusal::Future));
    }

    #[test]
    fn the_next_round_is_of_the_same_call(
        made_for in made_for(),
        life in lives(),
        round in prop_oneof![1..u16::MAX, Just(u16::MAX)],
        later in 0u64..1 << 33,
        ttl in 1u64..1 << 33,
        renamed in texts(),
    ) {
        let mut claims = made_for.claims(life, [3; 16]);
        prop_assert_eq!(claims.round, 1);
        claims.round = round;
        let now = life.now.after(Duration::from_millis(later));
        let mut digester = claims.secret.digester();
        let ttl = Duration::from_millis(ttl);
        let next = claims.next(&renamed, now, ttl, StateId([8; 16]), &mut digester);

        prop_assert_eq!(&next.secret, &claims.secret);
        prop_assert_eq!(next.secret.digester().flow(), claims.secret.digester().flow());
        prop_assert_eq!(next.deadline, claims.deadline);
        prop_assert_eq!(u32::from(next.round), (u32::from(round) + 1).min(65_535));
        prop_assert_eq!(next.id, StateId([8; 16]));
        prop_assert_eq!(next.issued, now);
        prop_assert!(next.expires <= next.deadline);
        prop_assert!(next.expires <= now.after(ttl));

        let renamed = MadeFor { audience: renamed, ..made_for.clone() };
        let good = now < claims.deadline;
        prop_assert_eq!(renamed.check(&next, now), if good { Ok(()) } else { Err(Refusal::Overdue) });
        let last = now.max(next.expires);
        prop_assert!(renamed.check(&next, last).is_err());
        if renamed != made_for && good {
            prop_assert_eq!(made_for.check(&next, now), Err(Refusal::Audience));
        }
    }

    #[test]
    fn different_principals_are_different_bytes(
        one in vec(option::of(texts()), 0..5),
        other in vec(option::of(texts()), 0..5),
        at in any::<Index>(),
    ) {
        let bytes = |parts: &[Option<String>]| {
            let parts: Vec<_> = parts.iter().map(Option::as_deref).collect();
            let mut bytes = Vec::new();
            principal(&parts, &mut bytes);
            bytes
        };
        prop_assert_eq!(bytes(&one) == bytes(&other), one == other);

        // One part that looks like two, and a border that is elsewhere.
        for text in one.iter().flatten() {
            let at = at.index(text.chars().count() + 1);
            let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
            let (front, back) = text.split_at(at);
            let two = [Some(front.to_owned()), Some(back.to_owned())];
            prop_assert_ne!(bytes(&two), bytes(&[Some(format!("{front}\u{1}{back}"))]));
            let moved = [Some(text.clone()), Some(String::new())];
            prop_assert_eq!(bytes(&two) == bytes(&moved), two == moved);
        }
    }

    #[test]
    fn a_digest_says_what_it_is_of_and_in_which_call(
        one in any::<[u8; 16]>(),
        other in any::<[u8; 16]>(),
        text in vec(any::<u8>(), 0..40),
    ) {
        prop_assume!(one != other);
        let all = [
            Of::Audience, Of::Target, Of::Arguments, Of::Principal, Of::Answers, Of::Flow,
            Of::Question, Of::Key, Of::Link,
        ];
        let mut digests = Vec::new();
        for secret in [one, other] {
            let mut digester = Secret::new(secret).digester();
            for of in all {
                let digest = digester.of(of, &text);
                prop_assert!(!digests.contains(&digest), "{:?}", of);
                digests.push(digest);
            }
        }
    }

    /// Members in any order, and numbers and strings in other spellings, are the same arguments.
    #[test]
    fn arguments_are_what_they_say(
        members in proptest::collection::btree_map("[a-c]{1,3}|\\PC{1,3}", (any::<i64>(), "\\PC{0,4}"), 1..6),
        changed in any::<Index>(),
        life in lives(),
        mut made_for in made_for(),
    ) {
        let plain = |text: &str| serde_json::to_string(text).expect("a string");
        let escaped = |text: &str| {
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
            format!("\"{}\"", units.collect::<String>())
        };
        let object = |members: Vec<String>| format!("{{{}}}", members.join(","));
        let form = |json: &str| {
            let mut form = Vec::new();
            canonical(json, &mut form).expect("unambiguous");
            form
        };
        let text = object(members.iter().map(|(name, (number, text))| {
            format!("{}:[{number},{}]", plain(name), plain(text))
        }).collect());
        let respelt = object(members.iter().rev().map(|(name, (number, text))| {
            format!(" {} : [ {number}.00E0 , {} ]", escaped(name), escaped(text))
        }).collect());
        let changed = changed.index(members.len());
        let other = object(members.iter().enumerate().map(|(at, (name, (number, text)))| {
            let point = if at == changed { ".5" } else { "" };
            format!("{}:[{number}{point},{}]", plain(name), plain(text))
        }).collect());

        made_for.arguments = form(&text);
        let claims = made_for.claims(life, [3; 16]);
        made_for.arguments = form(&respelt);
        prop_assert_eq!(made_for.check(&claims, life.now), Ok(()), "{}", respelt);
        made_for.arguments = form(&other);
        prop_assert_eq!(made_for.check(&claims, life.now), Err(Refusal::Arguments), "{}", other);
    }
}

/// One state, and every bit of it.
#[test]
fn no_bit_of_a_state_is_spare() {
    let ring = ring();
    let life = Life {
        now: Moment::from_millis(1 << 40),
        ttl: Duration::from_secs(600),
        deadline: Moment::from_millis((1 << 40) + 3_600_000),
    };
    let made_for = MadeFor {
        method: Method::CallTool,
        target: "order".to_owned(),
        arguments: b"{}".to_vec(),
        who: [None, None, None, None],
        audience: "shop".to_owned(),
    };
    let claims = made_for.claims(life, [3; 16]);
    let text = sealed(&ring, [7; 12], &claims, &Body::Ledger(Ledger::default()));
    let bytes = URL_SAFE_NO_PAD.decode(&text).expect("base64url");
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let changed = URL_SAFE_NO_PAD.encode(changed);
        assert!(opened(&ring, &changed).is_err(), "bit {bit}");
    }
    assert!(opened(&ring, &text).is_ok());
}

/// Clocks that are nearly at the beginning or the end of time change nothing.
#[test]
fn there_is_no_time_before_the_first_and_after_the_last() {
    let made_for = MadeFor {
        method: Method::ReadResource,
        target: "shop://books".to_owned(),
        arguments: b"{}".to_vec(),
        who: [None, None, None, None],
        audience: String::new(),
    };
    let life = |now: Moment| Life {
        now,
        ttl: SKEW,
        deadline: now.after(SKEW),
    };
    let first = made_for.claims(life(Moment::default()), [3; 16]);
    assert_eq!(made_for.check(&first, Moment::default()), Ok(()));
    let last = made_for.claims(life(Moment::LAST), [3; 16]);
    assert_eq!(
        made_for.check(&last, Moment::LAST),
        Err(Refusal::Overdue),
        "the last moment is never before another"
    );
    let early = made_for.claims(life(Moment::default().after(SKEW + MILLISECOND)), [3; 16]);
    assert_eq!(
        made_for.check(&early, Moment::default()),
        Err(Refusal::Future)
    );
}

//! What a spill must do, one function per rule.

use std::{sync::Arc, time::Duration};

use super::rule::{HOUR, MINUTE, Rule, in_short, noise, present, random};
use crate::store::{Handle, Kept, Moment, Owner, Spill, Spilled};

/// How many at once.
const CROWD: usize = 32;

/// Tests a [`Spill`]: what its methods promise, on a new store for every rule.
///
/// # Panics
///
/// If a rule does not hold.
pub async fn spill_contract<S: Spill, F: AsyncFn() -> S>(new: F) {
    a_body_comes_back(&new).await;
    an_unknown_handle_has_no_body(&new).await;
    a_body_expires(&new).await;
    bodies_at_once_are_kept_apart(&new).await;
    the_quota_is_a_limit(&new).await;
    a_refused_body_is_not_kept(&new).await;
    the_expired_do_not_count(&new).await;
    owners_are_independent(&new).await;
}

/// A new store, put to the test of one rule.
struct Trial<S> {
    rule: Rule,
    store: Arc<S>,
    now: Moment,
    owner: Owner,
}

async fn on<S: Spill>(new: &impl AsyncFn() -> S, words: &'static str) -> Trial<S> {
    Trial {
        rule: Rule {
            contract: "spill",
            words,
        },
        store: Arc::new(new().await),
        now: present(),
        owner: Owner(random()),
    }
}

impl<S: Spill> Trial<S> {
    /// A body of the one owner, kept for an hour, with room for 100 bytes.
    fn body<'a>(&self, body: &'a [u8]) -> Spilled<'a> {
        Spilled {
            handle: Handle(random()),
            owner: self.owner,
            body,
            now: self.now,
            keep_until: self.now.after(HOUR),
            quota: 100,
        }
    }

    /// Whether it is kept must be this.
    async fn puts(&self, point: &str, body: &Spilled<'_>, expected: Kept) {
        let kept = self.rule.answered(self.store.put(body).await);
        self.rule.expect(point, &kept, &expected);
    }

    /// What is under a handle, so much after the beginning, must be this.
    async fn finds(&self, point: &str, handle: Handle, after: Duration, expected: Option<&[u8]>) {
        let found = self.store.get(&handle, self.now.after(after)).await;
        let found = self.rule.answered(found);
        if found.as_deref() != expected {
            let [found, expected] = [found.as_deref(), expected].map(described);
            let how = format!("{point}: expected {expected}, came {found}");
            self.rule.broken(&how);
        }
    }
}

fn described(body: Option<&[u8]>) -> String {
    body.map_or_else(|| "no body".to_owned(), in_short)
}

async fn a_body_comes_back<S: Spill>(new: &impl AsyncFn() -> S) {
    let trial = on(new, "a body that is kept comes back as it was, each time").await;
    let bodies = [
        ("an empty body", Vec::new()),
        ("a small body", (0..=u8::MAX).collect()),
        ("a body of 64 KiB and a byte", noise((64 << 10) + 1)),
        ("a body of 1 MiB", noise(1 << 20)),
    ];
    let mut kept = Vec::new();
    for (point, bytes) in &bodies {
        let body = Spilled {
            quota: 16 << 20,
            ..trial.body(bytes)
        };
        trial.puts(point, &body, Kept::Kept).await;
        kept.push((point, body));
    }
    for time in ["the first time", "the second time"] {
        for (point, body) in &kept {
            let point = format!("{point}, {time}");
            trial
                .finds(&point, body.handle, Duration::ZERO, Some(body.body))
                .await;
        }
    }
}

async fn an_unknown_handle_has_no_body<S: Spill>(new: &impl AsyncFn() -> S) {
    let trial = on(new, "there is no body under a handle nobody used").await;
    let unknown = Handle(random());
    trial
        .finds("an empty store", unknown, Duration::ZERO, None)
        .await;
    let body = trial.body(b"here");
    trial.puts("another body", &body, Kept::Kept).await;
    let mut near = body.handle;
    near.0[15] ^= 1;
    for handle in [unknown, near] {
        trial
            .finds("beside another body", handle, Duration::ZERO, None)
            .await;
    }
}

async fn a_body_expires<S: Spill>(new: &impl AsyncFn() -> S) {
    let trial = on(new, "a body is there until it expires, and not after").await;
    let body = trial.body(b"for an hour");
    trial.puts("the body", &body, Kept::Kept).await;
    let almost = HOUR - Duration::from_secs(1);
    trial
        .finds("just before", body.handle, almost, Some(b"for an hour"))
        .await;
    trial
        .finds("just after", body.handle, HOUR + MINUTE, None)
        .await;
    // Others that expire take nothing along.
    let late = trial.now.after(30 * MINUTE);
    for now in [trial.now, late, late] {
        let brief = Spilled {
            now,
            keep_until: now.after(MINUTE),
            ..trial.body(b"brief")
        };
        trial
            .puts("a body that is kept for less", &brief, Kept::Kept)
            .await;
    }
    trial
        .finds(
            "after others expired",
            body.handle,
            almost,
            Some(b"for an hour"),
        )
        .await;
}

async fn bodies_at_once_are_kept_apart<S: Spill>(new: &impl AsyncFn() -> S) {
    let trial = on(new, "bodies that are put at once are all kept").await;
    let put = |number: usize| {
        let store = Arc::clone(&trial.store);
        let body = trial.body(b"");
        async move {
            let bytes = noise(number + 1);
            let body = Spilled {
                body: &bytes,
                quota: 1 << 20,
                ..body
            };
            (body.handle, bytes.clone(), store.put(&body).await)
        }
    };
    let mut bodies = Vec::new();
    for (handle, bytes, kept) in trial.rule.at_once((0..CROWD).map(put).collect()).await {
        let kept = trial.rule.answered(kept);
        trial.rule.expect("one of them", &kept, &Kept::Kept);
        bodies.push((handle, bytes));
    }
    for (handle, bytes) in bodies {
        trial
            .finds("one of them", handle, Duration::ZERO, Some(&bytes))
            .await;
    }
}

async fn the_quota_is_a_limit<S: Spill>(new: &impl AsyncFn() -> S) {
    let trial = on(new, "an owner has at most the quota, the new body included").await;
    let whole = [7; 100];
    trial
        .puts("60 bytes of 100", &trial.body(&whole[..60]), Kept::Kept)
        .await;
    trial
        .puts("40 more", &trial.body(&whole[..40]), Kept::Kept)
        .await;
    trial
        .puts("one more", &trial.body(&whole[..1]), Kept::OverQuota)
        .await;
    let generous = Spilled {
        quota: 101,
        ..trial.body(&whole[..1])
    };
    trial
        .puts("one more of a larger quota", &generous, Kept::Kept)
        .await;
}

async fn a_refused_body_is_not_kept<S: Spill>(new: &impl AsyncFn() -> S) {
    let trial = on(new, "a body that is refused is not kept, nor counted").await;
    let whole = [7; 101];
    let refused = trial.body(&whole);
    trial
        .puts("101 bytes of 100", &refused, Kept::OverQuota)
        .await;
    trial
        .finds("the refused body", refused.handle, Duration::ZERO, None)
        .await;
    trial
        .puts("100 bytes of 100", &trial.body(&whole[..100]), Kept::Kept)
        .await;
}

async fn the_expired_do_not_count<S: Spill>(new: &impl AsyncFn() -> S) {
    let trial = on(new, "bodies that have expired do not count").await;
    let whole = [7; 100];
    let first = trial.body(&whole);
    trial.puts("100 bytes of 100", &first, Kept::Kept).await;
    let at = |after| Spilled {
        now: trial.now.after(after),
        keep_until: trial.now.after(after + HOUR),
        ..trial.body(&whole)
    };
    trial
        .puts("before they expire", &at(HOUR - MINUTE), Kept::OverQuota)
        .await;
    trial
        .puts("after they expired", &at(HOUR + MINUTE), Kept::Kept)
        .await;
    trial
        .puts("after that", &at(HOUR + MINUTE), Kept::OverQuota)
        .await;
}

async fn owners_are_independent<S: Spill>(new: &impl AsyncFn() -> S) {
    let trial = on(new, "what one owner has does not count for another").await;
    let whole = [7; 100];
    let mut near = trial.owner;
    near.0[15] ^= 1;
    for owner in [trial.owner, near, Owner(random())] {
        let body = Spilled {
            owner,
            ..trial.body(&whole)
        };
        trial
            .puts("100 bytes of 100, for each of them", &body, Kept::Kept)
            .await;
    }
}

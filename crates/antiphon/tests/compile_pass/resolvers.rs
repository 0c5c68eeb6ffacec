//! Resolvers as people may write them.
#![deny(missing_docs, unused, clippy::pedantic)]
#![allow(
    clippy::unused_async,
    clippy::too_many_arguments,
    reason = "what they do is not what is looked at here"
)]

use antiphon::{Ask, Call, Resolved, Server, State, Stop, resolver};

/// Names that what the attribute writes could use itself.
mod names {
    use super::{Call, Resolved, resolver};

    #[derive(Clone)]
    pub(super) struct One;
    #[derive(Clone)]
    pub(super) struct Two;
    #[derive(Clone)]
    pub(super) struct Three;
    #[derive(Clone)]
    pub(super) struct Four;
    #[derive(Clone)]
    pub(super) struct Five;

    #[resolver]
    async fn state(_: Call) -> One {
        One
    }
    #[resolver]
    async fn call(#[arg] state: u8, _: Resolved<One>) -> Two {
        let _ = state;
        Two
    }
    #[resolver]
    async fn taken(#[arg] call: u8) -> Three {
        let _ = call;
        Three
    }
    #[resolver]
    async fn description(#[arg] taken: u8, #[arg] r#type: u8) -> Four {
        let _ = (taken, r#type);
        Four
    }
    #[resolver]
    async fn r#move(#[arg] description: u8) -> Five {
        let _ = description;
        Five
    }
}

/// With everything called as the prelude has it.
mod shadowed {
    use super::{Ask, resolver};

    #[derive(Clone)]
    pub(super) struct Plain;
    #[expect(dead_code, reason = "they are in the way")]
    mod in_the_way {
        pub(in super::super) struct String;
        pub(in super::super) struct Vec;
        pub(in super::super) struct Option;
        pub(in super::super) struct Box;
        pub(in super::super) enum Result {
            Ok,
            Err,
        }
        pub(in super::super) trait Send {}
        pub(in super::super) trait Sync {}
        pub(in super::super) trait Into {}
        pub(in super::super) trait Clone {}
        pub(in super::super) trait Future {}
    }
    #[allow(unused_imports, reason = "they are in the way")]
    use in_the_way::Result::{Err, Ok};
    #[allow(unused_imports, reason = "they are in the way")]
    use in_the_way::*;

    #[resolver]
    async fn plain(#[arg] a: u8, _: Ask) -> Plain {
        let _ = a;
        Plain
    }

    #[derive(::core::clone::Clone)]
    pub(super) struct Fails;
    #[resolver]
    async fn fails(#[arg] a: u8) -> ::core::result::Result<Fails, super::Stop> {
        let _ = a;
        ::core::result::Result::Ok(Fails)
    }
}

/// With generics in its types, and more private than what takes it.
mod generic {
    use super::{Resolved, State, Stop, resolver};
    use std::{collections::HashMap, sync::Arc};

    #[derive(Clone)]
    pub(super) struct Of<T>(pub(super) T);
    #[derive(Clone)]
    struct Private;

    #[resolver]
    async fn private() -> Private {
        Private
    }
    #[resolver]
    async fn of(
        _: Resolved<Private>,
        State(_): State<Arc<HashMap<String, u32>>>,
        #[arg] map: HashMap<String, Vec<u32>>,
    ) -> Result<Of<Vec<u32>>, Stop> {
        Ok(Of(map.into_values().flatten().collect()))
    }
    #[resolver]
    async fn of_text(Resolved(Of(numbers)): Resolved<Of<Vec<u32>>>) -> Of<String> {
        Of(format!("{numbers:?}"))
    }
}

/// Attributes of all kinds.
mod marked {
    use super::resolver;

    #[derive(Clone)]
    pub(super) struct Shown;

    /// What is shown.
    #[resolver]
    #[must_use]
    #[allow(clippy::unused_async)]
    async fn shown(
        /// A number.
        #[arg]
        #[serde(rename = "n", default)]
        #[schemars(range(min = 1))]
        mut number: u32,
    ) -> Shown {
        number += 1;
        let _ = number;
        Shown
    }

    #[derive(Clone)]
    #[allow(dead_code)]
    pub(super) struct Gone;
    #[resolver]
    #[cfg(any())]
    async fn gone() -> Gone {
        Gone
    }
}

#[test]
fn they_do() {
    use names::{Five, Four, One, Three, Two};
    #[derive(Clone)]
    struct Local;
    #[resolver]
    async fn local() -> Local {
        Local
    }
    async fn all(
        _: Resolved<One>,
        _: Resolved<Two>,
        _: Resolved<Three>,
        _: Resolved<Four>,
        _: Resolved<Five>,
        _: Resolved<shadowed::Plain>,
        _: Resolved<shadowed::Fails>,
        _: Resolved<generic::Of<String>>,
        _: Resolved<marked::Shown>,
        _: Resolved<Local>,
    ) {
    }
    let tool = antiphon::Tool::new("all", all);
    let server = Server::<std::sync::Arc<std::collections::HashMap<String, u32>>>::new("x", "1.0");
    let told = server.offer_tools().insert(tool).expect_err("no arguments");
    assert!(told.to_string().contains("`state`"), "{told}");
}

//! [`Listing`]: a list, page after page.

use std::{
    collections::{HashSet, VecDeque},
    fmt,
    future::poll_fn,
    hash::BuildHasher,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use antiphon_types::{
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Method,
    PaginatedRequestParams, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool, code,
    method::{ListPrompts, ListResourceTemplates, ListResources, ListTools},
};
use futures_core::Stream;

use super::{
    Connection, Error, Event, Pending,
    cache::Key,
    options::Options,
    sending::decoded,
    shared::{Shared, WorkClock},
};

/// Most pages of one list; a server that gives more is out to keep us busy.
const PAGES: usize = 10_000;

/// Most bytes of a list that is kept: of tools, or of all items at once.
const BYTES: usize = 64 * 1024 * 1024;

/// A list that is fetched page by page, as it is needed.
///
/// A [`Stream`] of its items, with [`next`](Self::next) and [`all`](Self::all) for those who need
/// no more. After an error it is over.
pub struct Listing<T> {
    shared: Arc<Shared>,
    fetch: Fetch<T>,
    page: Option<Pending<'static, Result<Page<T>, Error>>>,
    items: VecDeque<T>,
    seen: Seen,
    pages: usize,
    bytes: usize,
    /// Whether something of each page stays in memory.
    kept: bool,
    over: bool,
}

/// The cursors that were given, by their hashes: they are as long as the server likes.
#[derive(Default)]
struct Seen(HashSet<u64>);

impl Seen {
    /// Adds a cursor; `false` if it was there before (PAGE-C-06), or there are too many.
    fn add(&mut self, cursor: &str) -> bool {
        let hash = self.0.hasher().hash_one(cursor);
        self.0.insert(hash) && self.0.len() < PAGES
    }
}

/// Some items, and where the next ones are.
struct Page<T> {
    items: Vec<T>,
    next: Option<String>,
    bytes: usize,
}

type Fetch<T> = fn(Arc<Shared>, Option<String>) -> Pending<'static, Result<Page<T>, Error>>;

/// A list of a server's.
trait List<T>: Method<Params = PaginatedRequestParams> {
    /// Whether something of the items is remembered.
    const LEARNS: bool = false;

    fn split(result: Self::Result) -> Page<T>;

    /// Whether the server says that it has such a list.
    fn is_offered(capabilities: &ServerCapabilities) -> bool;

    /// Has a look at the items.
    fn learn(_: &Shared, _: &mut Vec<T>) {}
}

macro_rules! lists {
    ($($method:ty = $result:ident.$items:ident: $item:ty, $offer:ident $(, $learn:expr)?;)*) => {$(
        impl List<$item> for $method {
            fn split(result: $result) -> Page<$item> {
                Page { items: result.$items, next: result.next_cursor, bytes: 0 }
            }

            fn is_offered(capabilities: &ServerCapabilities) -> bool {
                capabilities.$offer.is_some()
            }

            $(const LEARNS: bool = true;

            fn learn(shared: &Shared, items: &mut Vec<$item>) {
                $learn(shared, items);
            })?
        }
    )*};
}

lists! {
    ListTools = ListToolsResult.tools: Tool, tools, learn;
    ListPrompts = ListPromptsResult.prompts: Prompt, prompts;
    ListResources = ListResourcesResult.resources: Resource, resources;
    ListResourceTemplates = ListResourceTemplatesResult.resource_templates: ResourceTemplate, resources;
}

/// HDR-C-08, HDR-C-09
fn learn(shared: &Shared, tools: &mut Vec<Tool>) {
    for (name, why) in shared.tools.learn(tools, shared.mirrors()) {
        shared
            .client
            .listeners
            .told(&Event::HiddenTool { name, why });
    }
}

fn fetch<M: List<T> + 'static, T: 'static>(
    shared: Arc<Shared>,
    cursor: Option<String>,
) -> Pending<'static, Result<Page<T>, Error>> {
    Box::pin(async move {
        let key = Key {
            method: M::NAME,
            detail: cursor.clone(),
        };
        let mut params = PaginatedRequestParams::new();
        params.cursor = cursor;
        let options = Options::default();
        let leg = shared.leg::<M>(&options);
        let known = shared.negotiated.get();
        let offered = known.is_some_and(|known| M::is_offered(&known.capabilities));
        let text = shared.kept(key, &leg, async {
            shared.request(&leg, &params).await?.into_text()
        });
        let text = match text.await {
            // A server that has no such things need not have a list of them.
            Err(error) if error.code() == Some(code::METHOD_NOT_FOUND) && !offered => {
                return Ok(Page {
                    items: Vec::new(),
                    next: None,
                    bytes: 0,
                });
            }
            text => text.map_err(|error| error.during(M::NAME))?,
        };
        let page = decoded::<M>(&text).map_err(|error| {
            shared.unreadable(M::NAME, params.cursor.as_deref());
            error.during(M::NAME)
        })?;
        let mut page = M::split(page);
        M::learn(&shared, &mut page.items);
        page.bytes = text.len();
        Ok(page)
    })
}

impl<T> Listing<T> {
    #[expect(
        private_bounds,
        reason = "only the four lists of the protocol are listed"
    )]
    pub(super) fn new<M: List<T> + 'static>(connection: &Connection) -> Self
    where
        T: 'static,
    {
        let shared = connection.0.clone();
        Self {
            page: Some(fetch::<M, T>(shared.clone(), None)),
            shared,
            fetch: fetch::<M, T>,
            items: VecDeque::new(),
            seen: Seen::default(),
            pages: 0,
            bytes: 0,
            kept: M::LEARNS,
            over: false,
        }
    }

    /// The next item; `None` after the last.
    ///
    /// # Errors
    /// When a page cannot be had.
    pub async fn next(&mut self) -> Option<Result<T, Error>>
    where
        T: Unpin,
    {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// All items, of a list of at most 64 MiB. If a page that was kept leads nowhere any more,
    /// the list is fetched anew (CACHE-C-16, CACHE-C-17).
    ///
    /// # Errors
    /// When a page cannot be had.
    pub async fn all(mut self) -> Result<Vec<T>, Error>
    where
        T: Unpin,
    {
        self.kept = true;
        let mut again = true;
        let mut items = Vec::new();
        while let Some(item) = self.next().await {
            match item {
                Ok(item) => items.push(item),
                Err(error)
                    if again && self.pages > 0 && error.code() == Some(code::INVALID_PARAMS) =>
                {
                    again = false;
                    items.clear();
                    self.restart();
                }
                Err(error) => return Err(error),
            }
        }
        Ok(items)
    }

    fn restart(&mut self) {
        self.shared.cache.evict(|key| key.method.ends_with("/list"));
        self.items.clear();
        self.seen = Seen::default();
        (self.pages, self.bytes, self.over) = (0, 0, false);
        self.page = Some((self.fetch)(self.shared.clone(), None));
    }

    /// Takes a page, and sees to the next.
    fn turn(&mut self, page: Page<T>) -> Result<(), Error> {
        self.pages += 1;
        self.bytes += page.bytes;
        if self.kept && self.bytes > BYTES {
            return Err(Error::decode(format!(
                "the server's list is longer than {BYTES} bytes"
            )));
        }
        self.items = page.items.into();
        // PAGE-C-03: an empty cursor is one, too.
        let Some(cursor) = page.next else {
            return Ok(());
        };
        // PAGE-C-06
        if !self.seen.add(&cursor) {
            return Err(Error::decode("the server's list has no end"));
        }
        self.page = Some((self.fetch)(self.shared.clone(), Some(cursor)));
        Ok(())
    }
}

impl<T: Unpin> Stream for Listing<T> {
    type Item = Result<T, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(item) = this.items.pop_front() {
                return Poll::Ready(Some(Ok(item)));
            }
            let Some(page) = this.page.as_mut().filter(|_| !this.over) else {
                return Poll::Ready(None);
            };
            let page = ready!(page.as_mut().poll(context));
            this.page = None;
            if let Err(error) = page.and_then(|page| this.turn(page)) {
                this.over = true;
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

impl<T> fmt::Debug for Listing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing")
            .field("pages", &self.pages)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// Lists the tools anew, whatever was kept, as far as the clock allows.
    pub(super) async fn learn_tools(&self, clock: &WorkClock<'_>) -> Result<(), Error> {
        // What was kept is outdated, and must not be learnt again.
        self.cache.evict(|key| key.method == ListTools::NAME);
        let (mut cursor, mut seen) = (None, Seen::default());
        loop {
            let mut params = PaginatedRequestParams::new();
            params.cursor = cursor;
            let options = Options::default();
            let page = self.plain::<ListTools>(&params, &options);
            let mut page = clock.limit(page).await??;
            clock.check()?;
            learn(self, &mut page.tools);
            cursor = page.next_cursor;
            match &cursor {
                Some(next) if seen.add(next) => {}
                _ => return Ok(()),
            }
        }
    }
}

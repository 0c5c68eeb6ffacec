//! [`Pages`]: a list cut into pages, each rendered once.

use antiphon_types::{
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
};

use super::{Error, Rendered};

/// The pages of one list.
///
/// Cursors are the position of the page's first item, so they stay valid while the list stays
/// (PAGE-S-01); any other cursor is refused with `-32602` (PAGE-S-02).
#[derive(Debug)]
pub struct Pages<T> {
    size: usize,
    pages: Vec<Rendered<T>>,
}

/// Lists that can be cut.
pub trait Listing: Sized {
    /// The items of this list beyond the first `size`, as a list of its own; this one then
    /// carries `cursor`. `None` if there are no more items.
    fn cut(&mut self, size: usize, cursor: String) -> Option<Self>;
}

impl<T: Listing> Pages<T>
where
    Rendered<T>: From<T>,
{
    /// The whole list on one page.
    pub fn one(list: T) -> Self {
        Self {
            size: usize::MAX,
            pages: vec![list.into()],
        }
    }

    /// Pages of `size` items each; cache hints and `_meta` are on each page as on the list.
    ///
    /// # Panics
    /// If `size` is 0.
    pub fn of(size: usize, list: T) -> Self {
        assert!(size > 0, "a page holds at least one item");
        let mut pages = Vec::new();
        let mut next = Some(list);
        while let Some(mut page) = next {
            next = page.cut(size, ((pages.len() + 1) * size).to_string());
            pages.push(page.into());
        }
        Self { size, pages }
    }

    /// The page at `cursor`; the first one without.
    ///
    /// # Errors
    /// `-32602` for a cursor that is not one of this list's.
    pub fn page(&self, cursor: Option<&str>) -> Result<Rendered<T>, Error> {
        let at = match cursor {
            None => Some(0),
            Some(cursor) => cursor
                .parse::<usize>()
                .ok()
                .filter(|start| *start > 0 && start % self.size == 0 && start.to_string() == cursor)
                .map(|start| start / self.size),
        };
        at.and_then(|at| self.pages.get(at).cloned())
            .ok_or_else(|| Error::invalid_params("`cursor` is not one this list handed out"))
    }
}

macro_rules! cut {
    ($($list:ty: $items:ident),* $(,)?) => {$(
        impl Listing for $list {
            fn cut(&mut self, size: usize, cursor: String) -> Option<Self> {
                if self.$items.len() <= size {
                    return None;
                }
                let rest = self.$items.split_off(size);
                let mut next = self.clone();
                next.$items = rest;
                self.next_cursor = Some(cursor);
                Some(next)
            }
        }
    )*};
}

cut!(
    ListToolsResult: tools,
    ListPromptsResult: prompts,
    ListResourcesResult: resources,
    ListResourceTemplatesResult: resource_templates,
);

#[cfg(test)]
mod tests {
    use super::*;
    use antiphon_types::Tool;
    use serde_json::Value;

    fn pages(items: usize, size: usize) -> Pages<ListToolsResult> {
        let tools = (0..items).map(|i| Tool::empty(format!("t{i}"))).collect();
        Pages::of(size, ListToolsResult::new(tools))
    }

    fn walk(pages: &Pages<ListToolsResult>) -> Vec<Vec<String>> {
        let mut all = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = pages.page(cursor.as_deref()).expect("a page");
            let page: Value = serde_json::from_slice(&page.json).expect("JSON");
            let names = page["tools"].as_array().expect("tools").iter();
            all.push(
                names
                    .map(|tool| tool["name"].as_str().expect("name").to_owned())
                    .collect(),
            );
            match page.get("nextCursor") {
                Some(next) => cursor = Some(next.as_str().expect("a string").to_owned()),
                None => return all,
            }
        }
    }

    /// PAGE-S-01, PAGE-C-03: following the cursors gives every item once, in order.
    #[test]
    fn cursors_lead_through_the_whole_list() {
        for (items, size, counts) in [
            (5, 2, vec![2, 2, 1]),
            (4, 2, vec![2, 2]),
            (1, 2, vec![1]),
            (0, 2, vec![0]),
        ] {
            let all = walk(&pages(items, size));
            assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), counts);
            let expected: Vec<String> = (0..items).map(|i| format!("t{i}")).collect();
            assert_eq!(all.concat(), expected);
        }
    }

    /// PAGE-S-02
    #[test]
    fn other_cursors_are_refused() {
        let pages = pages(5, 2);
        for cursor in ["", "0", "1", "02", "+2", "6", "8", "x", "-2"] {
            assert_eq!(pages.page(Some(cursor)).expect_err(cursor).code, -32602);
        }
    }
}

//! [`Version`]: what a file was when somebody was asked about it.

use std::time::UNIX_EPOCH;

use cap_std::{fs::Metadata, time::SystemTime};
use serde::Serialize;

/// How a file is told from what it becomes when somebody writes to it.
#[derive(Serialize, PartialEq, Eq, Debug)]
pub(crate) struct Version {
    bytes: u64,
    /// A date for people, and how much later it was; none where the file system does not say.
    modified: Option<String>,
}

impl Version {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().map(SystemTime::into_std);
        let written = |time| {
            let since = std::time::SystemTime::duration_since(&time, UNIX_EPOCH).ok()?;
            // The year 10000 has no date there.
            let time = Some(time).filter(|_| since.as_secs() < 253_402_300_800)?;
            let (date, nanos) = (httpdate::fmt_http_date(time), since.subsec_nanos());
            Some(format!("{date} + {nanos} ns"))
        };
        Self {
            bytes: metadata.len(),
            modified: modified.and_then(written),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, sync::Arc};

    use antiphon::{Ask, Client, Server, State, Stop, memory};
    use serde_json::json;

    use crate::{
        delete::{self, Delete},
        roots::Roots,
        write::{self, Overwrite},
    };

    /// The roots, and what somebody else does when the user has agreed.
    type World = State<(Arc<Roots>, Arc<dyn Fn() + Send + Sync>)>;

    async fn replace(State((roots, meanwhile)): World, ask: Ask) -> Result<String, Stop> {
        let place = roots.find("a.txt")?;
        let old = write::old(&place)?.expect("a file");
        let what = Overwrite::new(place.to_string(), old, "new".to_owned());
        let what = ask.confirm("what", "Sure?", what)?;
        meanwhile();
        write::replace(&roots, what)
    }

    async fn delete(State((roots, meanwhile)): World, ask: Ask) -> Result<String, Stop> {
        let what = Delete::at(&roots.find("a.txt")?)?;
        let what = ask.confirm("what", "Sure?", what)?;
        meanwhile();
        delete::delete(&roots, what)
    }

    /// The user has agreed, and the file becomes another in the next moment.
    #[tokio::test]
    async fn what_changes_after_the_answer_is_left_as_it_is() {
        let name = format!("antiphon-files-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).expect("made");
        let file = root.join("a.txt");
        let roots = Arc::new(Roots::open(std::slice::from_ref(&root)).expect("there"));
        for (tool, changes, left) in [
            ("replace", false, Some("new")),
            ("replace", true, Some("changed")),
            ("delete", false, None),
            ("delete", true, Some("changed")),
        ] {
            fs::write(&file, "old").expect("written");
            let changed = file.clone();
            let meanwhile: Arc<dyn Fn() + Send + Sync> = match changes {
                true => Arc::new(move || fs::write(&changed, "changed").expect("written")),
                false => Arc::new(|| ()),
            };
            let server: Server = Server::new("files", "1.0")
                .tool("replace", replace)
                .tool("delete", delete)
                .with_state((roots.clone(), meanwhile));
            let client = Client::new("tests", "1.0")
                .on_form(|form| async move { form.accept(json!({ "confirm": true })) })
                .connect(memory(server))
                .await
                .expect("in memory");
            let result = client.call_tool(tool, json!({})).await.expect("a result");
            let result = serde_json::to_string(&result).expect("JSON");
            assert_eq!(
                result.contains("has changed meanwhile"),
                changes,
                "{result}"
            );
            assert_eq!(fs::read_to_string(&file).ok().as_deref(), left, "{tool}");
        }
        fs::remove_dir_all(&root).expect("removed");
    }
}

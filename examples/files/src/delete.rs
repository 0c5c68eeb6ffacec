//! Deleting, of which the user is asked: the only module that removes what was there.

use antiphon::{Confirmed, Stop};
use serde::Serialize;

use crate::{
    roots::{Place, Roots},
    tools::Kind,
    version::Version,
};

/// What is to be deleted, as the user is asked about it.
#[derive(Serialize, PartialEq)]
pub(crate) struct Delete {
    path: String,
    kind: Kind,
    /// Of a directory there is none: it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<Version>,
}

impl Delete {
    /// What is there to be deleted.
    pub(crate) fn at(place: &Place<'_>) -> Result<Self, Stop> {
        if place.name().is_none() {
            return Err(Stop::fail(format!("`{place}` is a served directory.")));
        }
        let (root, inner) = place.within();
        let metadata = root.symlink_metadata(inner);
        let metadata = metadata.map_err(|error| place.wrong(&error))?;
        if metadata.is_dir() {
            let mut entries = place
                .dir()?
                .entries()
                .map_err(|error| place.wrong(&error))?;
            if entries.next().is_some() {
                return Err(Stop::fail(format!("`{place}` is not empty.")));
            }
        }
        Ok(Self {
            path: place.to_string(),
            kind: metadata.file_type().into(),
            version: (!metadata.is_dir()).then(|| Version::of(&metadata)),
        })
    }
}

/// Deletes what the user has agreed to, if it still is what it was.
pub(crate) fn delete(roots: &Roots, delete: Confirmed<Delete>) -> Result<String, Stop> {
    let place = roots.find(&delete.path)?;
    if Delete::at(&place)? != *delete {
        return Err(place.has_changed());
    }
    let (root, inner) = place.within();
    let removed = match delete.kind {
        Kind::Directory => root.remove_dir(inner),
        _ => root.remove_file(inner),
    };
    removed.map_err(|error| place.wrong(&error))?;
    let (Delete { path, .. }, _) = delete.into_parts();
    Ok(format!("Deleted `{path}`."))
}

//! The file: created, opened, recognised.

use std::{
    fmt,
    fs::OpenOptions,
    io,
    path::{Path, PathBuf},
};

use redb::{
    Builder, Database, DatabaseError, ReadableDatabase, StorageError, TableDefinition, TableHandle,
};

/// How the tables are written. A file of another format is refused; one that lacks a table, because
/// it was written before there was one, is not: the table is empty.
pub(super) const FORMAT: u64 = 1;

const ABOUT: TableDefinition<'_, &str, u64> = TableDefinition::new("antiphon");

/// Pages of the file that are kept in memory.
const CACHE: usize = 16 << 20;

/// Where the tables are. A seam, for disks that fail when a test wants them to.
pub(super) trait Disk: Send + 'static {
    /// Opens what is there, or what is empty.
    fn open(&self, builder: &Builder) -> Result<Database, DatabaseError>;

    /// Opens what was there before. Anything empty is not it: to begin anew would be to forget.
    fn open_again(&self, builder: &Builder) -> Result<Database, DatabaseError>;

    /// What to call it in an error.
    fn name(&self) -> String;
}

/// The database on a disk, if it is ours. For the first time, it may be new.
pub(super) fn open(disk: &dyn Disk, first: bool) -> io::Result<Database> {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE);
    let opened = if first {
        disk.open(&builder)
    } else {
        disk.open_again(&builder)
    };
    let database = opened.map_err(|error| refusal(disk, &error))?;
    match format_of(&database).map_err(|error| unreadable(disk, error))? {
        Format::Known(FORMAT) => {}
        Format::Known(other) => {
            return Err(unreadable(
                disk,
                format_args!("it has format {other}, and this version reads {FORMAT}"),
            ));
        }
        Format::Empty if first => {
            begin(&database).map_err(|error| unreadable(disk, error))?;
        }
        Format::Empty | Format::Foreign => {
            return Err(unreadable(
                disk,
                "it is a database, but not a store of ours",
            ));
        }
    }
    Ok(database)
}

enum Format {
    Known(u64),
    Empty,
    Foreign,
}

fn format_of(database: &Database) -> Result<Format, Box<dyn std::error::Error>> {
    let transaction = database.begin_read()?;
    let mut tables = transaction.list_tables()?.peekable();
    if tables.peek().is_none() && transaction.list_multimap_tables()?.next().is_none() {
        return Ok(Format::Empty);
    }
    if !tables.any(|table| table.name() == ABOUT.name()) {
        return Ok(Format::Foreign);
    }
    let about = transaction.open_table(ABOUT)?;
    let format = about.get("format")?;
    Ok(format.map_or(Format::Foreign, |format| Format::Known(format.value())))
}

fn begin(database: &Database) -> Result<(), Box<dyn std::error::Error>> {
    let transaction = database.begin_write()?;
    transaction.open_table(ABOUT)?.insert("format", FORMAT)?;
    transaction.commit()?;
    Ok(())
}

fn refusal(disk: &dyn Disk, error: &DatabaseError) -> io::Error {
    let name = disk.name();
    match error {
        DatabaseError::DatabaseAlreadyOpen => io::Error::new(
            io::ErrorKind::ResourceBusy,
            format!("the store {name} is open already, here or in another process"),
        ),
        DatabaseError::Storage(StorageError::Io(error))
            if error.kind() != io::ErrorKind::InvalidData =>
        {
            io::Error::new(error.kind(), format!("the store {name}: {error}"))
        }
        _ => unreadable(disk, error),
    }
}

fn unreadable(disk: &dyn Disk, error: impl fmt::Display) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!(
            "the file {} cannot be used as a store: {error}",
            disk.name()
        ),
    )
}

/// A file of the system.
pub(super) struct InFile(PathBuf);

impl InFile {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

impl Disk for InFile {
    fn open(&self, builder: &Builder) -> Result<Database, DatabaseError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        for_its_owner(&mut options);
        let database = builder.create_file(options.open(&self.0)?)?;
        keep_name(&self.0)?;
        Ok(database)
    }

    fn open_again(&self, builder: &Builder) -> Result<Database, DatabaseError> {
        builder.open(&self.0)
    }

    fn name(&self) -> String {
        self.0.display().to_string()
    }
}

#[cfg(unix)]
fn for_its_owner(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn for_its_owner(_: &mut OpenOptions) {}

/// A new file is there for good once its directory is on the disk as well.
#[cfg(unix)]
fn keep_name(path: &Path) -> io::Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    std::fs::File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn keep_name(_: &Path) -> io::Result<()> {
    Ok(())
}

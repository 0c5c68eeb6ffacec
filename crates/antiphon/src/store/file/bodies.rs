//! A spill: bodies, and whose they are.

use redb::{ReadableTable, StorageError, Table, TableDefinition, TableError, WriteTransaction};

use super::{
    FileStore,
    record::{self, Due, HEAD, Owned, due, due_of, owned, when_what},
};
use crate::store::{Handle, Kept, Moment, Owner, Spill, Spilled, Storing};

const BODIES: TableDefinition<'_, &[u8; 16], &[u8]> = TableDefinition::new("bodies");
const FORGET: TableDefinition<'_, &Due, ()> = TableDefinition::new("bodies by time");
const OWNED: TableDefinition<'_, &Owned, ()> = TableDefinition::new("bodies by owner");
const OWNER_BYTES: TableDefinition<'_, &[u8; 16], u64> = TableDefinition::new("owner bytes");
const BODY_BYTES: TableDefinition<'_, (), u64> = TableDefinition::new("body bytes");

impl Spill for FileStore {
    fn put<'a>(&'a self, body: &'a Spilled<'a>) -> Storing<'a, Kept> {
        let most = self.limits.body_bytes;
        let Spilled {
            handle,
            owner,
            now,
            keep_until,
            quota,
            ..
        } = *body;
        let bytes = body.body.to_vec();
        self.thread.ask(bytes.len(), move |tables| {
            tables.passed(now);
            let body = Spilled {
                handle,
                owner,
                body: &bytes,
                now,
                keep_until,
                quota,
            };
            tables.bodies.put(&body, most)
        })
    }

    fn get<'a>(&'a self, handle: &'a Handle, now: Moment) -> Storing<'a, Option<Vec<u8>>> {
        let handle = *handle;
        self.thread
            .ask(0, move |tables| tables.bodies.get(&handle, now))
    }

    fn is_shared(&self) -> bool {
        false
    }
}

pub(super) struct Bodies<'t> {
    bodies: Table<'t, &'static [u8; 16], &'static [u8]>,
    /// When to forget which.
    forget: Table<'t, &'static Due, ()>,
    /// The same for each owner.
    owned: Table<'t, &'static Owned, ()>,
    /// How many bytes each owner has here, and all of them together.
    owner_bytes: Table<'t, &'static [u8; 16], u64>,
    body_bytes: Table<'t, (), u64>,
    pub(super) changed: bool,
}

impl<'t> Bodies<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, TableError> {
        Ok(Self {
            bodies: transaction.open_table(BODIES)?,
            forget: transaction.open_table(FORGET)?,
            owned: transaction.open_table(OWNED)?,
            owner_bytes: transaction.open_table(OWNER_BYTES)?,
            body_bytes: transaction.open_table(BODY_BYTES)?,
            changed: false,
        })
    }

    pub(super) fn put(&mut self, body: &Spilled<'_>, most: u64) -> Result<Kept, StorageError> {
        // Handles are new, but for a body that is brought again because its first coming failed.
        self.forget(&body.handle.0)?;
        let size = body.body.len() as u64;
        if self.bytes_of(&body.owner)?.saturating_add(size) > body.quota {
            self.forget_expired_of(&body.owner, body.now)?;
        }
        if self.bytes_of(&body.owner)?.saturating_add(size) > body.quota {
            return Ok(Kept::OverQuota);
        }
        while self.bytes()?.saturating_add(size) > most {
            if !self.forget_one(body.now)? {
                return Ok(Kept::Full);
            }
        }
        self.keep(body)?;
        Ok(Kept::Kept)
    }

    pub(super) fn get(
        &self,
        handle: &Handle,
        now: Moment,
    ) -> Result<Option<Vec<u8>>, StorageError> {
        let Some(found) = self.bodies.get(&handle.0)? else {
            return Ok(None);
        };
        let (keep_until, _, body) = read(&handle.0, found.value())?;
        Ok((now < keep_until).then(|| body.to_vec()))
    }

    /// Forgets the first body that has expired; whether there was one.
    pub(super) fn forget_one(&mut self, now: Moment) -> Result<bool, StorageError> {
        let Some(first) = self.forget.first()?.map(|(due, _)| *due.value()) else {
            return Ok(false);
        };
        let (keep_until, handle) = when_what(&first);
        if now < keep_until {
            return Ok(false);
        }
        self.forget(&handle)?;
        Ok(true)
    }

    /// An owner's quota is for what has not expired, so this must not wait for its turn.
    fn forget_expired_of(&mut self, owner: &Owner, now: Moment) -> Result<(), StorageError> {
        let first = owned(&owner.0, &due(Moment::default(), &[0; 16]));
        let last = owned(&owner.0, &due(now, &[u8::MAX; 16]));
        loop {
            let expired = self
                .owned
                .range::<&Owned>(&first..=&last)?
                .next()
                .transpose()?;
            let Some(expired) = expired.map(|(owned, _)| due_of(owned.value())) else {
                return Ok(());
            };
            self.forget(&when_what(&expired).1)?;
        }
    }

    fn keep(&mut self, body: &Spilled<'_>) -> Result<(), StorageError> {
        self.changed = true;
        let due_then = due(body.keep_until, &body.handle.0);
        let mut record = Vec::with_capacity(HEAD + body.body.len());
        record.extend_from_slice(&due(body.keep_until, &body.owner.0));
        record.extend_from_slice(body.body);
        self.bodies.insert(&body.handle.0, record.as_slice())?;
        self.forget.insert(&due_then, ())?;
        self.owned.insert(&owned(&body.owner.0, &due_then), ())?;
        let size = body.body.len() as u64;
        let of_owner = self.bytes_of(&body.owner)? + size;
        self.owner_bytes.insert(&body.owner.0, of_owner)?;
        let bytes = self.bytes()? + size;
        self.body_bytes.insert((), bytes)?;
        Ok(())
    }

    fn forget(&mut self, handle: &[u8; 16]) -> Result<(), StorageError> {
        let (keep_until, owner, size) = {
            let Some(found) = self.bodies.remove(handle)? else {
                return Ok(());
            };
            let (keep_until, owner, body) = read(handle, found.value())?;
            (keep_until, owner, body.len() as u64)
        };
        self.changed = true;
        let due_then = due(keep_until, handle);
        self.forget.remove(&due_then)?;
        self.owned.remove(&owned(&owner, &due_then))?;
        match self.bytes_of(&Owner(owner))?.saturating_sub(size) {
            0 => drop(self.owner_bytes.remove(&owner)?),
            left => drop(self.owner_bytes.insert(&owner, left)?),
        }
        let bytes = self.bytes()?.saturating_sub(size);
        self.body_bytes.insert((), bytes)?;
        Ok(())
    }

    fn bytes_of(&self, owner: &Owner) -> Result<u64, StorageError> {
        let bytes = self.owner_bytes.get(&owner.0)?;
        Ok(bytes.map_or(0, |bytes| bytes.value()))
    }

    fn bytes(&self) -> Result<u64, StorageError> {
        let bytes = self.body_bytes.get(())?;
        Ok(bytes.map_or(0, |bytes| bytes.value()))
    }
}

fn read<'r>(
    handle: &[u8; 16],
    record: &'r [u8],
) -> Result<(Moment, [u8; 16], &'r [u8]), StorageError> {
    record::body(record)
        .ok_or_else(|| StorageError::Corrupted(format!("the record of body {}", Handle(*handle))))
}

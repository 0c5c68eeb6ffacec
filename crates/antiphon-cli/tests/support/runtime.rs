//! Where the servers of the tests run.

use std::{future::pending, sync::LazyLock, thread};

use tokio::runtime::Handle;

/// A thread of its own.
pub(crate) static RUNTIME: LazyLock<Handle> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let handle = runtime.handle().clone();
    thread::spawn(move || runtime.block_on(pending::<()>()));
    handle
});

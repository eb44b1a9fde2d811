//! What is read from files that may change while the server runs: certificates and tokens.
//!
//! Files are looked at again and again, not watched: a look also sees a symbolic link that now leads
//! elsewhere, which is how Kubernetes renews a mounted secret, and works on every file system.

use std::{
    error::Error,
    fmt, fs,
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::watch, task, time};

use crate::limits;

/// The newest good value. Clones see the same.
pub struct Live<T>(watch::Receiver<Arc<T>>);

impl<T> Live<T> {
    /// A value that stays what it is.
    pub fn fixed(value: T) -> Self {
        Live(watch::channel(Arc::new(value)).1)
    }

    /// The value as of now.
    pub fn now(&self) -> Arc<T> {
        Arc::clone(&self.0.borrow())
    }
}

impl<T> Clone for Live<T> {
    fn clone(&self) -> Self {
        Live(self.0.clone())
    }
}

impl<T> fmt::Debug for Live<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The value is a secret.
        f.debug_struct("Live").finish_non_exhaustive()
    }
}

/// Files, and what they hold.
pub trait Files: Send + 'static {
    /// What they hold.
    type Value: Send + Sync + 'static;
    /// What can be wrong with them.
    type Error: Error + Send + Sync + 'static;

    /// What to call them in a log.
    const NAME: &'static str;

    /// Where they are.
    fn paths(&self) -> Vec<&Path>;

    /// Reads them all.
    ///
    /// # Errors
    ///
    /// One of them cannot be read, or they make no sense together.
    fn read(&self) -> Result<Self::Value, Self::Error>;
}

/// Reads `files` for the first time. The value changes whenever [`watch()`] finds something new.
///
/// # Errors
///
/// What is wrong with the files.
pub fn open<F: Files>(files: F) -> Result<Opened<F::Value>, F::Error> {
    // Before they are read: a change in between is then seen as one.
    let seen = stamps(&files);
    let (sender, receiver) = watch::channel(Arc::new(files.read()?));
    let known = Known {
        files,
        seen,
        sender,
    };
    Ok((Live(receiver), Box::new(known)))
}

/// What files hold, and the way to look at them again.
pub type Opened<T> = (Live<T>, Box<dyn Reload>);

/// Files that can be looked at again.
pub trait Reload: fmt::Debug + Send {
    /// Reads them again if they have changed, or anyway. Files that are bad are reported in the log,
    /// and what was read before stays in force.
    fn reload(&mut self, anyway: bool);
}

/// Looks at `files` every so often, and at once when `hangup` asks for it. It never ends.
pub async fn watch(
    mut files: Vec<Box<dyn Reload>>,
    every: Duration,
    mut hangup: impl AsyncFnMut(),
) {
    let every = every.max(limits::RELOAD_INTERVAL_MIN);
    loop {
        let anyway = time::timeout(every, hangup()).await.is_ok();
        let looked = task::spawn_blocking(move || {
            for files in &mut files {
                files.reload(anyway);
            }
            files
        });
        match looked.await {
            Ok(looked) => files = looked,
            Err(error) => {
                tracing::error!(%error, "files are no longer read again");
                break;
            }
        }
    }
    std::future::pending::<()>().await;
}

struct Known<F: Files> {
    files: F,
    seen: Vec<Option<Stamp>>,
    sender: watch::Sender<Arc<F::Value>>,
}

impl<F: Files> fmt::Debug for Known<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(F::NAME).finish_non_exhaustive()
    }
}

impl<F: Files> Reload for Known<F> {
    fn reload(&mut self, anyway: bool) {
        let now = stamps(&self.files);
        if !anyway && now == self.seen {
            return;
        }
        self.seen = now;
        match self.files.read() {
            Ok(value) => {
                self.sender.send_replace(Arc::new(value));
                tracing::info!(files = F::NAME, "read again; in force from now on");
            }
            Err(error) => tracing::error!(
                files = F::NAME,
                error = &error as &dyn Error,
                "cannot be used; what was read before stays in force"
            ),
        }
    }
}

/// What changes about a file when it does, whether it is written, replaced, or another one is linked to.
#[derive(PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    bytes: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

fn stamps(files: &impl Files) -> Vec<Option<Stamp>> {
    let stamp = |path: &Path| {
        let of = fs::metadata(path).ok()?;
        Some(Stamp {
            file: (of.dev(), of.ino()),
            bytes: of.size(),
            written: (of.mtime(), of.mtime_nsec()),
            changed: (of.ctime(), of.ctime_nsec()),
        })
    };
    files.paths().into_iter().map(stamp).collect()
}

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {cause}", path = .path.display())]
pub struct Unreadable {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub cause: io::Error,
}

/// A whole file, if it is no longer than any that is expected.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Unreadable> {
    let unreadable = |cause| Unreadable {
        path: path.to_owned(),
        cause,
    };
    let max = limits::SETTINGS_FILE_BYTES_MAX;
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(unreadable)?;
    file.take(max + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if u64::try_from(bytes.len()).is_ok_and(|bytes| bytes > max) {
        let text = format!("it is longer than {max} bytes");
        return Err(unreadable(io::Error::other(text)));
    }
    Ok(bytes)
}

//! Files that results are written to: tried before the run, written to a temporary name, renamed at the end.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::exit::{Exit, Fatal};

/// Names of files that are being written, for who leaves at once.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Where something goes that a flag asked for.
pub(crate) struct Output {
    place: Place,
    /// Named in errors.
    flag: &'static str,
}

enum Place {
    /// To stdout.
    Stdout,
    /// To a file, by way of another beside it.
    File {
        /// Its name.
        path: PathBuf,
        /// The one beside it.
        temporary: PathBuf,
    },
    /// To something that is no file (a pipe, a device), directly.
    Direct(PathBuf),
}

impl Output {
    /// Makes sure that the output can be written, before anything runs.
    pub(crate) fn prepare(path: &Path, flag: &'static str) -> anyhow::Result<Self> {
        let to = |place| Ok(Self { place, flag });
        if path == Path::new("-") {
            return to(Place::Stdout);
        }
        let refuse = |error: io::Error| {
            Fatal::because(Exit::Output, format!("`{}` ({flag}) cannot be written", path.display()), error)
        };
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => return Err(refuse(io::ErrorKind::IsADirectory.into())),
            Ok(there) if !there.is_file() => return to(Place::Direct(path.to_owned())),
            Ok(there) if there.permissions().readonly() => {
                return Err(refuse(io::ErrorKind::PermissionDenied.into()));
            }
            _ => {}
        }
        let name = path.file_name().ok_or_else(|| refuse(io::ErrorKind::InvalidInput.into()))?;
        let temporary =
            path.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        // It does not stay: whoever leaves at once leaves nothing behind.
        File::create(&temporary).and_then(|_| fs::remove_file(&temporary)).map_err(refuse)?;
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(temporary.clone());
        to(Place::File { path: path.to_owned(), temporary })
    }

    /// Opens it for writing piece by piece; [`complete`](Self::complete) gives it its name.
    pub(crate) fn open(&self) -> anyhow::Result<File> {
        let opened = match &self.place {
            Place::Stdout => Err(io::Error::other("it must be a file")),
            Place::Direct(path) => File::create(path),
            Place::File { temporary, .. } => File::create(temporary),
        };
        opened.map_err(|error| self.refusal(error))
    }

    /// Ends what [`open`](Self::open) began, if all was written.
    pub(crate) fn complete(&self, written: io::Result<File>) -> anyhow::Result<()> {
        let named = written.and_then(|file| match &self.place {
            Place::File { path, temporary } => file.sync_all().and_then(|()| fs::rename(temporary, path)),
            // Pipes and devices have nothing to be brought to a disk.
            Place::Stdout | Place::Direct(_) => Ok(()),
        });
        named.map_err(|error| self.refusal(error))
    }

    /// The error that says that this could not be written.
    pub(crate) fn refusal(&self, error: io::Error) -> anyhow::Error {
        Fatal::because(Exit::Output, format!("`{}` ({}) could not be written", self.name(), self.flag), error)
    }

    fn name(&self) -> String {
        match &self.place {
            Place::File { path, .. } | Place::Direct(path) => path.display().to_string(),
            Place::Stdout => "-".to_owned(),
        }
    }

    /// Whether stdout is taken by this output.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stdout)
    }

    /// Writes the result. When that fails it is saved elsewhere, and the error says where.
    pub(crate) fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let written = match &self.place {
            Place::Stdout => return to_stdout(bytes),
            Place::Direct(path) => fs::write(path, bytes),
            Place::File { path, temporary } => File::create(temporary)
                .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
                .and_then(|()| fs::rename(temporary, path)),
        };
        written.map_err(|error| self.rescue(bytes, error))
    }

    /// Saves what could not be written where it belongs.
    fn rescue(&self, bytes: &[u8], error: io::Error) -> anyhow::Error {
        let name = self.name();
        let elsewhere = std::env::temp_dir().join(format!("tailback-result-{}", std::process::id()));
        let rescued = match fs::write(&elsewhere, bytes) {
            Ok(()) => format!("; the result was saved as `{}`", elsewhere.display()),
            Err(_) => String::new(),
        };
        Fatal::because(Exit::Output, format!("`{name}` ({}) could not be written{rescued}", self.flag), error)
    }
}

/// Writes to stdout. Whoever closed it does not want to read: that stays a broken pipe, which is no failure.
pub(crate) fn to_stdout(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => error.into(),
        _ => Fatal::because(Exit::Output, "stdout cannot be written", error),
    })
}

impl Drop for Output {
    fn drop(&mut self) {
        // Mostly it is not there; after a failure it must not stay.
        if let Place::File { temporary, .. } = &self.place {
            drop(fs::remove_file(temporary));
            UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|name| name != temporary);
        }
    }
}

/// Removes what is not complete, when the program ends without coming to its end.
pub(crate) fn remove_unfinished() {
    for temporary in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        drop(fs::remove_file(temporary));
    }
}

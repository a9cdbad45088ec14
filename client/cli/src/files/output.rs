//! Files that results are written to: tried before the run, written to a temporary name, renamed at the end.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::replacement::{Replacement, followed};
use super::stdout;
use crate::exit::{Exit, Fatal};

pub(crate) use super::stdout::to_stdout;

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
        /// Its name, as typed.
        path: PathBuf,
        /// The one beside it.
        beside: Replacement,
    },
    /// To something that is no file (a pipe, a device), directly.
    Direct(PathBuf),
}

impl Output {
    /// Makes sure that the output can be written, before anything runs.
    pub(crate) fn prepare(path: &Path, flag: &'static str) -> anyhow::Result<Self> {
        let to = |place| Ok(Self { place, flag });
        if path == Path::new("-") {
            if stdout::is_closed() {
                let words = format!("stdout (`-`, {flag}) is closed; give a file, or leave it open");
                return Err(Fatal::error(Exit::Output, words));
            }
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
        let Some(beside) = Replacement::of(path).map_err(refuse)? else {
            return to(Place::Direct(path.to_owned()));
        };
        beside.try_out().map_err(refuse)?;
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(beside.temporary.clone());
        to(Place::File { path: path.to_owned(), beside })
    }

    /// Opens it for writing piece by piece; [`complete`](Self::complete) gives it its name.
    pub(crate) fn open(&self) -> anyhow::Result<File> {
        let opened = match &self.place {
            Place::Stdout => Err(io::Error::other("it must be a file")),
            Place::Direct(path) => File::create(path),
            Place::File { beside, .. } => beside.create(),
        };
        opened.map_err(|error| self.refusal(error))
    }

    /// Ends what [`open`](Self::open) began, if all was written.
    pub(crate) fn complete(&self, written: io::Result<File>) -> anyhow::Result<()> {
        let named = written.and_then(|file| match &self.place {
            Place::File { beside, .. } => beside.complete(&file),
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
            Place::File { beside, .. } => beside
                .create()
                .and_then(|mut file| file.write_all(bytes).and_then(|()| beside.complete(&file))),
        };
        written.map_err(|error| self.rescue(bytes, error))
    }

    /// Saves what could not be written where it belongs.
    fn rescue(&self, bytes: &[u8], error: io::Error) -> anyhow::Error {
        let name = self.name();
        let rescued = match save_elsewhere(bytes) {
            Ok(elsewhere) => format!("; the result was saved as `{}`", elsewhere.display()),
            Err(_) => String::new(),
        };
        Fatal::because(Exit::Output, format!("`{name}` ({}) could not be written{rescued}", self.flag), error)
    }
}

/// The same for every spelling of a path, and for every link to it; what cannot be found is refused when it is to be
/// written.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    if path == Path::new("-") {
        return path.to_owned();
    }
    let path = followed(path).ok().flatten().unwrap_or_else(|| path.to_owned());
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Saves a result in the folder for temporary files, which others may use, too: nothing that is there is written to, and
/// nobody else may read it.
fn save_elsewhere(bytes: &[u8]) -> io::Result<PathBuf> {
    const NAMES: u32 = 100;
    let folder = std::env::temp_dir();
    let mut created = Err(io::ErrorKind::AlreadyExists.into());
    for number in 1..=NAMES {
        let path = folder.join(format!("tailback-result-{}-{number}", std::process::id()));
        created =
            File::options().write(true).create_new(true).mode(0o600).open(&path).map(|file| (path, file));
        if !matches!(&created, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            break;
        }
    }
    let (path, mut file) = created?;
    file.write_all(bytes).inspect_err(|_| drop(fs::remove_file(&path)))?;
    Ok(path)
}

impl Drop for Output {
    fn drop(&mut self) {
        // Mostly it is not there; after a failure it must not stay.
        if let Place::File { beside: Replacement { temporary, .. }, .. } = &self.place {
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

//! Output files, which are checked before the run, written under a temporary name, and renamed at the end.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use crate::exit::{Exit, Fatal};
use crate::files::replacement::{Replacement, folder_of, followed};
use crate::files::stdout;
use crate::files::stdout::ToStdout;

pub use crate::files::stdout::to_stdout;

/// Paths of temporary files that are not yet complete. These files are removed if the program exits before it has completed them.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

pub struct Output {
    place: Destination,
    flag: &'static str,
}

enum Destination {
    Stdout,
    File {
        path: PathBuf,
        beside: Replacement,
    },
    /// Destination that is not a regular file (a pipe, a device). It is written directly, without a temporary file.
    Direct(PathBuf),
}

pub enum Opened {
    Beside(NamedTempFile),
    Direct(File),
}

impl Write for Opened {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            // Writes to the inner file, because an error of `NamedTempFile` itself contains the temporary path, which no user gave.
            Self::Beside(file) => file.as_file_mut().write(bytes),
            Self::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(file) => file.as_file_mut().flush(),
            Self::Direct(file) => file.flush(),
        }
    }
}

impl Output {
    pub fn prepare(path: &Path, flag: &'static str) -> anyhow::Result<Self> {
        let to = |place| Ok(Self { place, flag });
        if path == Path::new("-") {
            if stdout::is_closed() {
                let words = format!("stdout (`-`, {flag}) is closed; give a file, or leave it open");
                return Err(Fatal::error(Exit::Output, words));
            }
            return to(Destination::Stdout);
        }
        let refuse = |error: io::Error| {
            Fatal::because(Exit::Output, format!("`{}` ({flag}) cannot be written", path.display()), error)
        };
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => return Err(refuse(io::ErrorKind::IsADirectory.into())),
            Ok(there) if !there.is_file() => return to(Destination::Direct(path.to_owned())),
            Ok(there) if there.permissions().readonly() => {
                return Err(refuse(io::ErrorKind::PermissionDenied.into()));
            }
            _ => {}
        }
        let Some(beside) = Replacement::new(path).map_err(refuse)? else {
            return to(Destination::Direct(path.to_owned()));
        };
        {
            let mut unfinished = unfinished();
            beside.try_out().map_err(refuse)?;
            unfinished.push(beside.temporary.clone());
        }
        to(Destination::File { path: path.to_owned(), beside })
    }

    pub fn open(&self) -> anyhow::Result<Opened> {
        let opened = match &self.place {
            Destination::Stdout => Err(io::Error::other("it must be a file")),
            Destination::Direct(path) => File::create(path).map(Opened::Direct),
            Destination::File { beside, .. } => created(beside).map(Opened::Beside),
        };
        opened.map_err(|error| self.refusal(error))
    }

    pub fn complete(&self, written: io::Result<Opened>) -> anyhow::Result<()> {
        let named = written.and_then(|opened| match (opened, &self.place) {
            (Opened::Beside(file), Destination::File { beside, .. }) => beside.complete(file),
            // Pipes and devices are written directly, so they need neither `fsync` nor a new name.
            _ => Ok(()),
        });
        named.map_err(|error| self.refusal(error))
    }

    fn refusal(&self, error: io::Error) -> anyhow::Error {
        self.refusal_with(error, None)
    }

    fn name(&self) -> String {
        match &self.place {
            Destination::File { path, .. } | Destination::Direct(path) => path.display().to_string(),
            Destination::Stdout => "-".to_owned(),
        }
    }

    fn refusal_with(&self, error: io::Error, saved: Option<&Path>) -> anyhow::Error {
        let rescued = saved.map_or_else(String::new, |elsewhere| {
            format!("; the result was saved as `{}`", elsewhere.display())
        });
        let words = format!("`{}` ({}) could not be written{rescued}", self.name(), self.flag);
        Fatal::because(Exit::Output, words, error)
    }

    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Destination::Stdout)
    }

    pub fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        self.write_all_of(&mut |to| to.write_all(bytes))
    }

    /// Writes the output that `content` produces. If writing fails, calls `content` again to save the output to another path, and names
    /// this path in the error.
    pub fn write_all_of(
        &self,
        content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let written = match &self.place {
            Destination::Stdout => return content(&mut ToStdout).map_err(ToStdout::refusal),
            Destination::Direct(path) => File::create(path).and_then(|mut file| content(&mut file)),
            Destination::File { beside, .. } => created(beside)
                .and_then(|mut file| content(file.as_file_mut()).and_then(|()| beside.complete(file))),
        };
        written.map_err(|error| self.refusal_with(error, save_elsewhere(content).ok().as_deref()))
    }
}

/// Returns a canonical path, which is equal for all spellings of a path and for all links to it. If a path cannot be resolved, it is
/// returned unchanged, and writing to it fails later.
pub fn resolved(path: &Path) -> PathBuf {
    if path == Path::new("-") {
        return path.to_owned();
    }
    let path = followed(path).ok().flatten().unwrap_or_else(|| path.to_owned());
    match (folder_of(&path).canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Writes the content to a new file in the folder for temporary files, which other users may share. Never opens an existing file. Only the
/// current user may read the new file.
fn save_elsewhere(content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<PathBuf> {
    let mut file =
        tempfile::Builder::new().prefix(&format!("tailback-result-{}-", std::process::id())).tempfile()?;
    content(file.as_file_mut())?;
    let (_, path) = file.keep()?;
    Ok(path)
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Destination::File { beside: Replacement { temporary, .. }, .. } = &self.place {
            unfinished().retain(|name| name != temporary);
        }
    }
}

/// Removes the temporary files before the program exits. From then on, no thread can create another one, because the lock is never released.
pub fn remove_unfinished() {
    let mut unfinished = unfinished();
    for temporary in unfinished.drain(..) {
        drop(fs::remove_file(temporary));
    }
    std::mem::forget(unfinished);
}

/// Locks the list of temporary files. They are created only under this lock, so that a signal meanwhile leaves none behind.
fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn created(beside: &Replacement) -> io::Result<NamedTempFile> {
    let _listed = unfinished();
    beside.create()
}

pub fn refuse_other_format(path: &Path, ours: &[&str], what: &str) -> anyhow::Result<()> {
    const FORMATS: [&str; 20] = [
        "png", "jpg", "jpeg", "gif", "webp", "avif", "bmp", "tif", "tiff", "ico", "pdf", "ps", "eps", "svg",
        "html", "htm", "json", "csv", "md", "txt",
    ];
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let other = |extension: &str| FORMATS.contains(&extension) && !ours.contains(&extension);
    if !extension.as_deref().is_some_and(other) {
        return Ok(());
    }
    let words = format!(
        "`{}` (--output) would hold {what}; call it `{}`, or `-` for stdout",
        path.display(),
        path.with_extension(ours[0]).display()
    );
    Err(Fatal::error(Exit::Usage, words))
}

pub fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let output = Output::prepare(path, "--output")?;
    if output.is_stdout() {
        return to_stdout(bytes);
    }
    let mut file = output.open()?;
    output.complete(file.write_all(bytes).map(|()| file))
}

//! Output files, which are checked before the run, written under a temporary name, and renamed at the end.

use std::fs::{self, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use rustix::io::Errno;
use tempfile::NamedTempFile;

use crate::files::stdout::{self, ToStdout};
use crate::{Exit, Fatal, locked, usage};

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
                return Err(Fatal::error(
                    Exit::Output,
                    format!("stdout (`-`, {flag}) is closed; give a file, or leave it open"),
                ));
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
        let mut unfinished = unfinished();
        beside.try_out().map_err(refuse)?;
        unfinished.push(beside.temporary.clone());
        drop(unfinished);
        to(Destination::File { path: path.to_owned(), beside })
    }

    pub fn open(&self) -> anyhow::Result<Opened> {
        let opened = match &self.place {
            Destination::Stdout => Err(io::Error::other("it must be a file")),
            Destination::Direct(path) => File::create(path).map(Opened::Direct),
            Destination::File { beside, .. } => created(beside).map(Opened::Beside),
        };
        opened.map_err(|error| self.refusal(error, None))
    }

    pub fn complete(&self, written: io::Result<Opened>) -> anyhow::Result<()> {
        let named = written.and_then(|opened| match (opened, &self.place) {
            (Opened::Beside(file), Destination::File { beside, .. }) => beside.complete(file),
            // Pipes and devices are written directly, so they need neither `fsync` nor a new name.
            _ => Ok(()),
        });
        named.map_err(|error| self.refusal(error, None))
    }

    fn refusal(&self, error: io::Error, saved: Option<&Path>) -> anyhow::Error {
        let rescued = saved.map_or_else(String::new, |elsewhere| {
            format!("; the result was saved as `{}`", elsewhere.display())
        });
        let name = match &self.place {
            Destination::File { path, .. } | Destination::Direct(path) => path.as_path(),
            Destination::Stdout => Path::new("-"),
        };
        let words = format!("`{}` ({}) could not be written{rescued}", name.display(), self.flag);
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
        written.map_err(|error| self.refusal(error, save_elsewhere(content).ok().as_deref()))
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
    Ok(file.keep()?.1)
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Destination::File { beside, .. } = &self.place {
            unfinished().retain(|name| *name != beside.temporary);
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
    locked(&UNFINISHED)
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
    Err(usage(words))
}

pub fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let output = Output::prepare(path, "--output")?;
    if output.is_stdout() {
        return to_stdout(bytes);
    }
    let mut file = output.open()?;
    output.complete(file.write_all(bytes).map(|()| file))
}

/// Maximum number of consecutive symbolic links. Longer chains are treated as a loop.
const LINKS: usize = 40;

/// Maximum number of attempts to create the temporary file. An attempt fails if another program takes the new file for a leftover. That
/// program then removes the file before this program has locked it.
const ATTEMPTS: usize = 100;

struct Replacement {
    /// Path of the file that is replaced or newly created, never a symbolic link.
    target: PathBuf,
    temporary: PathBuf,
}

impl Replacement {
    /// Prepares to replace the file to which `path` leads after following all symbolic links. The links themselves are kept. Returns `None`
    /// for a path without a replaceable file, such as `/dev/stdout`.
    fn new(path: &Path) -> io::Result<Option<Self>> {
        let Some(target) = followed(path)? else { return Ok(None) };
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        // The name of the temporary file is random, because processes in two containers that share a folder can have the same process id.
        let drawn = RandomState::new().hash_one(&target);
        let temporary = target.with_file_name(format!(".{}.{drawn:016x}.tmp", name.to_string_lossy()));
        Ok(Some(Self { target, temporary }))
    }

    /// Checks that the temporary file can be created. Removes the file again, so that nothing is left behind if the program exits at once.
    fn try_out(&self) -> io::Result<()> {
        self.remove_left_over();
        self.create()?.close()
    }

    /// Creates the temporary file. Never follows an existing link, and grants no reader more access than the old file did.
    fn create(&self) -> io::Result<NamedTempFile> {
        let mode = if self.replaced().is_some() { 0o600 } else { 0o666 };
        let (folder, name) = (folder_of(&self.temporary), self.temporary.file_name().unwrap_or_default());
        let make = || {
            // `tempfile` adds no random part to the name, because `output::remove_unfinished` must know the whole name in advance.
            let mut builder = tempfile::Builder::new();
            // This closure opens the file, because an error of `tempfile` itself would contain the temporary path, which no user gave.
            let open = |path: &Path| {
                OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
            };
            builder.prefix(name).rand_bytes(0).make_in(folder, open)
        };
        for _ in 0..ATTEMPTS {
            let mut file = match make() {
                // The file of the previous attempt still exists. Another program has locked it and has not yet removed it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
                created => created?,
            };
            // A lock marks the temporary file as in use. Another program may have removed the file before it was locked.
            let lost = match file.as_file().try_lock() {
                Err(TryLockError::WouldBlock) => true,
                // On file systems without locks, other programs cannot lock the file and so never remove it.
                Ok(()) | Err(TryLockError::Error(_)) => file.as_file().metadata()?.nlink() == 0,
            };
            if !lost {
                return Ok(file);
            }
            // Another program has locked the file and will remove it. This program must not remove it, because it could remove a later file
            // of the same name.
            file.disable_cleanup(true);
        }
        Err(io::Error::other("another program removes the file as soon as it is created"))
    }

    fn complete(&self, written: NamedTempFile) -> io::Result<()> {
        let file = written.as_file();
        if let Some(old) = self.replaced() {
            // Only root may change the owner. For other users, the new file belongs to the user who runs this program.
            drop(fchown(file, Some(old.uid()), Some(old.gid())));
            file.set_permissions(Permissions::from_mode(old.mode() & 0o777))?;
        }
        file.sync_all()?;
        written.persist(&self.target)?;
        Ok(())
    }

    fn replaced(&self) -> Option<Metadata> {
        fs::metadata(&self.target).ok()
    }

    /// Removes unfinished temporary files that killed programs left behind. A file is a leftover if no process holds its lock. Process ids
    /// cannot show this, because they are reused and mean nothing in another container.
    fn remove_left_over(&self) {
        let (folder, Some(name)) = (folder_of(&self.temporary), self.target.file_name()) else { return };
        let begin = format!(".{}.", name.to_string_lossy());
        let is_ours = |name: &str| {
            let drawn = name.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(".tmp"));
            drawn.is_some_and(|drawn| !drawn.is_empty() && drawn.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(is_ours)
                && entry.file_type().is_ok_and(|kind| kind.is_file())
                && let Ok(file) = File::open(entry.path())
                && file.try_lock().is_ok()
                // The open file is compared with the file at the path. Before this program locked the file, the file's writer may have
                // removed it and created another file of the same name.
                && is_at(&file, &entry.path())
            {
                // The lock is held until the file is removed. A program that has just created this file therefore fails to lock it, and
                // creates another file.
                drop(fs::remove_file(entry.path()));
                drop(file);
            }
        }
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
    let (open, named) = (file.metadata().map(identity), fs::symlink_metadata(path).map(identity));
    open.ok().zip(named.ok()).is_some_and(|(open, named)| open == named)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Resolves all symbolic links of a path. Returns `None` if a link leads into `/proc`, such as to an open file of a process.
fn followed(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        if target.starts_with("/proc") {
            return Ok(None);
        }
        match fs::read_link(&target) {
            Ok(link) => target = target.with_file_name("").join(link),
            Err(_) => return Ok(Some(target)),
        }
    }
    Err(Errno::LOOP.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creation_errors_omit_the_name_of_the_temporary_file() {
        let nowhere = Replacement::new(Path::new("/no/where")).unwrap().unwrap();
        let error = nowhere.try_out().unwrap_err();
        assert_eq!(error.to_string(), "No such file or directory (os error 2)");
    }

    #[test]
    fn the_lock_alone_decides_whether_a_file_is_a_leftover() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("result.json");
        let place = |name: String| folder.path().join(name);
        // Numbers of a live process, of no process, and of the first process of another container.
        for number in [std::process::id(), u32::MAX, 1] {
            let left_over = place(format!(".result.json.{number}.tmp"));
            for locked in [true, false] {
                let file = File::create(&left_over).unwrap();
                if locked {
                    file.lock().unwrap();
                }
                Replacement::new(&target).unwrap().unwrap().try_out().unwrap();
                assert_eq!(left_over.exists(), locked, "{number}, locked: {locked}");
            }
        }
        std::fs::write(place(".result.json.mine.tmp".to_owned()), "mine").unwrap();
        Replacement::new(&target).unwrap().unwrap().try_out().unwrap();
        assert!(place(".result.json.mine.tmp".to_owned()).exists(), "no program wrote it");
    }

    /// No temporary file is left.
    #[test]
    fn concurrent_writers_of_one_file_all_complete_it() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("result.json");
        let written = |text: &str| {
            let beside = Replacement::new(&target).unwrap().unwrap();
            beside.try_out().unwrap();
            let file = beside.create().unwrap();
            fs::write(&beside.temporary, text).unwrap();
            (beside, file)
        };
        std::thread::scope(|scope| {
            for number in 0..4 {
                scope.spawn(move || {
                    for round in 0..50 {
                        let (beside, file) = written(&format!("{number} {round}"));
                        beside.complete(file).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }
}

//! A file that replaces another when it is complete: it is written beside it, and takes over its name, mode and owner.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use tempfile::NamedTempFile;

/// More symbolic links in a row are a loop.
const LINKS: usize = 40;

/// Where the new file is written, and what it replaces.
pub(super) struct Replacement {
    /// What is replaced, or made: no symbolic link.
    target: PathBuf,
    /// The file beside it.
    pub(super) temporary: PathBuf,
}

impl Replacement {
    /// Of what this path leads to; links stay. Nothing when that is no place in a folder, as with `/dev/stdout`.
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        let Some(target) = followed(path)? else { return Ok(None) };
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let temporary =
            target.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        Ok(Some(Self { target, temporary }))
    }

    /// Makes sure that the file can be made. It does not stay: whoever leaves at once leaves nothing behind.
    pub(super) fn try_out(&self) -> io::Result<()> {
        self.remove_left_over();
        self.create()?.close()
    }

    /// Makes the file. It follows no link that somebody put there, and lets nobody read what the old one did not.
    pub(super) fn create(&self) -> io::Result<NamedTempFile> {
        let mode = if self.replaced().is_some() { 0o600 } else { 0o666 };
        let (folder, name) = (folder_of(&self.temporary), self.temporary.file_name().unwrap_or_default());
        let make = || {
            // Whoever leaves at once must know the name beforehand: nothing of it is drawn.
            let mut builder = tempfile::Builder::new();
            // Opened here, because errors of its own ways to do it have a path that nobody asked for.
            let open = |path: &Path| {
                OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
            };
            builder.prefix(name).rand_bytes(0).make_in(folder, open)
        };
        let file = match make() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Of a program that is gone and had this one's number.
                fs::remove_file(&self.temporary)?;
                make()?
            }
            created => created?,
        };
        // Where there are no locks, that the program lives must be enough.
        drop(file.as_file().try_lock());
        Ok(file)
    }

    /// Puts the file, which is complete, in the place of the old one.
    pub(super) fn complete(&self, written: NamedTempFile) -> io::Result<()> {
        let file = written.as_file();
        if let Some(old) = self.replaced() {
            // Only the administrator may give files away: elsewhere the new one is the writer's own.
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

    /// Removes what programs began to write here that were killed. Whoever lives keeps a lock, also where its number means
    /// nothing, as in another container.
    fn remove_left_over(&self) {
        let (folder, Some(name)) = (folder_of(&self.temporary), self.target.file_name()) else { return };
        let begin = format!(".{}.", name.to_string_lossy());
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let writer = name.to_str().and_then(|name| name.strip_prefix(&begin)?.strip_suffix(".tmp"));
            let writer = writer.and_then(|number| Pid::from_raw(number.parse().ok()?));
            let gone = writer.is_some_and(|writer| test_kill_process(writer) == Err(Errno::SRCH));
            if gone && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                let unlocked = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
                if unlocked {
                    drop(fs::remove_file(entry.path()));
                }
            }
        }
    }
}

/// The folder that a file lies in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where a path leads to, by all its links; nothing when one leads to an open file of a process.
pub(super) fn followed(path: &Path) -> io::Result<Option<PathBuf>> {
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
    fn what_kept_a_file_from_being_made_is_said_without_the_name_beside_it() {
        let nowhere = Replacement::of(Path::new("/no/where")).unwrap().unwrap();
        let error = nowhere.try_out().unwrap_err();
        assert_eq!(error.to_string(), "No such file or directory (os error 2)");
    }
}

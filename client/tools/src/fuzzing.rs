//! Parsers of untrusted texts, exposed to the fuzz targets in `fuzz/` only. Each returns whether it accepts a text.

use std::cell::RefCell;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use reproduce::{Source, load};
use shell::args::BaselineName;
use shell::{CheckArgs, Checks};

use crate::sweep;

pub fn axis(text: &str) -> bool {
    sweep::axis::axis(text).is_ok()
}

pub fn scenario(text: &str) -> bool {
    in_file(text, |path| {
        drop(load(Source::File(path), &["server.max_busy=7".to_owned()]));
        load(Source::File(path), &[]).is_ok()
    })
}

pub fn baseline(text: &str) -> bool {
    in_file(text, |path| {
        let args = CheckArgs {
            fail_if: Vec::new(),
            save_baseline: None,
            baseline: Some(BaselineName(path.to_owned())),
            junit: None,
            noise: "5%".parse().expect("this is a share"),
        };
        Checks::prepare(&args, &["aimd"]).is_ok()
    })
}

fn in_file(text: &str, read: impl FnOnce(&Path) -> bool) -> bool {
    thread_local! {
        static FILE: RefCell<Option<(std::fs::File, PathBuf)>> = const { RefCell::new(None) };
    }
    FILE.with_borrow_mut(|kept| {
        let (file, path) = kept.get_or_insert_with(|| {
            // An existing temporary file is never opened, because another user who guesses its name must not redirect the writes.
            let named = |number| format!("tailback-fuzz-{}-{number}", std::process::id());
            let made = (0..100).find_map(|number| {
                let path = std::env::temp_dir().join(named(number));
                Some((std::fs::File::create_new(&path).ok()?, path))
            });
            made.expect("a temporary file can be made")
        });
        let written = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| file.write_all(text.as_bytes()));
        written.expect("a temporary file can be written");
        read(path)
    })
}

#[cfg(test)]
mod tests;

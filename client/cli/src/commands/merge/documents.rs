//! Shard documents to merge, which are read one after the other, and the errors for documents that cannot be read or merged.

use std::path::{Path, PathBuf};
use std::slice;

use results::ShardKind;

use crate::exit::{Exit, Fatal};
use crate::files::reading::{LARGE, text_of};

pub(super) type Named = (String, String);

/// Iterator over the documents of shards of one kind. At most one document is in memory at a time, because a document may be large.
pub(super) struct Shards<'a> {
    kind: ShardKind,
    named: String,
    first: Option<Named>,
    rest: slice::Iter<'a, PathBuf>,
}

impl<'a> Shards<'a> {
    pub(super) fn new(files: &'a [PathBuf]) -> anyhow::Result<Option<Self>> {
        let mut rest = files.iter();
        let Some(path) = rest.next() else { return Ok(None) };
        let (named, text) = document(path)?;
        let kind = kind(&named, &text)?;
        Ok(Some(Self { kind, first: Some((named.clone(), text)), named, rest }))
    }

    pub(super) fn kind(&self) -> ShardKind {
        self.kind
    }
}

impl Iterator for Shards<'_> {
    type Item = anyhow::Result<Named>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        let path = self.rest.next()?;
        Some(document(path).and_then(|(name, text)| {
            if kind(&name, &text)? != self.kind {
                let words = format!("`{name}` and `{}` are shards of different kinds", self.named);
                return Err(Fatal::error(Exit::Usage, words));
            }
            Ok((name, text))
        }))
    }
}

fn document(path: &Path) -> anyhow::Result<Named> {
    let name = path.display().to_string();
    match text_of(path, LARGE) {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(Fatal::because(Exit::Usage, format!("`{name}` cannot be read"), error)),
    }
}

fn kind(name: &str, text: &str) -> anyhow::Result<ShardKind> {
    ShardKind::parse(text).map_err(|error| refusal(name, &error))
}

pub(super) fn refusal(name: &str, error: &impl std::fmt::Display) -> anyhow::Error {
    Fatal::error(Exit::Usage, format!("`{name}` cannot be merged: {error}"))
}

//! First bytes of response bodies, kept until the response is interpreted.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Maximum number of bytes of all bodies that are kept at once to be searched for words.
const MAX_HELD: usize = 256 << 20;

/// Total of the response bodies of a run that are searched for words.
#[derive(Debug, Default)]
pub struct SearchedBodies {
    /// Number of bytes that are kept now.
    held: AtomicUsize,
    cut: AtomicU64,
}

impl SearchedBodies {
    /// Returns the number of bodies of which only a part was searched.
    pub fn cut(&self) -> u64 {
        self.cut.load(Relaxed)
    }

    /// Reserves up to `wanted` bytes. Returns the number of reserved bytes.
    fn reserve(&self, wanted: usize) -> usize {
        let before = self.held.fetch_add(wanted, Relaxed);
        let room = MAX_HELD.saturating_sub(before).min(wanted);
        self.held.fetch_sub(wanted - room, Relaxed);
        room
    }
}

/// First bytes of a response body.
#[derive(Debug, Default)]
pub(crate) struct KeptBody {
    bytes: Vec<u8>,
    max: usize,
    /// Total to which this body counts; `None` if the body is not searched for words.
    searched: Option<Arc<SearchedBodies>>,
    is_cut: bool,
}

impl KeptBody {
    pub(crate) fn new(max: usize, searched: Option<Arc<SearchedBodies>>) -> Self {
        Self { bytes: Vec::new(), max, searched, is_cut: false }
    }

    pub(crate) fn add(&mut self, chunk: &[u8]) {
        let wanted = if self.is_cut { 0 } else { (self.max - self.bytes.len()).min(chunk.len()) };
        let room = self.searched.as_ref().map_or(wanted, |searched| searched.reserve(wanted));
        self.bytes.extend_from_slice(&chunk[..room]);
        self.is_cut |= room < chunk.len();
    }
}

impl Deref for KeptBody {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for KeptBody {
    fn drop(&mut self) {
        if let Some(searched) = &self.searched {
            searched.held.fetch_sub(self.bytes.len(), Relaxed);
            searched.cut.fetch_add(self.is_cut.into(), Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bodies_together_keep_at_most_256_mib() {
        let searched = Arc::<SearchedBodies>::default();
        let chunk = vec![b'x'; 1 << 20];
        let body = |max| {
            let mut body = KeptBody::new(max, Some(searched.clone()));
            body.add(&chunk);
            body
        };
        let mut bodies: Vec<KeptBody> = (0..255).map(|_| body(1 << 20)).collect();
        bodies.push(body((1 << 20) - 1));
        assert_eq!((bodies[255].len(), searched.held.load(Relaxed)), ((1 << 20) - 1, MAX_HELD - 1));
        assert_eq!(body(1 << 20).len(), 1, "only one byte is left");
        assert_eq!(searched.cut(), 1);
        drop(bodies);
        assert_eq!((searched.cut(), searched.held.load(Relaxed)), (2, 0));
        let mut small = body(2 << 20);
        small.add(b"y");
        assert_eq!(small.len(), chunk.len() + 1);
        drop(small);
        assert_eq!(searched.cut(), 2);
    }

    #[test]
    fn a_body_that_is_not_searched_is_cut_without_being_counted() {
        let mut body = KeptBody::new(3, None);
        body.add(b"ab");
        body.add(b"cd");
        body.add(b"ef");
        assert_eq!(&*body, b"abc");
    }
}

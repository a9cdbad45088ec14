//! The parts of one kind that a layer has: mostly one, which is then found without a detour.

use std::ops::{Deref, DerefMut};

/// None, one or several boxed parts, as a slice.
pub(super) enum Few<T: ?Sized> {
    None,
    One(Box<T>),
    Several(Box<[Box<T>]>),
}

impl<T: ?Sized> FromIterator<Box<T>> for Few<T> {
    fn from_iter<I: IntoIterator<Item = Box<T>>>(parts: I) -> Self {
        let mut parts = parts.into_iter();
        let Some(first) = parts.next() else { return Self::None };
        match parts.next() {
            None => Self::One(first),
            Some(second) => Self::Several([first, second].into_iter().chain(parts).collect()),
        }
    }
}

impl<T: ?Sized> Deref for Few<T> {
    type Target = [Box<T>];

    #[inline]
    fn deref(&self) -> &[Box<T>] {
        match self {
            Self::None => &[],
            Self::One(part) => std::slice::from_ref(part),
            Self::Several(parts) => parts,
        }
    }
}

impl<T: ?Sized> DerefMut for Few<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Box<T>] {
        match self {
            Self::None => &mut [],
            Self::One(part) => std::slice::from_mut(part),
            Self::Several(parts) => parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_order_however_many_there_are() {
        for count in 0..4 {
            let mut few: Few<u32> = (0..count).map(Box::new).collect();
            few.iter_mut().for_each(|part| **part += 1);
            assert_eq!(few.iter().map(|part| **part).collect::<Vec<_>>(), (1..=count).collect::<Vec<_>>());
        }
    }
}

//! Capacity of the resource that requests hold.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capacity {
    Slots,
    Own(u32),
    /// No bound: a busy resource is never a reason to reject a request.
    Unbounded,
}

//! Capacity of the resource that requests hold, such as slots.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capacity {
    Slots,
    Own(u32),
    /// The number of busy resources is not limited, so no request is rejected for lack of resources.
    Unbounded,
}

//! How much there is of what requests hold.

/// How much there is of what can be busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capacity {
    /// As many as the server has slots.
    Slots,
    /// So much of the policy's own: places, descriptors.
    Own(u32),
    /// As much as is asked for: nothing that is busy is a reason to turn anybody away.
    Unbounded,
}

//! What to show of a run, and where: the live terminal dashboard.

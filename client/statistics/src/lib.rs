//! What runs over many seeds say: spreads, intervals, comparisons. Pure: no clock, no global randomness.

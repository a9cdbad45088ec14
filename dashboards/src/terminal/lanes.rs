//! Dashboard of several strategies, with one lane for each strategy. Lanes are one below the other.

mod lane;
mod numbers;
mod render;

#[cfg(test)]
mod tests;

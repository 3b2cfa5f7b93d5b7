//! Questions about functions, answered without changing them.

pub mod cfg;
pub mod dominators;
pub mod loops;
pub mod types;

#[cfg(test)]
pub(crate) mod test_graphs;

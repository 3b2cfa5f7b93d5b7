//! Questions about functions, answered without changing them.

pub mod activity;
pub mod affine;
pub mod alias;
pub mod cfg;
pub mod dominators;
pub mod effects;
pub mod facts;
pub mod inequality;
pub mod known;
pub mod loops;
pub mod overwrite;
pub mod points_to;
pub mod ranges;
pub mod relocation;
pub mod repeatable;
pub mod targets;
pub mod trip_count;
pub mod types;

#[cfg(test)]
pub(crate) mod test_graphs;

/// What functions tell their callers, each worked out once. It holds as long as no function of the
/// module changes.
#[derive(Default)]
pub struct Callees {
    /// About the types of arguments and results.
    pub types: types::Summaries,
    /// About where they leave addresses.
    pub places: activity::places::Places,
}

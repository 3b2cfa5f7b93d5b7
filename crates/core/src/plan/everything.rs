//! The plan that is always legal: cache every value that the reverse sweep needs.

use super::{Need, Plan, Source};

/// Caches every need.
pub fn everything(needs: impl IntoIterator<Item = Need>) -> Plan {
    Plan {
        sources: needs.into_iter().map(|n| (n, Source::Cache)).collect(),
        ..Plan::default()
    }
}

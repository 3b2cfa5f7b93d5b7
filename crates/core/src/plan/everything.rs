//! The plan that is always legal: cache every value that the reverse sweep needs.

use super::{Need, Plan, Source, Why};

/// Caches every need.
pub fn everything(needs: impl IntoIterator<Item = Need>) -> Plan {
    let mut plan = Plan::default();
    for need in needs {
        plan.sources.insert(need, Source::Cache);
        plan.reasons.insert(need, Why::KeepsEverything);
    }
    plan
}

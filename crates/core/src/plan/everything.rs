//! The plan that is always legal: cache every value that the reverse sweep needs.

use super::kept::{kept_anyway, needs_of_free};
use super::{Need, Plan, Source, Why};
use crate::ir::Module;
use crate::primal::Primal;
use crate::reverse::Augmented;
use std::collections::BTreeSet;

/// Caches every need. What callees read again stays where it is all the same.
pub fn everything(
    module: &Module,
    primal: &Primal,
    augmented: &Augmented,
    mut needs: BTreeSet<Need>,
) -> Plan {
    let mut plan = Plan {
        kept: kept_anyway(primal, augmented),
        ..Plan::default()
    };
    for &group in &plan.kept {
        needs.extend(needs_of_free(module, primal, augmented, group));
    }
    for need in needs {
        plan.sources.insert(need, Source::Cache);
        plan.reasons.insert(need, Why::KeepsEverything);
    }
    plan
}

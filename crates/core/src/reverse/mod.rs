//! Reverse mode: the augmented forward sweep and the reverse sweep of a function.
//!
//! # Names
//!
//! The adjoint of `x` is `x_adj`, its tangent `x_tan`, its shadow pointer `x_shadow`. A *slot* is
//! frame memory that holds the adjoint of one value while the reverse sweep runs.
//!
//! # How it works
//!
//! 1. [`shadow`] puts shadow pointers beside primal ones; [`augmented`] adds, to
//!    each block where paths meet, a parameter that tells which way control came.
//! 2. [`gradient`] emits the reverse sweep once to record which primal values it asks for.
//! 3. A [`plan`] decides how it gets each of them, and [`tape`] lays out the records
//!    of what is cached.
//! 4. [`gradient`] emits the reverse sweep for good, and [`tape`] makes the forward sweep fill
//!    the records.
//!
//! The reverse sweep has one block for each block of the primal, entered from where the primal
//! went on to. Its instructions are reversed in reverse order: each takes the adjoint of its
//! result out of its slot, leaving zero, and adds contributions to the slots of its operands. So
//! a slot is zero whenever its value is not between last use and definition, and loops need no
//! care. Slots are frame memory that a later pass turns into values. An adjoint that never leaves
//! the reverse of one block has no slot but is a value from the beginning ([`local`]).

mod adjoint;
mod augmented;
mod combine;
mod computed;
mod control;
pub mod count;
mod decisions;
pub mod delayed;
pub mod dropped;
pub mod early;
mod entered;
mod finite;
mod first_zeros;
mod gradient;
mod idle_loops;
mod induction;
mod insertions;
mod local;
mod moves;
pub mod nest;
pub mod obstacles;
pub mod replay;
mod tape;
mod touched;
pub mod unpaired;
pub mod versions;

pub use augmented::Augmented;
pub use combine::combine;
pub use tape::Layout;
pub use touched::Touched;

use crate::diagnostic::Result;
use crate::ir::Function;
use crate::plan::{self, Plan, Reloads};
use crate::primal::Primal;
use crate::report::Report;
use crate::shadow::{self, Sweep};
use crate::synthesis::Synthesis;
use gradient::Gradient;

/// The two functions of a reverse-mode derivative.
pub struct Bodies {
    /// The forward sweep.
    pub augmented: Function,
    /// The reverse sweep.
    pub gradient: Function,
    /// The size of the frame that the two share.
    pub frame_bytes: u64,
    /// Whether the frame begins with the address of a list of [`delayed`] frees.
    pub delays: bool,
    /// The memory of the program that the reverse sweep reads.
    pub reloads: Reloads,
    /// What was decided, if they come from the function's body.
    pub report: Option<Report>,
}

/// What the reverse sweep of a function would need, and how it would get it.
pub fn planned(synthesis: &mut Synthesis, primal: &Primal) -> Result<(Augmented, Plan)> {
    let sig = primal.key.sweep_signature(&primal.function.sig);
    loop {
        let before = synthesis.made();
        let walk = shadow::walk(synthesis, primal, Sweep::Pointers, &sig.params)?;
        let augmented = Augmented::new(walk);
        let needs = Gradient::record(synthesis, primal, &augmented)?;
        let options = &synthesis.options;
        let plan = plan::choose(&synthesis.module, options, primal, &augmented, needs);
        let inconsistent = replay::inconsistent(synthesis, primal, &augmented, &plan);
        if inconsistent.is_empty() {
            return Ok((augmented, plan));
        }
        synthesis.go_back(before);
        let calls = inconsistent.into_iter();
        let them = calls.map(|call| (primal.key.clone(), call));
        synthesis.not_replayed.extend(them);
    }
}

/// Writes both sweeps of a function.
pub fn synthesize(synthesis: &mut Synthesis, primal: &Primal) -> Result<Bodies> {
    let (augmented, plan) = planned(synthesis, primal)?;
    let layout = Layout::new(synthesis, primal, &augmented, &plan);
    let report = Report::reverse(&synthesis.module, primal, &augmented, &plan, &layout);
    let Synthesis {
        warnings, module, ..
    } = synthesis;
    warnings.note_plan(module, primal, &augmented, &layout);
    let reloads = plan::reloads(&plan, primal, &augmented);
    let gradient = Gradient::emit(synthesis, primal, &augmented, &plan, &layout)?;
    let mut augmented = tape::fill(synthesis, primal, augmented, &plan, &layout);
    count::insert(synthesis, primal, &mut augmented, &report.written, &layout);
    Ok(Bodies {
        augmented,
        gradient,
        frame_bytes: layout.frame_bytes(),
        delays: synthesis.has_list(&primal.key),
        reloads,
        report: Some(report),
    })
}

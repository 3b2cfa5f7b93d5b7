//! Forward mode: tangents along with primal values.
//!
//! The walk of [`shadow`] does all the work; what is left is what the function
//! returns.

use crate::derivative::{batch_values, bundle_values};
use crate::diagnostic::Result;
use crate::ir::{Builder, Function, Op, ReturnActivity};
use crate::primal::Primal;
use crate::shadow::{self, Sweep};
use crate::synthesis::Synthesis;

/// Writes the forward derivative of a function.
pub fn synthesize(synthesis: &mut Synthesis, primal: &Primal, name: String) -> Result<Function> {
    let sig = primal.key.forward_signature(&primal.function.sig);
    let mut walk = shadow::walk(synthesis, primal, Sweep::Tangents, &sig.params)?;
    for &block in &primal.order {
        let Some(inst) = walk.func.terminator(block) else {
            continue;
        };
        if !matches!(walk.func.inst(inst).op, Op::Return) {
            continue;
        }
        let value = walk.func.inst(inst).args.first().copied();
        let mut insts = walk.func.block_insts(block).to_vec();
        insts.pop();
        walk.func.set_block_insts(block, insts);
        let mut parts = Vec::new();
        if let Some(value) = value {
            if primal.key.primal_needed {
                parts.push(value);
            }
            if primal.key.ret != ReturnActivity::Const {
                let tangents = walk.shadows_of(value);
                walk.check_returned(inst, &tangents);
                let mut builder = Builder::new(&mut walk.func, block);
                parts.push(batch_values(&mut builder, &tangents));
            }
        }
        let mut builder = Builder::new(&mut walk.func, block);
        let result = bundle_values(&mut builder, &parts);
        builder.ret(result);
    }
    let mut func = walk.func;
    func.become_derivative(sig);
    func.name = name;
    Ok(func)
}

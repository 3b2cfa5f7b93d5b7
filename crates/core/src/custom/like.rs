//! Functions that have the derivative of another one.
//!
//! The function itself is still what computes the result; the other one is differentiated in its
//! place, with the same arguments.

use super::lanes::Lanes;
use crate::derivative::{Key, bundle_values};
use crate::diagnostic::Result;
use crate::ir::{Builder, CustomRule, Function, ReturnActivity};
use crate::plan::Reloads;
use crate::reverse::Bodies;
use crate::synthesis::Synthesis;

/// The forward derivative: the function, then the tangent of the other.
pub(super) fn forward(synthesis: &mut Synthesis, key: &Key, rule: &CustomRule) -> Result<Function> {
    let other = other_key(key, rule);
    let tangent = synthesis.forward(&other)?;
    let sig = synthesis.module.funcs[key.func].sig.clone();
    let mut function = Function::with_entry("", key.forward_signature(&sig));
    function.local = true;
    let args = function.arguments().to_vec();
    let lanes = Lanes::new(key, &sig, &function);
    let entry = function.entry();
    let mut builder = Builder::new(&mut function, entry);
    let primals = lanes.primals(&mut builder);
    let mut parts = Vec::new();
    if key.primal_needed {
        parts.extend(builder.call(key.func, sig.clone(), primals));
    }
    if key.ret != ReturnActivity::Const {
        parts.extend(builder.call(tangent, other.forward_signature(&sig), args));
    }
    let returned = bundle_values(&mut builder, &parts);
    builder.ret(returned);
    Ok(function)
}

/// The two sweeps: those of the other, and in the first one the function.
pub(super) fn reverse(synthesis: &mut Synthesis, key: &Key, rule: &CustomRule) -> Result<Bodies> {
    let other = other_key(key, rule);
    let pair = synthesis.pair(&other)?;
    let sig = synthesis.module.funcs[key.func].sig.clone();
    let mut augmented = Function::with_entry("", key.augmented_signature(&sig));
    augmented.local = true;
    let args = augmented.arguments().to_vec();
    let lanes = Lanes::new(key, &sig, &augmented);
    let entry = augmented.entry();
    let mut builder = Builder::new(&mut augmented, entry);
    let primals = lanes.primals(&mut builder);
    builder.call(pair.augmented, other.augmented_signature(&sig), args);
    let mut parts = Vec::new();
    if key.primal_needed {
        parts.extend(builder.call(key.func, sig, primals));
    }
    let returned = bundle_values(&mut builder, &parts);
    builder.ret(returned);
    Ok(Bodies {
        augmented,
        gradient: synthesis.module.funcs[pair.gradient].clone(),
        frame_bytes: pair.frame_bytes.unwrap_or(0),
        delays: false,
        reloads: Reloads::All,
        report: None,
    })
}

/// The key of the other function. Its own result is not needed.
fn other_key(key: &Key, rule: &CustomRule) -> Key {
    Key {
        func: rule.parts[0],
        primal_needed: false,
        ..key.clone()
    }
}

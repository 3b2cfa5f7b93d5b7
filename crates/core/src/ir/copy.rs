//! Copies blocks of a function to another one.

use super::{Block, Function, Inst, Type, Value, ValueDef};
use std::collections::HashMap;

/// Blocks of a function in another one.
pub struct Copied<'a> {
    from: &'a Function,
    /// What stands for each value.
    pub values: HashMap<Value, Value>,
    /// What stands for each block: one without instructions, at the end of the function.
    pub blocks: HashMap<Block, Block>,
    /// The copies of instructions, with operands and edges of their own, each with the block that the
    /// instruction is in. They are in no block yet.
    pub insts: Vec<(Block, Inst)>,
}

impl<'a> Copied<'a> {
    /// Copies blocks, the first of which control enters them by: its copy has no parameters. `known`
    /// says what stands for these, as far as they are used, and for values of other blocks. Some
    /// instructions may be left out. Edges that leave the blocks lead where they led.
    pub fn new(
        to: &mut Function,
        from: &'a Function,
        region: &[Block],
        known: HashMap<Value, Value>,
        left_out: impl Fn(Block, Inst) -> bool,
    ) -> Copied<'a> {
        let mut copied = Copied {
            from,
            values: known,
            blocks: HashMap::new(),
            insts: Vec::new(),
        };
        for (i, &block) in region.iter().enumerate() {
            let copy = to.add_block();
            copied.blocks.insert(block, copy);
            let params = from.block_params(block).iter().filter(|_| i > 0);
            for &param in params {
                let copy = to.add_block_param(copy, from.ty(param));
                copied.values.insert(param, copy);
            }
        }
        // Results first, because a loop uses values before the layout defines them.
        for &block in region {
            for &inst in from.block_insts(block) {
                if left_out(block, inst) {
                    continue;
                }
                let result = from.result(inst);
                let ty = result.map_or(Type::void(), |v| from.ty(v));
                let copy = to.make_inst(from.inst(inst).clone(), ty);
                if let (Some(old), Some(new)) = (result, to.result(copy)) {
                    copied.values.insert(old, new);
                }
                copied.insts.push((block, copy));
            }
        }
        for &(_, copy) in &copied.insts {
            let mut data = to.inst(copy).clone();
            data.map_operands(|value| copied.value(to, value));
            for edge in data.op.edges_mut() {
                if let Some(&copy) = copied.blocks.get(&edge.block) {
                    edge.block = copy;
                }
            }
            *to.inst_mut(copy) = data;
        }
        for (value, declarations) in &from.declared {
            if let Some(&copy) = copied.values.get(value) {
                let known = to.declared.entry(copy).or_default();
                known.extend(declarations);
            }
        }
        copied
    }

    /// What stands for a value.
    pub fn value(&self, to: &mut Function, value: Value) -> Value {
        match (self.values.get(&value), self.from.def(value)) {
            (Some(&new), _) => new,
            (None, ValueDef::Const(constant)) => to.constant(self.from.ty(value), constant.clone()),
            (None, _) => panic!("a value of {} is used but not defined", self.from.name),
        }
    }
}

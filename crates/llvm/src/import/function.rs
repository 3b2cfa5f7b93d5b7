//! Bodies of functions: blocks, their parameters and the edges between them.

use super::Importer;
use crate::ll::{self, Bb, Opcode, Val};
use crate::module::instructions_of;
use std::collections::{HashMap, HashSet};
use zymase_core::ir::{
    Block, CastOp, Edge, Flags, Func, Function, Inst, InstData, MemoryEffects, Op, Opaque,
    Signature, Type, Value,
};

/// A body under construction.
pub(super) struct Body<'a> {
    pub(super) importer: &'a mut Importer,
    pub(super) function: Function,
    values: HashMap<Val, Value>,
    /// The parameters whose names are those of the source program.
    pub(super) named: HashSet<Value>,
    blocks: HashMap<Bb, Block>,
    /// For an edge, by its end and its start, what it passes to the phis at its end.
    incoming: HashMap<(Bb, Bb), Vec<Val>>,
    /// The block that instructions are appended to.
    pub(super) block: Block,
    start: Bb,
}

impl Importer {
    /// Reads the body of a function whose entry block exists.
    pub(super) fn read_body(&mut self, func: Func, value: Val) {
        let placeholder = Function::new("", Signature::new(Vec::new(), Type::void()));
        let function = std::mem::replace(&mut self.module.funcs[func], placeholder);
        let order = reverse_postorder(value);
        let mut body = Body {
            block: function.entry(),
            start: ll::first_block(value),
            importer: self,
            function,
            values: HashMap::new(),
            named: HashSet::new(),
            blocks: HashMap::new(),
            incoming: HashMap::new(),
        };
        body.declare_arguments(value);
        body.declare_blocks(&order);
        for &block in &order {
            body.read_block(block);
        }
        let function = body.function;
        self.module.funcs[func] = function;
    }
}

impl Body<'_> {
    fn declare_arguments(&mut self, function: Val) {
        let arguments = self.function.arguments().to_vec();
        for (i, argument) in arguments.into_iter().enumerate() {
            self.define(ll::param(function, i as u32), argument);
        }
    }

    fn declare_blocks(&mut self, order: &[Bb]) {
        for (i, &start) in order.iter().enumerate() {
            let block = match i {
                0 => self.function.entry(),
                _ => self.function.add_block(),
            };
            self.blocks.insert(start, block);
            // SAFETY: the block is of the function being read, which does not change.
            let phis = unsafe { instructions_of(start) }.take_while(|&inst| ll::is_phi(inst));
            for (position, phi) in phis.enumerate() {
                let ty = self.importer.ty(ll::type_of(phi));
                let param = self.function.add_block_param(block, ty);
                self.define(phi, param);
                for i in 0..ll::incoming_count(phi) {
                    let edge = (start, ll::incoming_block(phi, i));
                    let passed = self.incoming.entry(edge).or_default();
                    // Several edges between the same blocks pass the same values.
                    if passed.len() == position {
                        passed.push(ll::incoming_value(phi, i));
                    }
                }
            }
        }
    }

    fn read_block(&mut self, start: Bb) {
        self.block = self.blocks[&start];
        self.start = start;
        // SAFETY: the block is of the function being read, which does not change.
        for inst in unsafe { instructions_of(start) } {
            if !ll::is_phi(inst) {
                self.read_records(inst);
                self.read_instruction(inst);
            }
        }
    }

    /// The value of core that a value of LLVM is, if it has been read.
    pub(super) fn known(&self, foreign: Val) -> Option<Value> {
        self.values.get(&foreign).copied()
    }

    /// Says which value of core a value of LLVM is.
    pub(super) fn define(&mut self, foreign: Val, value: Value) {
        let name = ll::name(foreign);
        if !name.is_empty() {
            self.function.set_value_name(value, name);
        }
        self.values.insert(foreign, value);
    }

    /// The edge to a successor of the block being read. Constant expressions that it passes are
    /// computed at the end of the block.
    pub(super) fn edge(&mut self, to: Bb) -> Edge {
        let passed = self.incoming.get(&(to, self.start)).cloned();
        let args = passed.unwrap_or_default();
        Edge {
            block: self.blocks[&to],
            args: args.into_iter().map(|v| self.operand(v)).collect(),
        }
    }

    /// Appends an instruction read from a foreign one, with its flags, location and origin.
    pub(super) fn append(&mut self, inst: Val, op: Op, args: Vec<Value>, flags: Flags) -> Inst {
        let ty = self.importer.ty(ll::type_of(inst));
        let mut data = InstData::new(op, args);
        data.flags = flags;
        data.loc = self.importer.location(inst);
        data.origin = Some(self.importer.origins.add_value(inst));
        let made = self.function.append_inst(self.block, data, ty);
        if let Some(result) = self.function.result(made) {
            self.define(inst, result);
        }
        made
    }

    /// Appends an instruction that core does not model.
    pub(super) fn append_opaque(&mut self, inst: Val, name: &str, memory: MemoryEffects) {
        let args = self.foreign_operands(inst);
        let opaque = Box::new(Opaque {
            name: name.to_string(),
            memory,
        });
        if !ll::is_terminator(inst) {
            self.append(inst, Op::Opaque(opaque), args, Flags::empty());
            return;
        }
        let op = Op::OpaqueTerminator {
            opaque,
            edges: Vec::new(),
        };
        let made = self.append(inst, op, args, Flags::empty());
        let successors: Vec<Bb> = (0..ll::successor_count(inst))
            .map(|i| ll::successor(inst, i))
            .collect();
        self.fill_edges(made, &successors);
    }

    /// Gives a terminator the edges to its successors. It comes second because the terminator's
    /// own result may be passed along them.
    pub(super) fn fill_edges(&mut self, terminator: Inst, successors: &[Bb]) {
        // Constant expressions on the edges must stand before the terminator.
        let mut insts = self.function.block_insts(self.block).to_vec();
        insts.pop();
        self.function.set_block_insts(self.block, insts);
        let edges: Vec<Edge> = successors.iter().map(|&to| self.edge(to)).collect();
        let mut insts = self.function.block_insts(self.block).to_vec();
        insts.push(terminator);
        self.function.set_block_insts(self.block, insts);
        match &mut self.function.inst_mut(terminator).op {
            Op::OpaqueTerminator { edges: slot, .. } => *slot = edges,
            op => {
                for (slot, edge) in op.edges_mut().into_iter().zip(edges) {
                    *slot = edge;
                }
            }
        }
    }

    /// The operands of a foreign instruction that are values, in order.
    fn foreign_operands(&mut self, inst: Val) -> Vec<Value> {
        (0..ll::operand_count(inst))
            .map(|i| ll::operand(inst, i))
            .filter(|&v| crate::import::is_plain_operand(v))
            .map(|v| self.plain_operand(v))
            .collect()
    }

    /// An operand of an opaque instruction: constants stay what they are there.
    fn plain_operand(&mut self, foreign: Val) -> Value {
        if let Some(&known) = self.values.get(&foreign) {
            return known;
        }
        let ty = self.importer.ty(ll::type_of(foreign));
        let constant = self.importer.constant(foreign);
        self.function.constant(ty, constant)
    }

    /// An operand of a modeled instruction. Constant expressions other than addresses of symbols
    /// are computed by instructions at this place.
    pub(super) fn operand(&mut self, foreign: Val) -> Value {
        if !self.values.contains_key(&foreign)
            && ll::is_constant_expression(foreign)
            && self.importer.address_of(foreign).is_none()
            && let Some(value) = self.compute(foreign)
        {
            return value;
        }
        self.plain_operand(foreign)
    }

    /// Computes a constant expression by instructions.
    fn compute(&mut self, expression: Val) -> Option<Value> {
        let ty = self.importer.ty(ll::type_of(expression));
        let (op, args, flags) = match ll::constant_opcode(expression) {
            Opcode::LLVMGetElementPtr => self.address(expression)?,
            opcode => {
                let op = match opcode {
                    Opcode::LLVMPtrToInt => Op::Cast(CastOp::PtrToInt),
                    Opcode::LLVMIntToPtr => Op::Cast(CastOp::IntToPtr),
                    Opcode::LLVMTrunc => Op::Cast(CastOp::Trunc),
                    Opcode::LLVMBitCast => Op::Cast(CastOp::Bitcast),
                    Opcode::LLVMAddrSpaceCast => Op::Cast(CastOp::AddrSpaceCast),
                    Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMXor => {
                        Op::Binary(crate::opcodes::binary_op(opcode)?)
                    }
                    _ => return None,
                };
                let args = (0..ll::operand_count(expression))
                    .map(|i| self.operand(ll::operand(expression, i)))
                    .collect();
                (op, args, Flags::empty())
            }
        };
        let mut data = InstData::new(op, args);
        data.flags = flags;
        let made = self.function.append_inst(self.block, data, ty);
        self.function.result(made)
    }
}

/// The blocks that control can reach, each after at least one block that leads to it.
fn reverse_postorder(function: Val) -> Vec<Bb> {
    let entry = ll::first_block(function);
    let mut seen = HashSet::from([entry]);
    let mut stack = vec![(entry, 0)];
    let mut order = Vec::new();
    while let Some((block, next)) = stack.last_mut() {
        let terminator = ll::terminator(*block);
        if *next < ll::successor_count(terminator) {
            let successor = ll::successor(terminator, *next);
            *next += 1;
            if seen.insert(successor) {
                stack.push((successor, 0));
            }
        } else {
            order.push(*block);
            stack.pop();
        }
    }
    order.reverse();
    order
}

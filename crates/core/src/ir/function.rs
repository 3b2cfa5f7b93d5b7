//! A function: arenas of values, instructions and blocks, and the order they stand in.

use super::{
    Block, Constant, Declared, Edge, Flags, FloatKind, FnAttrs, Inst, InstData, Loc, Op, Origin,
    ParamAttrs, Signature, Type, TypeKind, Value,
};
use cranelift_entity::{PrimaryMap, SecondaryMap};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A function, with a body or only declared.
///
/// The parameters of the first block are the parameters of the function; no edge leads to that
/// block.
#[derive(Clone, Debug)]
pub struct Function {
    /// The symbol name.
    pub name: String,
    /// The types of parameters and result.
    pub sig: Signature,
    /// What is known of the parameters, one for each.
    pub params: Vec<ParamAttrs>,
    /// What is known of the result.
    pub ret: ParamAttrs,
    /// What is known of the function.
    pub attrs: FnAttrs,
    /// Whether the symbol is local to the module, so that all its uses are seen.
    pub local: bool,
    /// Whether the address of the function is used other than to call it.
    pub address_taken: bool,
    /// Whether the compiler may have split or added parameters, so that the function has others in
    /// the source program.
    pub params_rewritten: bool,
    /// The foreign function this one was read from.
    pub origin: Option<Origin>,
    /// What the program says of the memory behind pointers.
    pub declared: BTreeMap<Value, Vec<Declared>>,
    values: PrimaryMap<Value, ValueData>,
    insts: PrimaryMap<Inst, InstData>,
    results: SecondaryMap<Inst, Option<Value>>,
    blocks: PrimaryMap<Block, BlockData>,
    layout: Vec<Block>,
    constants: HashMap<(Type, Constant), Value>,
}

/// What a value is.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Where it comes from.
    pub def: ValueDef,
    /// Its name in the source program, for messages.
    pub name: Option<String>,
}

/// Where a value comes from.
#[derive(Clone, PartialEq, Debug)]
pub enum ValueDef {
    /// The result of an instruction.
    Result(Inst),
    /// A parameter of a block, by position.
    Param(Block, usize),
    /// A constant.
    Const(Constant),
}

#[derive(Clone, Debug, Default)]
struct BlockData {
    params: Vec<Value>,
    insts: Vec<Inst>,
}

impl Function {
    /// A declaration without a body.
    pub fn new(name: impl Into<String>, sig: Signature) -> Function {
        let params = vec![ParamAttrs::default(); sig.params.len()];
        Function {
            name: name.into(),
            sig,
            params,
            ret: ParamAttrs::default(),
            attrs: FnAttrs::default(),
            local: false,
            address_taken: false,
            params_rewritten: false,
            origin: None,
            declared: BTreeMap::new(),
            values: PrimaryMap::new(),
            insts: PrimaryMap::new(),
            results: SecondaryMap::new(),
            blocks: PrimaryMap::new(),
            layout: Vec::new(),
            constants: HashMap::new(),
        }
    }

    /// A function whose entry block exists, with one parameter for each of the signature.
    pub fn with_entry(name: impl Into<String>, sig: Signature) -> Function {
        let types = sig.params.clone();
        let mut function = Function::new(name, sig);
        let entry = function.add_block();
        for ty in types {
            function.add_block_param(entry, ty);
        }
        function
    }

    /// Makes a copy of another function a new one with this signature: nothing that is known of the
    /// original need hold for it.
    pub fn become_derivative(&mut self, sig: Signature) {
        self.params = vec![ParamAttrs::default(); sig.params.len()];
        self.ret = ParamAttrs::default();
        self.attrs = FnAttrs::default();
        self.local = true;
        self.address_taken = false;
        self.origin = None;
        self.sig = sig;
    }

    /// Whether the function has no body.
    pub fn is_declaration(&self) -> bool {
        self.layout.is_empty()
    }

    /// The first block of a function with a body.
    pub fn entry(&self) -> Block {
        self.layout[0]
    }

    /// The values of the function's parameters; empty for a declaration.
    pub fn arguments(&self) -> &[Value] {
        match self.layout.first() {
            Some(&entry) => self.block_params(entry),
            None => &[],
        }
    }

    /// The blocks in layout order.
    pub fn blocks(&self) -> &[Block] {
        &self.layout
    }

    /// The number of blocks ever made: an upper bound of their indices.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The number of values ever made.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// The number of instructions ever made.
    pub fn inst_count(&self) -> usize {
        self.insts.len()
    }

    /// Every value ever made, those of removed instructions included.
    pub fn values(&self) -> impl Iterator<Item = Value> + use<> {
        self.values.keys()
    }

    /// Appends an empty block.
    pub fn add_block(&mut self) -> Block {
        let block = self.blocks.push(BlockData::default());
        self.layout.push(block);
        block
    }

    /// Replaces the layout. Blocks left out are no longer part of the function.
    pub fn set_layout(&mut self, layout: Vec<Block>) {
        self.layout = layout;
    }

    /// Appends a parameter to a block. Edges to the block must get an argument for it.
    pub fn add_block_param(&mut self, block: Block, ty: Type) -> Value {
        let position = self.blocks[block].params.len();
        let value = self.values.push(ValueData {
            ty,
            def: ValueDef::Param(block, position),
            name: None,
        });
        self.blocks[block].params.push(value);
        value
    }

    /// Removes the parameter at a position. Edges to the block must lose their argument for it.
    pub fn remove_block_param(&mut self, block: Block, position: usize) {
        self.blocks[block].params.remove(position);
        for later in position..self.blocks[block].params.len() {
            let value = self.blocks[block].params[later];
            self.values[value].def = ValueDef::Param(block, later);
        }
    }

    /// Replaces the parameters of a block by others that were made for it.
    pub fn set_block_params(&mut self, block: Block, params: Vec<Value>) {
        for (position, &param) in params.iter().enumerate() {
            self.values[param].def = ValueDef::Param(block, position);
        }
        self.blocks[block].params = params;
    }

    /// The parameters of a block.
    pub fn block_params(&self, block: Block) -> &[Value] {
        &self.blocks[block].params
    }

    /// The instructions of a block, the terminator last.
    pub fn block_insts(&self, block: Block) -> &[Inst] {
        &self.blocks[block].insts
    }

    /// The places in the source program that some blocks come from.
    pub fn locs(&self, blocks: &[Block]) -> BTreeSet<Loc> {
        let insts = blocks.iter().flat_map(|&block| self.block_insts(block));
        insts.filter_map(|&inst| self.inst(inst).loc).collect()
    }

    /// Replaces the instructions of a block.
    pub fn set_block_insts(&mut self, block: Block, insts: Vec<Inst>) {
        self.blocks[block].insts = insts;
    }

    /// Takes the instructions of a block out of it.
    pub fn take_block_insts(&mut self, block: Block) -> Vec<Inst> {
        std::mem::take(&mut self.blocks[block].insts)
    }

    /// The terminator of a block. A block under construction may have none.
    pub fn terminator(&self, block: Block) -> Option<Inst> {
        let last = *self.blocks[block].insts.last()?;
        self.insts[last].op.is_terminator().then_some(last)
    }

    /// The edges that leave a block.
    pub fn edges(&self, block: Block) -> Vec<&Edge> {
        match self.terminator(block) {
            Some(inst) => self.insts[inst].op.edges(),
            None => Vec::new(),
        }
    }

    /// The blocks that edges of a block lead to, one for each edge.
    pub fn successors(&self, block: Block) -> Vec<Block> {
        self.edges(block).iter().map(|edge| edge.block).collect()
    }

    /// Makes an instruction that stands in no block yet; `ty` is the type of its result, or void.
    pub fn make_inst(&mut self, data: InstData, ty: Type) -> Inst {
        let inst = self.insts.push(data);
        if !ty.is_void() {
            let value = self.values.push(ValueData {
                ty,
                def: ValueDef::Result(inst),
                name: None,
            });
            self.results[inst] = Some(value);
        }
        inst
    }

    /// Makes an instruction at the end of a block.
    pub fn append_inst(&mut self, block: Block, data: InstData, ty: Type) -> Inst {
        let inst = self.make_inst(data, ty);
        self.blocks[block].insts.push(inst);
        inst
    }

    /// Makes an instruction at a position in a block.
    pub fn insert_inst(&mut self, block: Block, at: usize, data: InstData, ty: Type) -> Inst {
        let inst = self.make_inst(data, ty);
        self.blocks[block].insts.insert(at, inst);
        inst
    }

    /// Puts an instruction that stands in no block at the end of one.
    pub fn attach_inst(&mut self, block: Block, inst: Inst) {
        self.blocks[block].insts.push(inst);
    }

    /// What an instruction is.
    pub fn inst(&self, inst: Inst) -> &InstData {
        &self.insts[inst]
    }

    /// What an instruction is, to be changed.
    pub fn inst_mut(&mut self, inst: Inst) -> &mut InstData {
        &mut self.insts[inst]
    }

    /// The result of an instruction, if it has one.
    pub fn result(&self, inst: Inst) -> Option<Value> {
        self.results[inst]
    }

    /// What a value is.
    pub fn value(&self, value: Value) -> &ValueData {
        &self.values[value]
    }

    /// Where a value comes from.
    pub fn def(&self, value: Value) -> &ValueDef {
        &self.values[value].def
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// Gives a value a name for messages.
    pub fn set_value_name(&mut self, value: Value, name: impl Into<String>) {
        self.values[value].name = Some(name.into());
    }

    /// The instruction whose result a value is, if it is one.
    pub fn def_inst(&self, value: Value) -> Option<Inst> {
        match self.values[value].def {
            ValueDef::Result(inst) => Some(inst),
            _ => None,
        }
    }

    /// The constant that a value is, if it is one.
    pub fn as_const(&self, value: Value) -> Option<&Constant> {
        match &self.values[value].def {
            ValueDef::Const(constant) => Some(constant),
            _ => None,
        }
    }

    /// The integer that a value is, if it is a constant integer that fits 128 bits, sign-extended.
    pub fn as_int(&self, value: Value) -> Option<i128> {
        let bits = self.ty(value).int_bits()?;
        match self.as_const(value)? {
            Constant::Int(n) if bits < 128 => {
                let shift = 128 - bits;
                Some(((*n << shift) as i128) >> shift)
            }
            Constant::Int(n) if bits == 128 => Some(*n as i128),
            Constant::Int(n) => i128::try_from(*n).ok(),
            Constant::Zero => Some(0),
            _ => None,
        }
    }

    /// The constant of this type as a value. Equal constants are the same value.
    pub fn constant(&mut self, ty: Type, constant: Constant) -> Value {
        let constant = canonical(ty, constant);
        if let Some(&value) = self.constants.get(&(ty, constant.clone())) {
            return value;
        }
        let value = self.values.push(ValueData {
            ty,
            def: ValueDef::Const(constant.clone()),
            name: None,
        });
        self.constants.insert((ty, constant), value);
        value
    }

    /// An integer constant; `n` is cut to the width of the type.
    pub fn iconst(&mut self, ty: Type, n: i128) -> Value {
        self.constant(ty, Constant::Int(n as u128))
    }

    /// Zero of any type.
    pub fn zero(&mut self, ty: Type) -> Value {
        self.constant(ty, Constant::Zero)
    }

    /// A float or a vector of equal floats, as the nearest to a number.
    pub fn fconst(&mut self, ty: Type, x: f64) -> Value {
        let Some(kind) = ty.scalar().float_kind() else {
            panic!("fconst of the type {ty}, which is no float");
        };
        let scalar = Constant::Float(super::soft::from_f64(kind, x));
        match ty.lanes() {
            Some(lanes) => self.constant(ty, Constant::Aggregate(vec![scalar; lanes as usize])),
            None => self.constant(ty, scalar),
        }
    }

    /// Adds permissions and promises to an instruction.
    pub fn add_flags(&mut self, inst: Inst, flags: Flags) {
        self.insts[inst].flags |= flags;
    }

    /// Replaces every use of values that `map` has an answer for.
    pub fn replace_uses(&mut self, map: &HashMap<Value, Value>) {
        if map.is_empty() {
            return;
        }
        for data in self.insts.values_mut() {
            data.map_operands(|v| map.get(&v).copied().unwrap_or(v));
        }
    }

    /// How many times each value is used by the instructions of the function.
    pub fn use_counts(&self) -> SecondaryMap<Value, u32> {
        let mut counts = SecondaryMap::new();
        for &block in &self.layout {
            for &inst in &self.blocks[block].insts {
                self.insts[inst].for_each_operand(|v| counts[v] += 1);
            }
        }
        counts
    }

    /// The block that each instruction stands in.
    pub fn inst_blocks(&self) -> SecondaryMap<Inst, Option<Block>> {
        let mut blocks = SecondaryMap::new();
        for &block in &self.layout {
            for &inst in &self.blocks[block].insts {
                blocks[inst] = Some(block);
            }
        }
        blocks
    }

    /// Ends a block, which must not be ended yet.
    pub fn terminate(&mut self, block: Block, op: Op, args: Vec<Value>) -> Inst {
        debug_assert!(op.is_terminator() && self.terminator(block).is_none());
        self.append_inst(block, InstData::new(op, args), Type::void())
    }
}

/// One form for each constant: integers cut to their width, everything zero as `Zero` except
/// scalar integers and floats, aggregates of zeros as `Zero`.
fn canonical(ty: Type, constant: Constant) -> Constant {
    match (ty.kind(), constant) {
        (TypeKind::Int(bits), Constant::Int(n)) if *bits < 128 => {
            Constant::Int(n & ((1u128 << bits) - 1))
        }
        (TypeKind::Int(_), Constant::Zero) => Constant::Int(0),
        (TypeKind::Float(_), Constant::Zero) => Constant::Float(0),
        (TypeKind::Float(kind), Constant::Float(bits)) => Constant::Float(mask_float(*kind, bits)),
        (_, Constant::Aggregate(parts)) => {
            let parts: Vec<Constant> = parts
                .into_iter()
                .enumerate()
                .map(|(i, part)| match ty.part(i as u64) {
                    Some(part_ty) => canonical(part_ty, part),
                    None => part,
                })
                .collect();
            let zero = parts
                .iter()
                .all(|p| matches!(p, Constant::Zero | Constant::Int(0) | Constant::Float(0)));
            if zero {
                Constant::Zero
            } else {
                Constant::Aggregate(parts)
            }
        }
        (_, constant) => constant,
    }
}

fn mask_float(kind: FloatKind, bits: u128) -> u128 {
    match kind.bits() {
        128 => bits,
        n => bits & ((1 << n) - 1),
    }
}

//! Prints instructions: mnemonic, flags, operands, type of the result, then clauses after commas.

use super::constants::constant_text;
use super::context::Place;
use super::names::Names;
use super::print_clauses::{
    access_clauses, call_clauses, case_text, flags_text, function_name, joined, ordering_text,
    origin_clause, request_clauses, signed_text, spaced,
};
use super::printer::{memory_text, param_attrs_text, signature_text};
use crate::ir::{
    Call, Callee, Constant, Edge, Function, Inst, InstData, Module, Op, ParamAttrs, Request, Type,
    Value, ValueDef,
};
use cranelift_entity::EntityRef;

/// Prints instructions of one function.
pub(crate) struct InstPrinter<'a> {
    pub(crate) module: &'a Module,
    pub(crate) func: &'a Function,
    pub(crate) names: &'a Names<'a>,
}

impl InstPrinter<'_> {
    /// One instruction, on one line unless it is a nest.
    pub(crate) fn text(&self, inst: Inst) -> String {
        let data = self.func.inst(inst);
        let result = self.func.result(inst);
        let ty = result.map_or(Type::void(), |v| self.func.ty(v));
        let (head, clauses) = self.body(data, ty);
        let mut out = match result {
            Some(value) => format!("{} = {head}", self.names.definition(value)),
            None => head,
        };
        for clause in clauses {
            out.push_str(", ");
            out.push_str(&clause);
        }
        if let Some(loc) = data.loc {
            out.push_str(&format!(", loc {}", loc.as_u32()));
        }
        out
    }

    /// The instruction up to the type of its result, and the clauses that follow.
    fn body(&self, data: &InstData, ty: Type) -> (String, Vec<String>) {
        let flags = flags_text(data.flags);
        let operands = |from: usize| -> String {
            let all = (from..data.args.len()).map(|i| self.operand(data, ty, i));
            all.collect::<Vec<_>>().join(", ")
        };
        let typed = match self.result_type(data, ty) {
            Some(ty) => format!(" : {ty}"),
            None => String::new(),
        };
        // Most operations are a word, operands and a type.
        let plain = |word: &str| spaced(&[word, &flags, &operands(0)]) + &typed;
        let indices = |word: &str, list: String| {
            format!("{}, [{list}]{typed}", spaced(&[word, &flags, &operands(0)]))
        };
        let none = Vec::new();
        match &data.op {
            Op::Unary(op) => (plain(op.name()), none),
            Op::Binary(op) => (plain(op.name()), none),
            Op::Cast(op) => (plain(op.name()), none),
            Op::Select => (plain("select"), none),
            Op::ExtractElement => (plain("extractelement"), none),
            Op::InsertElement => (plain("insertelement"), none),
            Op::ICmp(pred) => {
                let head = spaced(&["icmp", &flags, pred.name(), &operands(0)]);
                (head + &typed, none)
            }
            Op::FCmp(pred) => {
                let head = spaced(&["fcmp", &flags, pred.name(), &operands(0)]);
                (head + &typed, none)
            }
            Op::Math(function) => {
                let head = spaced(&["math", &flags, function.name(), &operands(0)]);
                (head + &typed, none)
            }
            Op::Shuffle(mask) => (indices("shuffle", joined(mask)), none),
            Op::Extract(path) => (indices("extract", joined(path)), none),
            Op::Insert(path) => (indices("insert", joined(path)), none),
            Op::Alloca { ty, align } => {
                let mut head = spaced(&["alloca", &flags, &ty.to_string()]);
                if !self.is_one(&data.args) {
                    head = format!("{head}, {}", operands(0));
                }
                let align = (*align != 0).then(|| format!("align {align}"));
                (head + &typed, align.into_iter().collect())
            }
            Op::Address { offset, scales } => {
                let sum = self.address(data, ty, *offset, scales);
                (spaced(&["address", &flags, &sum]) + &typed, none)
            }
            Op::Load(access) => {
                let ty = ty.to_string();
                let head = spaced(&["load", &flags, &ty, &operands(0)]);
                (head, access_clauses(access))
            }
            Op::Store(access) => (plain("store"), access_clauses(access)),
            Op::Accumulate(access) => (plain("accumulate"), access_clauses(access)),
            Op::MemSet(access) => (plain("memset"), access_clauses(access)),
            Op::AtomicRmw(op, access) => {
                let head = spaced(&["atomicrmw", &flags, op.name(), &operands(0)]);
                (head + &typed, access_clauses(access))
            }
            Op::CmpXchg {
                access,
                failure,
                weak,
            } => {
                let weak = if *weak { "weak" } else { "" };
                let head = spaced(&["cmpxchg", &flags, weak, &operands(0)]);
                let mut clauses = access_clauses(access);
                clauses.push(format!("failure {}", failure.name()));
                (head + &typed, clauses)
            }
            Op::Fence(ordering, scope) => {
                let order = ordering_text(*ordering, *scope);
                (
                    spaced(&["fence", &flags, &order, &operands(0)]) + &typed,
                    none,
                )
            }
            Op::MemCopy {
                overlapping,
                dst,
                src,
            } => {
                let word = if *overlapping { "memmove" } else { "memcopy" };
                let sides = [("dst", dst), ("src", src)].into_iter();
                let sides = sides.map(|(side, access)| (side, access_clauses(access)));
                let clauses = sides
                    .filter(|(_, access)| !access.is_empty())
                    .map(|(side, access)| format!("{side}({})", access.join(", ")));
                (plain(word), clauses.collect())
            }
            Op::Nest(nest) => (self.nest(data, nest) + &typed, none),
            Op::Call(call) => (self.call("call", data, call, ty), call_clauses(call)),
            Op::Invoke {
                call,
                normal,
                unwind,
            } => {
                let mut clauses = vec![
                    format!("to {}", self.edge(normal)),
                    format!("unwind {}", self.edge(unwind)),
                ];
                clauses.extend(call_clauses(call));
                (self.call("invoke", data, call, ty), clauses)
            }
            Op::Request(request) => (
                self.request(data, request, ty) + &typed,
                request_clauses(request),
            ),
            Op::Opaque(opaque) => {
                let name = format!("{:?}", opaque.name);
                let head = spaced(&["opaque", &flags, &name, &operands(0)]);
                let mut clauses: Vec<String> = memory_text(opaque.memory).into_iter().collect();
                clauses.extend(origin_clause(data));
                (head + &typed, clauses)
            }
            Op::OpaqueTerminator { opaque, edges } => {
                let name = format!("{:?}", opaque.name);
                let head = spaced(&["opaque_terminator", &flags, &name, &operands(0)]);
                let edges = edges.iter().map(|edge| format!("to {}", self.edge(edge)));
                let mut clauses: Vec<String> = edges.collect();
                clauses.extend(memory_text(opaque.memory));
                clauses.extend(origin_clause(data));
                (head + &typed, clauses)
            }
            Op::Jump(edge) => (
                spaced(&["jump", &flags, &operands(0), &self.edge(edge)]),
                none,
            ),
            Op::Branch { then, other } => {
                let edges = vec![self.edge(then), self.edge(other)];
                (plain("branch"), edges)
            }
            Op::Switch { cases, default } => {
                let operand = data.args.first().filter(|&&v| self.exists(v));
                let ty = operand.map(|&v| self.func.ty(v));
                let cases = cases
                    .iter()
                    .map(|(case, edge)| format!("{}: {}", case_text(*case, ty), self.edge(edge)));
                let default = format!("default: {}", self.edge(default));
                (plain("switch"), cases.chain([default]).collect())
            }
            Op::Return => (plain("return"), none),
            Op::Unreachable => (plain("unreachable"), none),
        }
    }

    /// The type to print after the operands; none where the parser finds it by itself. It may not
    /// have seen the definitions of the operands by then, so only plain scalars are left out.
    fn result_type(&self, data: &InstData, ty: Type) -> Option<Type> {
        let existing = || data.args.iter().filter(|&&v| self.exists(v));
        let types = || existing().map(|&v| self.func.ty(v));
        let scalars = || types().all(|ty| ty.lanes().is_none());
        let implied = match &data.op {
            Op::ICmp(_) | Op::FCmp(_) => ty == Type::i1() && scalars(),
            Op::Address { .. } => {
                ty == Type::ptr() && types().next() == Some(Type::ptr()) && scalars()
            }
            Op::Alloca { .. } => ty == Type::ptr(),
            _ => false,
        };
        (!ty.is_void() && !implied).then_some(ty)
    }

    fn value_type(&self, data: &InstData, index: usize) -> Option<Type> {
        let value = *data.args.get(index)?;
        if !self.exists(value) {
            return None;
        }
        match self.func.def(value) {
            ValueDef::Const(_) => None,
            _ => Some(self.func.ty(value)),
        }
    }

    fn operand(&self, data: &InstData, result: Type, index: usize) -> String {
        let place = Place {
            module: self.module,
            ret: self.func.sig.ret,
            op: &data.op,
            result,
        };
        let implied = place.implied(index, |i| self.value_type(data, i));
        self.value(data.args[index], implied)
    }

    /// Whether a value is one of the function; in a broken one it may not be.
    pub(super) fn exists(&self, value: Value) -> bool {
        value.index() < self.func.value_count()
    }

    pub(super) fn value(&self, value: Value, implied: Option<Type>) -> String {
        if !self.exists(value) {
            return self.names.value(value);
        }
        let data = self.func.value(value);
        let ValueDef::Const(constant) = &data.def else {
            return self.names.value(value);
        };
        let text = constant_text(self.module, data.ty, constant);
        if implied == Some(data.ty) {
            text
        } else {
            format!("{text}:{}", data.ty)
        }
    }

    fn edge(&self, edge: &Edge) -> String {
        let block = self.names.block(edge.block);
        if edge.args.is_empty() {
            return block;
        }
        let params = match edge.block.index() < self.func.block_count() {
            true => self.func.block_params(edge.block),
            false => &[],
        };
        let args = edge.args.iter().enumerate().map(|(i, &value)| {
            let implied = params.get(i).map(|&param| self.func.ty(param));
            self.value(value, implied)
        });
        format!("{block}({})", args.collect::<Vec<_>>().join(", "))
    }

    fn address(&self, data: &InstData, ty: Type, offset: i64, scales: &[i64]) -> String {
        let Some(_) = data.args.first() else {
            return "nothing".to_string();
        };
        let mut out = self.operand(data, ty, 0);
        for index in 1..data.args.len() {
            let text = self.operand(data, ty, index);
            // A bare number would read as an offset.
            let bare = self.value_type(data, index).is_some();
            match scales.get(index - 1) {
                Some(1) if bare => out.push_str(&format!(" + {text}")),
                Some(scale) => out.push_str(&format!(" {}*{text}", signed_text(*scale))),
                None => out.push_str(&format!(" + unscaled*{text}")),
            }
        }
        if scales.len() + 1 > data.args.len() {
            out.push_str(" + scales without operands");
        }
        if offset != 0 {
            out.push_str(&format!(" {}", signed_text(offset)));
        }
        out
    }

    fn call(&self, word: &str, data: &InstData, call: &Call, ty: Type) -> String {
        let none = ParamAttrs::default();
        let (callee, first) = match call.callee {
            Callee::Direct(func) => (function_name(self.module, func), 0),
            Callee::Indirect if data.args.is_empty() => ("*nothing".to_string(), 0),
            Callee::Indirect => (format!("*{}", self.operand(data, ty, 0)), 1),
        };
        let args = (first..data.args.len()).map(|i| {
            let attrs = call.args.get(i - first).unwrap_or(&none);
            self.operand(data, ty, i) + &param_attrs_text(attrs)
        });
        let args = args.collect::<Vec<_>>().join(", ");
        let mut out = spaced(&[word, &flags_text(data.flags), &format!("{callee}({args})")]);
        let declared = match call.callee {
            Callee::Direct(func) => self.module.funcs.get(func).map(|f| &f.sig),
            Callee::Indirect => None,
        };
        if declared != Some(&call.sig) {
            out.push_str(&format!(" : {}", signature_text(&call.sig)));
        }
        if !ty.is_void() && ty != call.sig.ret {
            out.push_str(&format!(" result {ty}"));
        }
        out
    }

    fn request(&self, data: &InstData, request: &Request, ty: Type) -> String {
        let count = data.args.len();
        let mut next = 0;
        let mut group = |word: &str, end: usize| {
            let operands = (next..end).map(|i| format!(" {}", self.operand(data, ty, i)));
            let text = operands.fold(word.to_string(), |text, operand| text + &operand);
            next = end;
            text
        };
        let mut end = 0;
        let mut groups = Vec::new();
        for activity in &request.args {
            end = count.min(end + 1 + activity.shadow_count(request.width));
            groups.push(group(activity.name(), end));
        }
        if end < count {
            groups.push(group("with", count));
        }
        let callee = function_name(self.module, request.func);
        let call = format!("{callee}({})", groups.join(", "));
        let flags = flags_text(data.flags);
        let head = spaced(&["request", &flags, request.mode.name(), &call]);
        format!("{head} -> {}", request.ret.name())
    }

    fn is_one(&self, args: &[Value]) -> bool {
        let [count] = args else {
            return args.is_empty();
        };
        self.exists(*count)
            && self.func.ty(*count) == Type::i64()
            && self.func.as_const(*count) == Some(&Constant::Int(1))
    }
}

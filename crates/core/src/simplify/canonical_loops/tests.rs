//! Tests of the pass: its promises on random graphs, and that nothing else changes.

use super::*;
use crate::analysis::test_graphs::{Random, graph, random_graph, random_structured_graph};
use crate::interp::{Machine, Trap, Val};
use crate::ir::{Builder, Call, Callee, MemoryEffects, Module, Opaque, Signature};

/// Checks every promise of the pass, independently of how it keeps them.
fn check(func: &Function, canonical: &Canonical) {
    let (cfg, loops) = loops_of(func).unwrap();
    let returns = |block: &&Block| {
        let last = func.terminator(**block).unwrap();
        func.inst(last).op == Op::Return
    };
    assert!(func.blocks().iter().filter(returns).count() <= 1);
    for &block in func.blocks() {
        assert!(cfg.is_reachable(block));
        for edge in func.edges(block) {
            let expected = types_of(func, func.block_params(edge.block));
            assert_eq!(types_of(func, &edge.args), expected);
        }
        for &successor in cfg.successors(block) {
            let several = cfg.successors(block).len() > 1;
            assert!(!several || cfg.predecessors(successor).len() == 1);
            let mut at = successor;
            for (i, l) in loops.left(block, successor).into_iter().enumerate() {
                if i > 0 {
                    assert_eq!(cfg.successors(at).len(), 1);
                    at = cfg.successors(at)[0];
                }
                assert_eq!(cfg.predecessors(at).len(), 1);
                assert_eq!(canonical.exits[&at], loops.header(l));
            }
        }
    }
    assert_eq!(canonical.counters.len(), loops.len());
    for l in loops.iter() {
        let header = loops.header(l);
        assert_eq!(cfg.predecessors(header).len(), 2);
        let preheader = loops.preheader(l).unwrap();
        let &[latch] = loops.latches(l) else {
            panic!("latches of {header}");
        };
        assert_eq!(cfg.successors(latch), [header]);
        let counter = canonical.counters[&header];
        let params = func.block_params(header);
        let i = params.iter().position(|&p| p == counter).unwrap();
        assert_eq!(func.as_int(func.edges(preheader)[0].args[i]), Some(0));
        let next = func.edges(latch)[0].args[i];
        assert_eq!(func.inst(func.def_inst(next).unwrap()).args[0], counter);
    }
}

#[test]
fn random_graphs() {
    let mut canonical_count = 0;
    for seed in 0..600 {
        let mut random = Random::with_seed(seed);
        let mut func = match seed % 2 {
            0 => random_graph(&mut random, 10),
            _ => random_structured_graph(&mut random),
        };
        match run(&mut func) {
            Ok(canonical) => {
                check(&func, &canonical);
                canonical_count += 1;
                let blocks = func.block_count();
                assert_eq!(run(&mut func).as_ref(), Ok(&canonical), "{seed}");
                assert_eq!(func.block_count(), blocks);
            }
            Err(error) => assert!(seed % 2 == 0, "{seed}: {error}"),
        }
    }
    assert!(canonical_count > 400);
}

#[test]
fn an_edge_out_of_two_loops_passes_an_exit_of_each() {
    let mut func = graph(&[&[1], &[2], &[3, 5], &[2, 4], &[1, 5], &[]]);
    let canonical = run(&mut func).unwrap();
    check(&func, &canonical);
    let mut left: Vec<usize> = canonical
        .exits
        .values()
        .map(|header| cranelift_entity::EntityRef::index(*header))
        .collect();
    left.sort_unstable();
    assert_eq!(left, [1, 1, 2, 2]);
}

#[test]
fn landing_pads_stay_first() {
    // block1: a loop of two invokes that unwind to one landing pad outside of it.
    let mut func = Function::with_entry("f", Signature::new(Vec::new(), Type::void()));
    let entry = func.entry();
    let blocks: Vec<Block> = (0..4).map(|_| func.add_block()).collect();
    let edge = |block: Block| Edge {
        block,
        args: Vec::new(),
    };
    let sig = Signature::new(Vec::new(), Type::void());
    let null = func.zero(Type::ptr());
    let mut invoke = |from: Block, normal: Block| {
        let call = Call {
            callee: Callee::Indirect,
            sig: sig.clone(),
            attrs: Default::default(),
            args: Vec::new(),
            convention: 0,
        };
        let op = Op::Invoke {
            call: Box::new(call),
            normal: edge(normal),
            unwind: edge(blocks[3]),
        };
        func.terminate(from, op, vec![null]);
    };
    invoke(blocks[0], blocks[1]);
    invoke(blocks[1], blocks[2]);
    let mut b = Builder::new(&mut func, entry);
    b.jump(blocks[0], Vec::new());
    b.block = blocks[2];
    b.jump(blocks[0], Vec::new());
    b.block = blocks[3];
    let opaque = Opaque {
        name: "landingpad".to_string(),
        memory: MemoryEffects::NONE,
    };
    let pad = b.value(Op::Opaque(Box::new(opaque)), Vec::new(), Type::i64());
    let user = b.add(pad, pad);
    b.ret(None);
    let canonical = run(&mut func).unwrap();
    check(&func, &canonical);
    let cfg = Cfg::new(&func);
    let join = cfg.reverse_postorder().iter();
    let pads = join.filter(|&&block| landing_pad(&func, block).is_some());
    assert_eq!(pads.count(), 2);
    let user = func.inst(func.def_inst(user).unwrap()).args[0];
    assert_eq!(user, func.block_params(blocks[3])[0]);
}

/// What a function of [`graph`](crate::analysis::test_graphs) returns.
fn result(func: &Function, start: i64) -> Result<Option<Val>, Trap> {
    let mut module = Module::new();
    let id = module.funcs.push(func.clone());
    crate::ir::verify::verify_module(&module).unwrap();
    let mut machine = Machine::new(&module)?.with_step_limit(20_000);
    machine.call(id, &[Val::i64(start), Val::i64(60)])
}

#[test]
fn results_do_not_change() {
    let mut returned = 0;
    for seed in 0..300 {
        let mut random = Random::with_seed(seed);
        let before = match seed % 2 {
            0 => random_graph(&mut random, 10),
            _ => random_structured_graph(&mut random),
        };
        let mut after = before.clone();
        if run(&mut after).is_err() {
            continue;
        }
        for start in 0..3 {
            // Functions that run for ever, or into a dead end, do so a few steps later or earlier.
            let results = (result(&before, start), result(&after, start));
            match results {
                (Ok(before), Ok(after)) => assert_eq!(before, after, "{seed}"),
                (before, after) => assert!(before.is_err() && after.is_err(), "{seed}"),
            }
            returned += 1;
        }
    }
    assert!(returned > 500);
}

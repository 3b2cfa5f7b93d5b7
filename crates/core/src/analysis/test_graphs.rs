//! Functions with given or random control flow, for tests.
//!
//! Every block has two parameters, a state that it mixes its own number into and the fuel that is
//! left, and chooses its edge by the state; without fuel it takes the edge that gets closest to a
//! return. So what a function returns tells which way control went.

pub(crate) use fastrand::Rng as Random;

use crate::ir::{Block, Builder, Edge, Function, IntPred, Op, Signature, Type, Value};

/// A function with one block for each list of successors. No successors is a return; a successor
/// that does not exist makes the block a dead end. Parameters: the first state and the fuel.
pub(crate) fn graph(edges: &[&[usize]]) -> Function {
    let lists: Vec<Vec<usize>> = edges.iter().map(|list| list.to_vec()).collect();
    build(&lists)
}

/// A function of up to `size` blocks with random edges; many are irreducible.
pub(crate) fn random_graph(random: &mut Random, size: usize) -> Function {
    let count = random.usize(2..=size);
    let lists: Vec<Vec<usize>> = (0..count)
        .map(|_| {
            let degree = random.usize(0..=3);
            (0..degree).map(|_| random.usize(1..count)).collect()
        })
        .collect();
    build(&lists)
}

/// A function of nested regions (sequences, choices, loops with breaks and continues, early
/// returns), which is reducible.
pub(crate) fn random_structured_graph(random: &mut Random) -> Function {
    let mut lists = vec![Vec::new()];
    let end = region(random, &mut lists, 0, &mut Vec::new(), 4);
    lists[end].clear();
    build(&lists)
}

fn region(
    random: &mut Random,
    lists: &mut Vec<Vec<usize>>,
    mut at: usize,
    targets: &mut Vec<usize>,
    depth: usize,
) -> usize {
    let new = |lists: &mut Vec<Vec<usize>>| {
        lists.push(Vec::new());
        lists.len() - 1
    };
    for _ in 0..random.usize(1..=3) {
        match random.usize(0..if depth == 0 { 2 } else { 6 }) {
            0 => {
                let next = new(lists);
                lists[at].push(next);
                at = next;
            }
            // A jump out of some loop or to its start, or an early return, beside going on.
            1 => {
                let next = new(lists);
                lists[at].push(next);
                match targets.len() {
                    0 => {
                        let out = new(lists);
                        lists[at].push(out);
                    }
                    n => lists[at].push(targets[random.usize(0..n)]),
                }
                at = next;
            }
            2 | 3 => {
                let (then, other, join) = (new(lists), new(lists), new(lists));
                lists[at].extend([then, other]);
                for arm in [then, other] {
                    let end = region(random, lists, arm, targets, depth - 1);
                    lists[end].push(join);
                }
                at = join;
            }
            _ => {
                let (header, after) = (new(lists), new(lists));
                lists[at].push(header);
                targets.extend([header, after]);
                let body = match random.bool() {
                    true => header,
                    false => {
                        let body = new(lists);
                        lists[header].extend([body, after]);
                        body
                    }
                };
                let end = region(random, lists, body, targets, depth - 1);
                lists[end].extend([header, after]);
                targets.truncate(targets.len() - 2);
                at = after;
            }
        }
    }
    at
}

fn build(lists: &[Vec<usize>]) -> Function {
    let i64 = Type::i64();
    let sig = Signature::new(vec![i64, i64], i64);
    let mut func = Function::with_entry("f", sig);
    let mut blocks = vec![func.entry()];
    for _ in 1..lists.len() {
        let block = func.add_block();
        func.add_block_param(block, i64);
        func.add_block_param(block, i64);
        blocks.push(block);
    }
    let distance = distances(lists);
    for (i, list) in lists.iter().enumerate() {
        fill(&mut func, &blocks, i, list, &distance);
    }
    func
}

fn fill(func: &mut Function, blocks: &[Block], i: usize, list: &[usize], distance: &[usize]) {
    let i64 = Type::i64();
    let &[state, fuel] = func.block_params(blocks[i]) else {
        panic!("two parameters");
    };
    let factor = func.iconst(i64, 6_364_136_223_846_793_005);
    let number = func.iconst(i64, i as i128 + 1);
    let one = func.iconst(i64, 1);
    let zero = func.iconst(i64, 0);
    let mut b = Builder::new(func, blocks[i]);
    let product = b.mul(state, factor);
    let state = b.add(product, number);
    let fuel = b.sub(fuel, one);
    if list.iter().any(|&target| target >= blocks.len()) {
        b.effect(Op::Unreachable, Vec::new());
        return;
    }
    let edge = |target: usize, fuel: Value| Edge {
        block: blocks[target],
        args: vec![state, fuel],
    };
    match list {
        [] => b.ret(Some(state)),
        [target] => {
            let edge = edge(*target, fuel);
            b.jump(edge.block, edge.args);
        }
        _ => {
            let shift = b.func.iconst(i64, 33);
            let count = b.func.iconst(i64, list.len() as i128);
            let best = (0..list.len()).min_by_key(|&k| distance[list[k]]);
            let best = b.func.iconst(i64, best.unwrap_or(0) as i128);
            let high = b.binary(crate::ir::BinaryOp::LShr, state, shift);
            let drawn = b.binary(crate::ir::BinaryOp::URem, high, count);
            let empty = b.icmp(IntPred::Slt, fuel, zero);
            let choice = b.select(empty, best, drawn);
            match list {
                [then, other] => {
                    let first = b.icmp(IntPred::Eq, choice, zero);
                    b.branch(first, edge(*then, fuel), edge(*other, fuel));
                }
                _ => {
                    let last = list.len() - 1;
                    let cases = (0..last)
                        .map(|k| (k as u128, edge(list[k], fuel)))
                        .collect();
                    let default = edge(list[last], fuel);
                    b.effect(Op::Switch { cases, default }, vec![choice]);
                }
            }
        }
    }
}

/// How many edges each block is away from a return.
fn distances(lists: &[Vec<usize>]) -> Vec<usize> {
    let mut distance: Vec<usize> = lists
        .iter()
        .map(|list| if list.is_empty() { 0 } else { usize::MAX })
        .collect();
    for _ in 0..lists.len() {
        for i in 0..lists.len() {
            for &target in &lists[i] {
                if let Some(&d) = distance.get(target) {
                    distance[i] = distance[i].min(d.saturating_add(1));
                }
            }
        }
    }
    distance
}

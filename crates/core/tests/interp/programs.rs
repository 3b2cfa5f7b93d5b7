//! A bigger program: a layer of a network with a loop nest, heap memory, a call and a branch.

use zymase_core::interp::{Machine, Pointer, Trap, Val};

/// `out = Σᵢ act(Σⱼ w[i][j]·x[j])²` where `act` is tanh of positive numbers and 0.1·x otherwise;
/// the activations pass through a heap array.
const LAYER: &str = "
    declare @malloc(i64) -> ptr
    declare @free(ptr)
    func @act(%x: f64) -> f64 {
    entry:
        %c = fcmp ogt %x, 0.0
        branch %c, positive, negative
    positive:
        %t = math tanh %x
        return %t
    negative:
        %s = fmul %x, 0.1
        return %s
    }
    func @layer(%w: ptr, %x: ptr, %n: i64) -> f64 {
    entry:
        %bytes = mul %n, 8
        %a = call @malloc(%bytes)
        jump rows(0)
    rows(%i: i64):
        %row = mul %i, %n
        jump columns(0, 0.0)
    columns(%j: i64, %sum: f64):
        %k = add %row, %j
        %pw = address inbounds %w + 8*%k
        %px = address inbounds %x + 8*%j
        %vw = load f64 %pw, align 8
        %vx = load f64 %px, align 8
        %m = fmul %vw, %vx
        %next = fadd %sum, %m
        %j2 = add nuw %j, 1
        %more = icmp ult %j2, %n
        branch %more, columns(%j2, %next), row_end
    row_end:
        %y = call @act(%next)
        %pa = address inbounds %a + 8*%i
        store %y, %pa, align 8
        %i2 = add nuw %i, 1
        %more_rows = icmp ult %i2, %n
        branch %more_rows, rows(%i2), square(0, 0.0)
    square(%l: i64, %total: f64):
        %pl = address inbounds %a + 8*%l
        %v = load f64 %pl, align 8
        %v2 = fmul %v, %v
        %total2 = fadd %total, %v2
        %l2 = add nuw %l, 1
        %more_terms = icmp ult %l2, %n
        branch %more_terms, square(%l2, %total2), done
    done:
        call @free(%a)
        return %total2
    }";

fn layer(machine: &mut Machine<'_>, w: Pointer, x: Pointer, n: usize) -> Result<Val, Trap> {
    let args = [Val::Ptr(w), Val::Ptr(x), Val::i64(n as i64)];
    Ok(machine.call_by_name("layer", &args)?.unwrap_or(Val::Poison))
}

#[test]
fn a_layer_agrees_with_finite_differences() -> Result<(), Trap> {
    let module = super::parse(LAYER);
    let mut machine = Machine::new(&module)?;
    let n = 5;
    let mut random = fastrand::Rng::with_seed(7);
    let mut numbers =
        |count: usize| -> Vec<f64> { (0..count).map(|_| 2.0 * random.f64() - 1.0).collect() };
    let (w, x, dw, dx) = (numbers(n * n), numbers(n), numbers(n * n), numbers(n));
    let mut value = |h: f64| -> Result<f64, Trap> {
        let moved = |x: &[f64], d: &[f64]| -> Vec<f64> {
            x.iter().zip(d).map(|(x, d)| x + h * d).collect()
        };
        let w = machine.memory.new_f64s(&moved(&w, &dw))?;
        let x = machine.memory.new_f64s(&moved(&x, &dx))?;
        let result = layer(&mut machine, w, x, n)?;
        machine.memory.free(w)?;
        machine.memory.free(x)?;
        Ok(result.as_f64().unwrap_or(f64::NAN))
    };
    let h = 1e-5;
    let expected = (value(h)? - value(-h)?) / (2.0 * h);
    let (pw, px) = (machine.memory.new_f64s(&w)?, machine.memory.new_f64s(&x)?);
    machine.memory.set_f64_tangents(pw, &dw)?;
    machine.memory.set_f64_tangents(px, &dx)?;
    let result = layer(&mut machine, pw, px, n)?;
    let tangent = result.tangent().unwrap_or(f64::NAN);
    assert!((tangent - expected).abs() < 1e-8, "{tangent} {expected}");
    assert_eq!(machine.live_heap_objects(), 2);
    Ok(())
}

#[test]
fn steps_grow_as_the_work_does() -> Result<(), Trap> {
    let module = super::parse(LAYER);
    let steps = |n: usize| -> Result<u64, Trap> {
        let mut machine = Machine::new(&module)?;
        let w = machine.memory.new_f64s(&vec![0.5; n * n])?;
        let x = machine.memory.new_f64s(&vec![0.5; n])?;
        let before = machine.steps();
        layer(&mut machine, w, x, n)?;
        Ok(machine.steps() - before)
    };
    let ratio = steps(64)? as f64 / steps(32)? as f64;
    assert!((3.5..4.1).contains(&ratio), "{ratio}");
    Ok(())
}

//! Functions known by name.

use super::{outcome, parse};
use zymase_core::interp::{Machine, Val};

/// Checks a call of a declared function; `sig` is what stands after its name.
fn check(name: &str, params: &str, ret: &str, args: &str, expected: &str) {
    let text = format!(
        "declare @\"{name}\"({params}) -> {ret}\nfunc @f() -> {ret} {{\nentry:\n  \
         v0 = call @\"{name}\"({args})\n  return v0\n}}"
    );
    assert_eq!(outcome(&text, &[]), expected, "{name}({args})");
}

#[test]
fn intrinsics() {
    for (name, params, ret, args, expected) in [
        ("llvm.smax.i8", "i8, i8", "i8", "-1, 1", "1"),
        ("llvm.umax.i8", "i8, i8", "i8", "-1, 1", "-1"),
        (
            "llvm.smin.v2i8",
            "<2 x i8>, <2 x i8>",
            "<2 x i8>",
            "{1, 2}, {2, 1}",
            "{1, 1}",
        ),
        ("llvm.abs.i8", "i8, i1", "i8", "-128, true", "poison"),
        ("llvm.abs.i8", "i8, i1", "i8", "-128, false", "-128"),
        ("llvm.ctpop.i8", "i8", "i8", "7", "3"),
        ("llvm.ctlz.i8", "i8, i1", "i8", "1, false", "7"),
        ("llvm.cttz.i8", "i8, i1", "i8", "0, false", "8"),
        ("llvm.cttz.i8", "i8, i1", "i8", "0, true", "poison"),
        ("llvm.bswap.i32", "i32", "i32", "1", "16777216"),
        ("llvm.bitreverse.i8", "i8", "i8", "1", "-128"),
        ("llvm.fshl.i8", "i8, i8, i8", "i8", "1, -128, 9", "3"),
        ("llvm.fshr.i8", "i8, i8, i8", "i8", "1, 2, 1", "-127"),
        ("llvm.scmp.i8.i32", "i32, i32", "i8", "1, 2", "-1"),
        (
            "llvm.sadd.with.overflow.i8",
            "i8, i8",
            "{i8, i1}",
            "127, 1",
            "{-128, true}",
        ),
        (
            "llvm.umul.with.overflow.i64",
            "i64, i64",
            "{i64, i1}",
            "3, 4",
            "{12, false}",
        ),
        ("llvm.ssub.sat.i8", "i8, i8", "i8", "-128, 1", "-128"),
        ("llvm.uadd.sat.i8", "i8, i8", "i8", "-1, 1", "-1"),
        ("llvm.usub.sat.i8", "i8, i8", "i8", "1, 2", "0"),
        ("llvm.sshl.sat.i8", "i8, i8", "i8", "64, 1", "127"),
        (
            "llvm.vector.reduce.fadd.v2f64",
            "f64, <2 x f64>",
            "f64",
            "1.0, {2.0, 3.0}",
            "6.0",
        ),
        (
            "llvm.vector.reduce.smax.v2i8",
            "<2 x i8>",
            "i8",
            "{-1, 1}",
            "1",
        ),
        (
            "llvm.vector.reduce.fmax.v2f64",
            "<2 x f64>",
            "f64",
            "{1.0, 4.0}",
            "4.0",
        ),
        ("llvm.is.fpclass.f64", "f64, i32", "i1", "nan, 3", "true"),
        (
            "llvm.is.fpclass.f64",
            "f64, i32",
            "i1",
            "-0.0, 0x20",
            "true",
        ),
        (
            "llvm.is.fpclass.f64",
            "f64, i32",
            "i1",
            "-1.0, 0x100",
            "false",
        ),
        ("llvm.fptosi.sat.i8.f64", "f64", "i8", "1e9", "127"),
        ("llvm.fptoui.sat.i8.f64", "f64", "i8", "-1.0", "0"),
        ("llvm.fptosi.sat.i8.f64", "f64", "i8", "nan", "0"),
        ("llvm.expect.i8", "i8, i8", "i8", "3, 4", "3"),
        ("llvm.is.constant.i8", "i8", "i1", "3", "false"),
        ("llvm.fabs.f64", "f64", "f64", "-2.0", "2.0"),
        (
            "llvm.maxnum.v2f64",
            "<2 x f64>, <2 x f64>",
            "<2 x f64>",
            "{1.0, 2.0}, {2.0, 1.0}",
            "{2.0, 2.0}",
        ),
        (
            "llvm.objectsize.i64.p0",
            "ptr, i1, i1, i1",
            "i64",
            "null, false, false, false",
            "-1",
        ),
        ("llvm.unheard.of", "f64", "f64", "1.0", "UnknownFunction"),
        (
            "llvm.frexp.f64.i32",
            "f64",
            "{f64, i32}",
            "12.0",
            "{0.75, 4}",
        ),
        ("llvm.modf.f64", "f64", "{f64, f64}", "-2.5", "{-0.5, -2.0}"),
        ("llvm.lround.i64.f64", "f64", "i64", "2.5", "3"),
        ("lrint", "f64", "i64", "2.5", "2"),
        ("lroundf", "f32", "i64", "-2.5", "-3"),
        ("lgamma", "f64", "f64", "1.0", "0.0"),
        ("hypot", "f64, f64", "f64", "3.0, 4.0", "5.0"),
        ("sqrtf", "f32", "f32", "9.0", "3.0"),
    ] {
        check(name, params, ret, args, expected);
    }
}

#[test]
fn masked_memory_and_assumptions() {
    let text = "
        declare @llvm.masked.load.v2f64.p0(ptr, i32, <2 x i1>, <2 x f64>) -> <2 x f64>
        declare @llvm.masked.store.v2f64.p0(<2 x f64>, ptr, i32, <2 x i1>)
        declare @llvm.assume(i1)
        declare @llvm.lifetime.end.p0(ptr)
        global @g size 16 align 16 = {f64 1.0, f64 2.0}
        func @f(%c: i1) -> <2 x f64> {
        entry:
            call @llvm.masked.store.v2f64.p0({8.0, 9.0}, @g, 8, {false, true})
            %v = call @llvm.masked.load.v2f64.p0(@g, 8, {true, true}, zero)
            call @llvm.assume(%c)
            call @llvm.lifetime.end.p0(@g)
            return %v
        }";
    assert_eq!(outcome(text, &[Val::bool(true)]), "{1.0, 9.0}");
    assert_eq!(outcome(text, &[Val::bool(false)]), "Unreachable");
}

#[test]
fn output() {
    let text = "
        declare @printf(ptr, ...) -> i32
        declare @puts(ptr) -> i32
        declare @strlen(ptr) -> i64
        global constant @format size 37 align 1 = {bytes \"25643a2533643a252d33647c2530342e31663a25673a25673a25653a25733a257525250a00\"}
        global constant @word size 3 align 1 = {bytes \"686900\"}
        func @f() -> i64 {
        entry:
            %a = call @printf(@format, -1:i32, 7:i64, 5:i32, 2.55:f64, 0.5:f64, 1e-7:f64, 1.5:f64, @word:ptr, -1:i8)
            %b = call @puts(@word)
            %c = call @strlen(@word)
            return %c
        }";
    let module = parse(text);
    let mut machine = Machine::new(&module).expect("globals");
    assert_eq!(machine.call_by_name("f", &[]), Ok(Some(Val::i64(2))));
    let expected = "-1:  7:5  |02.5:0.5:1e-07:1.500000e+00:hi:255%\nhi\n";
    assert_eq!(machine.output, expected);
}

#[test]
fn allocators() {
    for (new, size, old) in [
        ("malloc(i64)", "(8)", "free(ptr)"),
        ("_Znwm(i64)", "(8)", "_ZdlPv(ptr)"),
        (
            "_RNvCs1_7___rustc12___rust_alloc(i64, i64)",
            "(8, 8)",
            "free(ptr)",
        ),
        ("aligned_alloc(i64, i64)", "(64, 8)", "free(ptr)"),
        ("my_new(i32)", "(8)", "free(ptr)"),
    ] {
        let name = |text: &str| text.split('(').next().unwrap_or("").to_string();
        let text = format!(
            "declare @{new} -> ptr\ndeclare @{old}\nfunc @f() -> f64 {{\nentry:\n\
             %p = call @{}{size}\nstore 1.5:f64, %p, align 8\n%x = load f64 %p\n\
             call @{}(%p)\nreturn %x\n}}",
            name(new),
            name(old)
        );
        let mut module = parse(&text);
        if let Some(func) = module.func_by_name("my_new") {
            module.funcs[func].attrs.alloc = Some(zymase_core::ir::AllocInfo {
                kind: zymase_core::ir::AllocKind::Alloc,
                zeroed: false,
                family: String::new(),
                size_args: vec![0],
                ptr_arg: None,
                freed: None,
            });
        }
        let mut machine = Machine::new(&module).expect("globals");
        let result = machine.call_by_name("f", &[]);
        assert_eq!(result, Ok(Some(Val::f64(1.5))), "{new}");
        assert_eq!(machine.live_heap_objects(), 0, "{new}");
    }
}

#[test]
fn functions_with_two_results() {
    let text = "
        declare @sincos(f64, ptr, ptr)
        declare @frexp(f64, ptr) -> f64
        declare @modf(f64, ptr) -> f64
        func @f(%x: f64) -> {f64, f64, f64, f64, f64, i32} {
        entry:
            %a = alloca f64, align 8
            %b = alloca f64, align 8
            %c = alloca f64, align 8
            %d = alloca i32, align 4
            call @sincos(%x, %a, %b)
            %m = call @frexp(%x, %d)
            %r = call @modf(%x, %c)
            %va = load f64 %a
            %vb = load f64 %b
            %vc = load f64 %c
            %vd = load i32 %d
            %0 = insert undef, %va, [0] : {f64, f64, f64, f64, f64, i32}
            %1 = insert %0, %vb, [1]
            %2 = insert %1, %vc, [2]
            %3 = insert %2, %m, [3]
            %4 = insert %3, %r, [4]
            %5 = insert %4, %vd, [5]
            return %5
        }";
    let (s, c) = 2.5f64.sin_cos();
    let m = -s;
    let expected = format!("{{{s:?} ~ {c:?}, {c:?} ~ {m:?}, 2.0, 0.625 ~ 0.25, 0.5 ~ 1.0, 2}}");
    assert_eq!(outcome(text, &[Val::dual(2.5, 1.0)]), expected);
}

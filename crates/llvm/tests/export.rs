//! Functions that core made: what LLVM gets, and what it computes.

use zymase_core::ir::text::parse_module;
use zymase_core::ir::{Builder, FloatKind, Function, MathFn, MathParam, Signature, Type};
use zymase_llvm::export::export_function;
use zymase_llvm::import::import;
use zymase_llvm::{Context, Imported, Jit, Module, OptLevel, TargetMachine};

fn empty() -> (Module, Imported) {
    let module = Module::new(&Context::new(), "test");
    let imported = import(&module).unwrap();
    (module, imported)
}

/// Exports every function of a module in core's text form.
fn export(text: &str) -> Result<Module, String> {
    let (module, mut imported) = empty();
    imported.module = parse_module(text).unwrap_or_else(|e| panic!("{e}"));
    let funcs: Vec<_> = imported.module.funcs.keys().collect();
    for func in funcs {
        export_function(&mut imported, func).map_err(|d| d.to_string())?;
    }
    module
        .verify()
        .unwrap_or_else(|d| panic!("{d}\n{}", module.print()));
    Ok(module)
}

fn load(module: &Module) -> Jit {
    let machine = TargetMachine::for_module(module, OptLevel::Default).unwrap();
    Jit::load(&machine.emit_object(module).unwrap()).unwrap()
}

/// The lines of LLVM's text must contain each of these, in order.
fn check_lines(text: &str, expected: &[&str]) {
    let module = export(text).unwrap_or_else(|d| panic!("{d}"));
    let printed = module.print();
    let mut rest = printed.as_str();
    for line in expected {
        match rest.find(line) {
            Some(at) => rest = &rest[at + line.len()..],
            None => panic!("no {line:?} in the rest of\n{printed}"),
        }
    }
}

#[test]
fn accumulation_is_load_add_store_in_its_region() {
    check_lines(
        "func @f(%p: ptr, %q: ptr, %x: f64) {
        block0:
            accumulate reassoc nsz contract %p, %x, align 8, region shadow
            store %x, %q, align 8, region tape
            %y = load f64 %q, align 4, region primal
            accumulate %p, %y, align 8, atomic monotonic
            return
        }",
        &[
            "load double, ptr %0, align 8, !alias.scope !0, !noalias !3",
            "fadd reassoc nsz contract double",
            "store double %5, ptr %0, align 8, !alias.scope !0, !noalias !3",
            "store double %2, ptr %1, align 8, !alias.scope",
            "load double, ptr %1, align 4, !alias.scope",
            "atomicrmw fadd ptr %0, double %y monotonic",
            "!\"shadow\"",
        ],
    );
}

#[test]
fn promises_about_addresses_hold_for_the_sum_only() {
    check_lines(
        "func @f(%p: ptr, %i: i64, %j: i32) -> ptr {
        block0:
            %a = address inbounds %p + 8*%i
            %b = address inbounds %a + 24*%i + 4*%j - 16
            %c = address %b - 3*%i + 5
            return %c
        }",
        &[
            "getelementptr inbounds i64, ptr %0, i64 %1",
            "mul nsw i64 %1, 24",
            "sext i32 %2 to i64",
            "mul nsw i64",
            "add i64",
            ", -16",
            "getelementptr inbounds i8, ptr %a, i64",
            "mul i64 %1, -3",
            "getelementptr i8, ptr %b",
            "getelementptr i8",
        ],
    );
}

#[test]
fn attributes_are_what_core_says() {
    check_lines(
        "func local @f(%p: ptr noalias nocapture dereferenceable(16), %q: ptr byval({i64, f64})) \
         nounwind memory(arguments: read) {
        block0:
            return
        }
        func @g(%p: ptr) {
        block0:
            call @f(%p, %p)
            call @h(%p)
            return
        }
        declare @h(ptr)",
        &[
            "define internal void @f(ptr noalias captures(none) dereferenceable(16) %0, ptr byval({ i64, double })",
            "call void @f(ptr %0, ptr byval({ i64, double }) %0)",
            "call void @h(ptr %0)",
            "nounwind memory(argmem: read)",
        ],
    );
}

#[test]
fn two_edges_to_one_block_may_pass_different_values() {
    let module = export(
        "func @f(%c: i1, %n: i32, %x: f64) -> f64 {
        block0:
            branch %c, block1(1.0, %x), block1(2.0, %x)
        block1(%a: f64, %b: f64):
            switch %n, 1: block2(%a), 2: block2(%b), 3: block2(%a), default: block2(%x)
        block2(%r: f64):
            return %r
        }",
    );
    let jit = load(&module.unwrap());
    // SAFETY: this is the type of the function.
    let f: extern "C" fn(bool, i32, f64) -> f64 = unsafe { jit.function("f").unwrap() };
    for (c, n, expected) in [
        (true, 1, 1.0),
        (false, 1, 2.0),
        (true, 2, 7.0),
        (false, 3, 2.0),
        (true, 9, 7.0),
    ] {
        assert_eq!(f(c, n, 7.0), expected, "{c} {n}");
    }
}

#[test]
fn variables_of_core_have_their_content() {
    let module = export(
        "global @table size 24 align 8 = {f64 1.5, f64 2.5}
        global local @cell size 16 align 8 = {bytes \"0000000000000000\", at 8 (@table + 8)}
        func @f() -> f64 {
        block0:
            %p = load ptr (@cell + 8), align 8
            %x = load f64 %p, align 8
            %y = load f64 (@table + 16), align 8
            %z = fadd %x, %y : f64
            return %z
        }",
    );
    let jit = load(&module.unwrap());
    // SAFETY: this is the type of the function.
    let f: extern "C" fn() -> f64 = unsafe { jit.function("f").unwrap() };
    assert_eq!(f(), 2.5);
}

#[test]
fn refusals() {
    let request = "func @f(%x: f64) -> f64 {
        block0:
            %d = request combined @g(out %x) -> active : f64
            return %d
        }
        declare @g(f64) -> f64";
    let digamma = "func @f(%x: f64) -> f64 {
        block0:
            %d = math digamma %x : f64
            return %d
        }";
    let opaque = "func @f(%x: f64) -> f64 {
        block0:
            %d = opaque \"va_arg\" %x : f64
            return %d
        }";
    for (text, expected) in [
        (
            request,
            "error[Z0001]: cannot export a request for a derivative\n  \
             --> in function f (compile with -g for lines)\n  \
             why: it must be replaced by a call of the derivative first\n  \
             help: this is a defect of Zymase; please report it with the program",
        ),
        (
            digamma,
            "error[Z0001]: cannot call digamma\n  \
             --> in function f (compile with -g for lines)\n  \
             why: no such function is in the C library or in LLVM\n  \
             help: this is a defect of Zymase; please report it with the program",
        ),
        (
            opaque,
            "error[Z0001]: cannot export va_arg\n  \
             --> in function f (compile with -g for lines)\n  \
             why: what it was read from is not known\n  \
             help: this is a defect of Zymase; please report it with the program",
        ),
    ] {
        match export(text) {
            Ok(module) => panic!("{}", module.print()),
            Err(message) => assert_eq!(message, expected),
        }
    }
}

/// One function for each mathematical function, precision and vector length.
#[test]
fn every_mathematical_function_compiles() {
    let (module, mut imported) = empty();
    let mut names = Vec::new();
    for &function in MathFn::ALL {
        if function == MathFn::Digamma {
            continue;
        }
        for kind in FloatKind::ALL {
            for ty in [Type::float(kind), Type::vector(Type::float(kind), 2)] {
                let name = format!(
                    "{}.{}.{names_len}",
                    function.name(),
                    kind.name(),
                    names_len = names.len()
                );
                let params = function.params().iter().map(|param| match param {
                    MathParam::Float => ty,
                    // The one intrinsic with a vector of integers has one for each lane.
                    MathParam::Int if function == MathFn::Ldexp => ty.with_scalar(Type::int(32)),
                    MathParam::Int => Type::int(32),
                });
                let sig = Signature::new(params.collect(), ty);
                let mut made = Function::with_entry(&name, sig);
                let (entry, args) = (made.entry(), made.arguments().to_vec());
                let mut builder = Builder::new(&mut made, entry);
                let result = builder.math(function, args);
                builder.ret(Some(result));
                let func = imported.module.funcs.push(made);
                export_function(&mut imported, func).unwrap();
                names.push(name);
            }
        }
    }
    module.verify().unwrap_or_else(|d| panic!("{d}"));
    let machine = TargetMachine::for_module(&module, OptLevel::Default).unwrap();
    assert!(!machine.emit_object(&module).unwrap().is_empty());
}

#[test]
fn mathematical_functions_compute() {
    let text: String = ["sin", "cbrt", "expm1", "lgamma", "erf", "fabs", "roundeven"]
        .iter()
        .map(|name| {
            format!(
                "func @test_{name}(%x: f64) -> f64 {{
                block0:
                    %v = insertelement undef, %x, 1 : <2 x f64>
                    %r = math {name} %v : <2 x f64>
                    %y = extractelement %r, 1 : f64
                    return %y
                }}
                "
            )
        })
        .collect();
    let jit = load(&export(&text).unwrap());
    for (name, x, expected) in [
        ("sin", 0.5, 0.5f64.sin()),
        ("cbrt", -27.0, -3.0),
        ("expm1", 1e-9, 1e-9f64.exp_m1()),
        ("lgamma", 5.0, 24f64.ln()),
        ("erf", 0.5, 0.5204998778130465),
        ("fabs", -2.5, 2.5),
        ("roundeven", 2.5, 2.0),
    ] {
        // SAFETY: this is the type of the function.
        let f: extern "C" fn(f64) -> f64 =
            unsafe { jit.function(&format!("test_{name}")).unwrap() };
        assert!(
            (f(x) - expected).abs() < 1e-15 * expected.abs().max(1.0),
            "{name}"
        );
    }
}

#[test]
fn nests_become_loops() {
    let module = export(
        "func @f(%a: ptr, %b: ptr, %c: ptr, %n: i64) {
        block0:
            %row = mul %n, 8
            nest [%i < %n, %j < %n, %k < 1 + 1*%i] {
                %x = load f64 %a + %row*%i + 8*%k, align 8
                %y = load f64 %b + %row*%k + 8*%j, align 8
                %xy = fmul %x, %y
                sum %xy, %c + %row*%i + 8*%j, align 8
            }
            return
        }",
    );
    let jit = load(&module.unwrap());
    // SAFETY: this is the type of the function.
    let f: extern "C" fn(*const f64, *const f64, *mut f64, i64) =
        unsafe { jit.function("f").unwrap() };
    let (a, b) = ([1.0, 9.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]);
    let mut c = [0.0, 0.0, 0.0, 0.5];
    f(a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), 2);
    // The upper triangle of the first matrix does not count.
    assert_eq!(c, [4.0, 5.0, 26.0, 31.5]);
}

//! The wrappers: errors are values, modules link, code comes out.

use zymase_llvm::{Context, Module, OptLevel, PassOptions, TargetMachine, version};

fn parse(context: &Context, text: &str) -> Module {
    match Module::parse(context, text.as_bytes(), "test.ll") {
        Ok(module) => module,
        Err(diagnostic) => panic!("{diagnostic}"),
    }
}

#[test]
fn the_library_is_llvm_22() {
    assert_eq!(version().0, 22);
}

#[test]
fn broken_input_is_an_error_value() {
    let context = Context::new();
    for (bytes, expected) in [
        (&b"define i32 @f( {"[..], "expected type"),
        (&b"BC\xc0\xde broken"[..], ""),
        (&b""[..], ""),
    ] {
        match Module::parse(&context, bytes, "broken") {
            Ok(module) => assert!(bytes.is_empty(), "{}", module.print()),
            Err(diagnostic) => {
                assert_eq!(diagnostic.message, "cannot read broken");
                assert!(diagnostic.reason.contains(expected), "{diagnostic}");
            }
        }
    }
}

#[test]
fn broken_modules_do_not_verify() {
    let context = Context::new();
    let text = "define void @f() { call void @g(i32 1)\nret void }\ndeclare void @g()";
    // Text that names a function with two types parses since pointers are opaque.
    let module = parse(&context, text);
    assert!(module.verify().is_ok());
    let module = parse(
        &context,
        "define void @f() \"frame-pointer\"=\"maybe\" { ret void }",
    );
    let Err(diagnostic) = module.verify() else {
        panic!("a bad attribute was accepted");
    };
    assert!(diagnostic.reason.contains("frame-pointer"), "{diagnostic}");
}

#[test]
fn modules_link_once() {
    let context = Context::new();
    let a = parse(&context, "define i32 @f() { ret i32 1 }");
    let b = parse(
        &context,
        "declare i32 @f()\ndefine i32 @g() { %x = call i32 @f() ret i32 %x }",
    );
    assert!(a.link(b).is_ok());
    assert_eq!(a.functions().count(), 2);
    let again = parse(&context, "define i32 @f() { ret i32 2 }");
    let Err(diagnostic) = a.link(again) else {
        panic!("two definitions were linked");
    };
    assert!(diagnostic.reason.contains('f'), "{diagnostic}");
    let stranger = parse(&Context::new(), "define i32 @h() { ret i32 2 }");
    assert!(a.link(stranger).is_err());
}

#[test]
fn passes_run_and_refuse() {
    let context = Context::new();
    let module = parse(
        &context,
        "define i32 @f(i32 %x) { %a = add i32 %x, 1\n %b = sub i32 %a, 1\n ret i32 %b }",
    );
    assert!(
        module
            .run_passes("default<O2>", None, PassOptions::ALL)
            .is_ok()
    );
    assert!(module.print().contains("ret i32 %x"), "{}", module.print());
    assert!(
        module
            .run_passes("no-such-pass", None, PassOptions::ALL)
            .is_err()
    );
}

#[test]
fn objects_come_out() {
    let context = Context::new();
    let module = parse(&context, "define i32 @f() { ret i32 1 }");
    let machine = TargetMachine::for_module(&module, OptLevel::Default).unwrap();
    let object = machine.emit_object(&module).unwrap();
    assert!(object.starts_with(b"\x7fELF"));
    let broken = parse(
        &context,
        "define void @f() { call void asm \"no_such_instruction\", \"\"()\n ret void }",
    );
    assert!(machine.emit_object(&broken).is_err());
    assert!(TargetMachine::new("pdp11-dec-unix", "", "", OptLevel::None).is_err());
}

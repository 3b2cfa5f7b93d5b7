//! What core gets to see of LLVM's IR.

use zymase_core::ir::text::print_module;
use zymase_core::ir::verify::verify_module;
use zymase_llvm::import::import;
use zymase_llvm::{Context, Module};

/// Core's text form of a module must contain each of these, in order.
fn check(llvm: &str, expected: &[&str]) {
    let module = Module::parse(&Context::new(), llvm.as_bytes(), "test.ll")
        .unwrap_or_else(|d| panic!("{d}"));
    let imported = import(&module).unwrap_or_else(|d| panic!("{d}"));
    let printed = print_module(&imported.module);
    if let Err(errors) = verify_module(&imported.module) {
        panic!("{}\n{printed}", errors[0]);
    }
    let mut rest = printed.as_str();
    for line in expected {
        match rest.find(line) {
            Some(at) => rest = &rest[at + line.len()..],
            None => panic!("no {line:?} in the rest of\n{printed}"),
        }
    }
}

#[test]
fn addresses_are_flat() {
    check(
        "%s = type { i8, [4 x { i32, double }], ptr }
        @g = global %s zeroinitializer
        define ptr @f(ptr %p, i64 %i, i32 %j) {
            %a = getelementptr inbounds %s, ptr %p, i64 %i, i32 1, i32 %j, i32 1
            %b = getelementptr i16, ptr %a, i64 -3
            %c = getelementptr nuw i8, ptr getelementptr (%s, ptr @g, i64 0, i32 2), i128 7
            store ptr %c, ptr %a
            ret ptr %b
        }",
        &[
            "%a = address inbounds nusw %p + 80*%i + 16*%j + 16",
            "%b = address %a - 6",
            "%c = address nuw (@g + 72)",
        ],
    );
}

#[test]
fn constant_expressions_are_computed_where_they_are_used() {
    check(
        "@g = global i32 0
        define i64 @f(i1 %c) {
        a:
            br i1 %c, label %b, label %d
        b:
            br label %d
        d:
            %x = phi i64 [ ptrtoint (ptr @g to i64), %a ], [ 5, %b ]
            %y = add i64 %x, sub (i64 0, i64 ptrtoint (ptr @g to i64))
            ret i64 %y
        }",
        &[
            "ptrtoint @g:ptr : i64",
            "branch %c",
            "ptrtoint @g:ptr : i64",
            "sub 0, ",
            "%y = add %x, ",
        ],
    );
}

#[test]
fn accesses_know_their_aliases() {
    check(
        "define double @f(ptr noalias captures(none) %p, ptr readonly align 16 %q) {
            %x = load double, ptr %p, align 8, !tbaa !2, !noalias !9
            store volatile double %x, ptr %q, align 16, !alias.scope !9
            %y = load atomic i64, ptr %p acquire, align 8
            %z = atomicrmw fadd ptr %q, double %x syncscope(\"singlethread\") monotonic, align 8
            ret double %x
        }
        !0 = !{!\"root\"}
        !1 = !{!\"double\", !3, i64 0}
        !2 = !{!4, !1, i64 8}
        !3 = !{!\"omnipotent char\", !0, i64 0}
        !4 = !{!\"s\", !3, i64 0, !1, i64 8}
        !7 = distinct !{!7, !\"domain\"}
        !8 = distinct !{!8, !7, !\"scope\"}
        !9 = !{!8}",
        &[
            "func @f(%p: ptr noalias nocapture, %q: ptr readonly align(16)) -> f64",
            "%x = load f64 %p, align 8, tbaa 2, noalias(0)",
            "store %x, %q, align 16, volatile, scopes(0)",
            "%y = load i64 %p, align 8, atomic acquire",
            "%z = atomicrmw fadd %q, %x : f64, align 8, atomic monotonic singlethread",
            "tbaa 0 = \"root\"",
            "tbaa 2 = \"double\" under 1",
        ],
    );
}

#[test]
fn mathematics_is_known_by_name() {
    check(
        "declare double @sin(double)
        declare float @sqrtf(float)
        declare <2 x double> @llvm.pow.v2f64(<2 x double>, <2 x double>)
        declare double @llvm.powi.f64.i32(double, i32)
        declare float @cos(float)
        declare double @exp(double) nobuiltin
        define double @log(double %x) { ret double %x }
        define void @f(double %x, float %y, <2 x double> %v) {
            %a = call fast double @sin(double %x)
            %b = call float @sqrtf(float %y)
            %c = call nnan <2 x double> @llvm.pow.v2f64(<2 x double> %v, <2 x double> %v)
            %d = call double @llvm.powi.f64.i32(double %x, i32 3)
            %e = call float @cos(float %y)
            %g = call double @exp(double %x)
            %h = call double @log(double %x)
            ret void
        }",
        &[
            "%a = math fast sin %x : f64",
            "%b = math sqrt %y : f32",
            "%c = math nnan pow %v, %v : <2 x f64>",
            "%d = math powi %x, 3:i32 : f64",
            "%e = call @cos(%y)",
            "%g = call @exp(%x)",
            "%h = call @log(%x)",
        ],
    );
}

#[test]
fn allocations_are_known_by_attribute_and_by_name() {
    check(
        "declare ptr @malloc(i64)
        declare void @free(ptr)
        declare noalias ptr @mine(i64, i64) allocsize(1) allockind(\"alloc,zeroed\") \"alloc-family\"=\"m\"
        declare noalias ptr @again(i64, ptr allocptr) allocsize(0) allockind(\"realloc\") memory(argmem: read)
        define ptr @calloc(i64, i64) { ret ptr null }",
        &[
            "@malloc(i64) -> ptr alloc(alloc, family \"malloc\", size 0)",
            "@free(ptr) alloc(free, family \"malloc\", ptr 0)",
            "alloc(alloc, zeroed, family \"m\", size 1)",
            "memory(arguments: read) alloc(realloc, size 0, ptr 1)",
            "func @calloc(",
        ],
    );
}

#[test]
fn what_core_does_not_model_is_opaque() {
    check(
        "declare i32 @__gxx_personality_v0(...)
        declare void @g()
        declare void @llvm.assume(i1)
        define void @f(ptr %p, <vscale x 4 x float> %s) personality ptr @__gxx_personality_v0 {
            %a = call i32 asm \"nop\", \"=r,r\"(ptr %p)
            call void @llvm.assume(i1 true) [ \"align\"(ptr %p, i64 8) ]
            %t = fadd <vscale x 4 x float> %s, %s
            %v = va_arg ptr %p, i32
            invoke void @g() to label %ok unwind label %bad
        ok:
            ret void
        bad:
            %l = landingpad { ptr, i32 } cleanup
            resume { ptr, i32 } %l
        }",
        &[
            "%a = opaque \"inline assembly\" %p",
            "opaque \"call of llvm.assume with operand bundles\" true:i1, %p, 8:i64",
            "memory(inaccessible: write)",
            "%t = opaque \"fadd\" %s, %s",
            "%v = opaque \"va_arg\" %p",
            "invoke @g(), to block2, unwind block1",
            "%l = opaque \"landingpad\"",
            "opaque_terminator \"resume\" %l",
            "return",
        ],
    );
}

#[test]
fn initializers_are_bytes_and_addresses() {
    check(
        "@a = constant [3 x i16] [i16 1, i16 2, i16 -1]
        @b = internal global { i8, ptr, double } { i8 7, ptr getelementptr (i8, ptr @a, i64 4), double 1.0 }
        @c = external thread_local global i32
        @d = weak global i32 5
        @e = global i32 trunc (i64 sub (i64 ptrtoint (ptr @a to i64), i64 ptrtoint (ptr @b to i64)) to i32)
        @f = alias i16, getelementptr (i8, ptr @a, i64 2)
        define i16 @read() { %x = load i16, ptr @f ret i16 %x }",
        &[
            "constant @a size 6 align",
            "local @b size 24 align",
            "at 8 (@a + 4)",
            "thread_local @c size 4 align 4\n",
            "@d size 4 align 4\n",
            "@e size 4 align 4 = {opaque}",
            "%x = load i16 (@a + 2), align 2",
        ],
    );
}

#[test]
fn locations_know_where_they_were_inlined() {
    check(
        "define i32 @f(i32 %x) !dbg !4 { %y = add i32 %x, 1, !dbg !7
            ret i32 %y, !dbg !8 }
        !llvm.dbg.cu = !{!0}
        !llvm.module.flags = !{!2}
        !0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
        !1 = !DIFile(filename: \"a.c\", directory: \"/src\")
        !2 = !{i32 2, !\"Debug Info Version\", i32 3}
        !3 = !DISubroutineType(types: !{})
        !4 = distinct !DISubprogram(name: \"f\", scope: !1, file: !1, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
        !5 = distinct !DISubprogram(name: \"g\", scope: !1, file: !6, line: 9, type: !3, unit: !0, spFlags: DISPFlagDefinition)
        !6 = !DIFile(filename: \"b.h\", directory: \"/src\")
        !7 = !DILocation(line: 10, column: 4, scope: !5, inlinedAt: !8)
        !8 = !DILocation(line: 2, column: 3, scope: !9)
        !9 = distinct !DILexicalBlock(scope: !4, file: !1, line: 2)",
        &[
            "loc 0 = \"a.c\":2:3 in \"f\"",
            "loc 1 = \"b.h\":10:4 in \"g\" inlined at 0",
        ],
    );
}

#[test]
fn machines_that_core_does_not_compute_with_are_refused() {
    for (layout, expected) in [
        ("E-p:64:64", "not a 64-bit little-endian one"),
        ("e-p:32:32", "not a 64-bit little-endian one"),
        ("e-p:64:64-f64:32:32", "its size or alignment on the target"),
    ] {
        let text = format!(
            "target datalayout = \"{layout}\"\n@g = global {{ i8, double }} zeroinitializer\ndefine void @f({{ i8, double }} %x) {{ ret void }}"
        );
        let module = Module::parse(&Context::new(), text.as_bytes(), "test.ll").unwrap();
        match import(&module) {
            Ok(_) => panic!("{layout} was accepted"),
            Err(diagnostic) => {
                assert!(diagnostic.reason.contains(expected), "{diagnostic}");
            }
        }
    }
}

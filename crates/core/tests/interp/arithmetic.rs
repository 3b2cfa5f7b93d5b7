//! The semantics of arithmetic, comparisons and casts.

use super::{check, check_body};

#[test]
fn integers() {
    for (ty, instruction, expected) in [
        ("i8", "add 127, 1 : i8", "-128"),
        ("i8", "add nsw 127, 1 : i8", "poison"),
        ("i8", "add nsw 126, 1 : i8", "127"),
        ("i8", "add nuw -1, 1 : i8", "poison"),
        ("i8", "sub nuw 0, 1 : i8", "poison"),
        ("i8", "sub nsw 0, -128 : i8", "poison"),
        ("i64", "mul nsw 0x4000000000000000, 2 : i64", "poison"),
        ("i64", "mul 0x4000000000000000, 4 : i64", "0"),
        ("i128", "mul nuw -1, 2 : i128", "poison"),
        ("i8", "udiv -1, 2 : i8", "127"),
        ("i8", "sdiv -7, 2 : i8", "-3"),
        ("i8", "sdiv exact -7, 2 : i8", "poison"),
        ("i8", "sdiv exact -8, 2 : i8", "-4"),
        ("i8", "udiv 1, 0 : i8", "Division"),
        ("i8", "sdiv -128, -1 : i8", "Division"),
        ("i8", "srem -128, -1 : i8", "Division"),
        ("i8", "srem -7, 2 : i8", "-1"),
        ("i8", "urem -7, 2 : i8", "1"),
        ("i8", "udiv poison, 2 : i8", "poison"),
        ("i8", "udiv 2, poison : i8", "Poison"),
        ("i8", "shl 1, 7 : i8", "-128"),
        ("i8", "shl nsw 1, 7 : i8", "poison"),
        ("i8", "shl nuw 3, 7 : i8", "poison"),
        ("i8", "shl 1, 8 : i8", "poison"),
        ("i8", "lshr -1, 1 : i8", "127"),
        ("i8", "lshr exact -1, 1 : i8", "poison"),
        ("i8", "ashr -2, 1 : i8", "-1"),
        ("i8", "or disjoint 1, 3 : i8", "poison"),
        ("i8", "or disjoint 1, 2 : i8", "3"),
        ("i8", "xor 5, -1 : i8", "-6"),
        ("i8", "add poison, 1 : i8", "poison"),
        ("i8", "freeze poison : i8", "0"),
        ("i33", "add 0xffffffff, 1 : i33", "-4294967296"),
        ("i1", "icmp ult -1:i8, 1:i8", "false"),
        ("i1", "icmp slt -1:i8, 1:i8", "true"),
        ("i1", "icmp samesign slt -1:i8, 1:i8", "poison"),
        ("i1", "icmp eq null:ptr, null:ptr", "true"),
        ("i8", "select true, 1, poison : i8", "1"),
        ("i8", "select poison, 1, 1 : i8", "poison"),
        (
            "<2 x i8>",
            "add {1, poison}, {2, 3} : <2 x i8>",
            "{3, poison}",
        ),
        (
            "<2 x i8>",
            "select {true, false}:<2 x i1>, {1, 2}, {3, 4} : <2 x i8>",
            "{1, 4}",
        ),
    ] {
        check(ty, instruction, expected);
    }
}

#[test]
fn floats() {
    for (ty, instruction, expected) in [
        ("f64", "fadd 0.1, 0.2 : f64", "0.30000000000000004"),
        ("f32", "fadd 16777216.0, 1.0 : f32", "16777216.0"),
        ("f32", "fmul 1e30, 1e30 : f32", "inf"),
        ("f16", "fadd 2048.0, 1.0 : f16", "2048.0"),
        ("f16", "fadd 65504.0, 65504.0 : f16", "inf"),
        ("bf16", "fadd 256.0, 1.0 : bf16", "256.0"),
        ("f64", "fadd nnan nan, 1.0 : f64", "poison"),
        ("f64", "fdiv ninf 1.0, 0.0 : f64", "poison"),
        ("f64", "fdiv 1.0, 0.0 : f64", "inf"),
        ("f64", "frem 5.5, -2.0 : f64", "1.5"),
        ("f64", "fneg 0.0 : f64", "-0.0"),
        ("x86_fp80", "fmul 1.5, 2.0 : x86_fp80", "3.0"),
        ("f128", "fsub 1.0, 3.0 : f128", "-2.0"),
        ("i1", "fcmp olt 1.0:f64, nan:f64", "false"),
        ("i1", "fcmp ult 1.0:f64, nan:f64", "true"),
        ("i1", "fcmp one 1.0:f64, 2.0:f64", "true"),
        ("i1", "fcmp oeq 0.0:f64, -0.0:f64", "true"),
        (
            "f64",
            "math fma 0.1, 10.0, -1.0 : f64",
            "5.551115123125783e-17",
        ),
        ("f64", "math fminimum nan, 1.0 : f64", "NaN"),
        ("f64", "math fmin nan, 1.0 : f64", "1.0"),
        ("f64", "math fmaximum -0.0, 0.0 : f64", "0.0"),
        ("f64", "math roundeven 2.5 : f64", "2.0"),
        ("f64", "math round 2.5 : f64", "3.0"),
        ("f64", "math copysign 3.0, -0.0 : f64", "-3.0"),
        ("f64", "math powi 2.0, -2:i32 : f64", "0.25"),
        ("f64", "math ldexp 3.0, 4:i32 : f64", "48.0"),
        ("f64", "math logb 0.3 : f64", "-2.0"),
        ("f64", "math frexp_mantissa 12.0 : f64", "0.75"),
        ("f64", "math remainder 5.0, 3.0 : f64", "-1.0"),
        (
            "<2 x f64>",
            "math sqrt {4.0, 9.0} : <2 x f64>",
            "{2.0, 3.0}",
        ),
        (
            "<2 x f64>",
            "math powi {2.0, 3.0}, 2:i32 : <2 x f64>",
            "{4.0, 9.0}",
        ),
    ] {
        check(ty, instruction, expected);
    }
}

#[test]
fn casts() {
    for (ty, instruction, expected) in [
        ("i8", "trunc 300:i32 : i8", "44"),
        ("i8", "trunc nuw 300:i32 : i8", "poison"),
        ("i8", "trunc nsw 200:i32 : i8", "poison"),
        ("i32", "zext -1:i8 : i32", "255"),
        ("i32", "zext nneg -1:i8 : i32", "poison"),
        ("i32", "sext -1:i8 : i32", "-1"),
        ("i8", "fptosi -128.9:f64 : i8", "-128"),
        ("i8", "fptosi 128.0:f64 : i8", "poison"),
        ("i8", "fptoui -1.0:f64 : i8", "poison"),
        ("i8", "fptoui nan:f64 : i8", "poison"),
        ("f64", "uitofp -1:i8 : f64", "255.0"),
        ("f64", "uitofp nneg -1:i8 : f64", "poison"),
        ("f64", "sitofp -1:i8 : f64", "-1.0"),
        // Rounding twice would give 9007199791611904.
        (
            "f32",
            "sitofp 9007199791611905:i64 : f32",
            "9007200328482816.0",
        ),
        ("f32", "fptrunc 0.1:f64 : f32", "0.10000000149011612"),
        ("f64", "fpext 0.5:f32 : f64", "0.5"),
        ("i64", "bitcast 1.0:f64 : i64", "4607182418800017408"),
        ("<2 x i32>", "bitcast 0x200000001:i64 : <2 x i32>", "{1, 2}"),
        (
            "i4",
            "bitcast {true, false, true, false}:<4 x i1> : i4",
            "5",
        ),
        (
            "<4 x i1>",
            "bitcast 10:i4 : <4 x i1>",
            "{false, true, false, true}",
        ),
    ] {
        check(ty, instruction, expected);
    }
}

#[test]
fn parts() {
    for (ty, instruction, expected) in [
        ("f64", "extractelement {1.0, 2.0}:<2 x f64>, 1 : f64", "2.0"),
        (
            "f64",
            "extractelement {1.0, 2.0}:<2 x f64>, 2 : f64",
            "poison",
        ),
        (
            "<2 x f64>",
            "insertelement poison, 3.0, 0 : <2 x f64>",
            "{3.0, poison}",
        ),
        (
            "<3 x i8>",
            "shuffle {1, 2}:<2 x i8>, {3, 4}:<2 x i8>, [3, -1, 0] : <3 x i8>",
            "{4, poison, 1}",
        ),
        (
            "i32",
            "extract {1.0, {2, 3}}:{f64, [2 x i32]}, [1, 1] : i32",
            "3",
        ),
        (
            "{f64, [2 x i32]}",
            "insert zero, 7, [1, 1] : {f64, [2 x i32]}",
            "{0.0, {0, 7}}",
        ),
        ("{f64, i8}", "freeze {1.0, poison} : {f64, i8}", "{1.0, 0}"),
    ] {
        check(ty, instruction, expected);
    }
}

#[test]
fn control() {
    for (body, expected) in [
        ("branch poison, a, b\na:\nreturn 1\nb:\nreturn 2", "Poison"),
        ("branch false, a, b\na:\nreturn 1\nb:\nreturn 2", "2"),
        (
            "switch 3:i8, 3: a, default: b\na:\nreturn 1\nb:\nreturn 2",
            "1",
        ),
        (
            "switch -1:i8, 3: a, default: b\na:\nreturn 1\nb:\nreturn 2",
            "2",
        ),
        ("unreachable", "Unreachable"),
        // Arguments of an edge are passed all at once.
        (
            "jump a(1, 2, 0)\na(%x: i64, %y: i64, %n: i64):\n%c = icmp eq %n, 1\nbranch %c, b, d\n\
          d:\njump a(%y, %x, 1)\nb:\nreturn %x",
            "2",
        ),
    ] {
        check_body("i64", body, expected);
    }
}

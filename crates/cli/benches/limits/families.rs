//! Programs that are large in one way each.

use std::fmt::Write;

/// Programs of one kind at several sizes.
pub struct Family {
    /// What the table calls it.
    pub name: &'static str,
    /// The sizes to try.
    pub sizes: &'static [usize],
    /// The program of one size.
    pub program: fn(usize) -> String,
}

/// All of them.
pub const FAMILIES: &[Family] = &[
    // Statements of a function without branches.
    Family {
        name: "straight",
        sizes: &[3_000, 10_000, 30_000, 100_000],
        program: straight,
    },
    // Statements that go through memory.
    Family {
        name: "memory",
        sizes: &[3_000, 10_000, 30_000, 100_000],
        program: memory,
    },
    // Branches in a row. Three times as many would take half an hour.
    Family {
        name: "branches",
        sizes: &[1_000, 3_000, 10_000],
        program: branches,
    },
    // Loops in a row.
    Family {
        name: "loops",
        sizes: &[100, 300, 1_000],
        program: loops,
    },
    // Loops in each other.
    Family {
        name: "nested",
        sizes: &[3, 6, 9, 12],
        program: nested,
    },
    // Requests for functions of their own.
    Family {
        name: "requests",
        sizes: &[100, 300, 1_000],
        program: requests,
    },
    // Requests for one function.
    Family {
        name: "same",
        sizes: &[100, 300, 1_000],
        program: same,
    },
    // Functions that call the next one.
    Family {
        name: "chain",
        sizes: &[300, 1_000, 3_000, 10_000],
        program: chain,
    },
    // Functions that call two more.
    Family {
        name: "tree",
        sizes: &[300, 1_000, 3_000, 10_000],
        program: tree,
    },
    // Functions that all call the same few.
    Family {
        name: "few",
        sizes: &[300, 1_000, 3_000, 10_000],
        program: few,
    },
];

const HEADER: &str = "double __enzyme_autodiff(void *, ...);\nextern int enzyme_dup;\n\
                      double sin(double);\n";

/// A request for `f(double *x, long n)`.
const REQUEST: &str = "void gradient(double *x, double *dx, long n) {\n    \
                       __enzyme_autodiff((void *)f, enzyme_dup, x, dx, n);\n}\n";

fn with(body: impl FnOnce(&mut String)) -> String {
    let mut text = HEADER.to_string();
    body(&mut text);
    text + REQUEST
}

macro_rules! line {
    ($text:expr, $($words:tt)*) => {
        // Writing to a string never fails.
        _ = writeln!($text, $($words)*)
    };
}

fn straight(size: usize) -> String {
    with(|text| {
        line!(
            text,
            "double f(double *x, long n) {{\n    double a = x[0], b = x[1];"
        );
        for i in 0..size / 4 {
            line!(text, "    a = a * b + {i}.5; b = b - a * 0.25;");
        }
        line!(text, "    return a + b;\n}}");
    })
}

fn memory(size: usize) -> String {
    with(|text| {
        line!(text, "double f(double *x, long n) {{");
        for i in 0..size / 4 {
            let (to, from) = (i * 7 % 64, i * 13 % 64);
            line!(text, "    x[{to}] = x[{to}] * x[{from}] + {i}.5;");
        }
        line!(text, "    return x[0];\n}}");
    })
}

fn branches(size: usize) -> String {
    with(|text| {
        line!(text, "double f(double *x, long n) {{\n    double a = x[0];");
        for i in 0..size {
            line!(text, "    if (x[{}] > {i}.0) a = sin(a) * x[1];", i % 64);
        }
        line!(text, "    return a;\n}}");
    })
}

fn loops(size: usize) -> String {
    with(|text| {
        line!(text, "double f(double *x, long n) {{\n    double a = x[0];");
        for i in 0..size {
            line!(
                text,
                "    for (long i = 0; i < n; i++) a = sin(a) * x[i] + {i}.0;"
            );
        }
        line!(text, "    return a;\n}}");
    })
}

fn nested(size: usize) -> String {
    with(|text| {
        line!(text, "double f(double *x, long n) {{\n    double a = x[0];");
        for i in 0..size {
            line!(
                text,
                "    for (long i{i} = 0; i{i} < n; i{i}++) {{ a += x[i{i}] * a;"
            );
        }
        line!(text, "    a = sin(a) * x[1];{}", "}".repeat(size));
        line!(text, "    return a;\n}}");
    })
}

fn requests(size: usize) -> String {
    let mut text = HEADER.to_string();
    for i in 0..size {
        line!(
            text,
            "static double f{i}(double *x, long n) {{\n    double a = 0;\n    \
             for (long i = 0; i < n; i++) a += x[i] * sin(x[i] + {i}.0);\n    return a;\n}}\n\
             void gradient{i}(double *x, double *dx, long n) {{\n    \
             __enzyme_autodiff((void *)f{i}, enzyme_dup, x, dx, n);\n}}"
        );
    }
    text
}

fn same(size: usize) -> String {
    let mut text = HEADER.to_string();
    line!(
        text,
        "static double f(double *x, long n) {{\n    double a = 0;\n    \
         for (long i = 0; i < n; i++) a += x[i] * sin(x[i]);\n    return a;\n}}"
    );
    for i in 0..size {
        line!(
            text,
            "void gradient{i}(double *x, double *dx, long n) {{\n    \
             __enzyme_autodiff((void *)f, enzyme_dup, x, dx, n + {i});\n}}"
        );
    }
    text
}

fn function(text: &mut String, number: usize, calls: &[usize]) {
    _ = write!(
        text,
        "__attribute__((noinline)) static double f{number}(double *x, double a) {{ return a * x[{}]",
        number % 64
    );
    for call in calls {
        _ = write!(text, " + sin(f{call}(x, a * 0.5))");
    }
    line!(text, "; }}");
}

fn calls(size: usize, callees: impl Fn(usize) -> Vec<usize>) -> String {
    with(|text| {
        for i in (0..size).rev() {
            function(text, i, &callees(i));
        }
        line!(
            text,
            "double f(double *x, long n) {{ return f0(x, x[0]); }}"
        );
    })
}

fn chain(size: usize) -> String {
    calls(size, |i| {
        (i + 1 < size).then_some(i + 1).into_iter().collect()
    })
}

fn tree(size: usize) -> String {
    calls(size, |i| {
        let children = [2 * i + 1, 2 * i + 2];
        children.into_iter().filter(|&child| child < size).collect()
    })
}

fn few(size: usize) -> String {
    // The first calls all others, and those the last few.
    let last = size.saturating_sub(4).max(1);
    calls(size, |i| match i {
        0 => (1..last).collect(),
        i if i < last => (last..size).collect(),
        _ => Vec::new(),
    })
}

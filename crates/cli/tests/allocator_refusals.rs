//! Allocators that are registered wrongly: the message has the line, the reason and what to do.

mod common;

use common::{Folder, shown};
use expect_test::{Expect, expect};

/// Compiles a program with a registration of `take`, at two levels; both must be refused with the
/// same message.
fn check(registration: &str, expected: Expect) {
    let source = format!(
        "double __enzyme_autodiff(void *, ...);
struct pool;
void *take(struct pool *pool, unsigned long bytes);
void give(void *memory, struct pool *pool);
{registration}
double f(double x, struct pool *pool) {{
    double *t = take(pool, 8);
    *t = x * x;
    double r = *t * x;
    give(t, pool);
    return r;
}}
int main(void) {{ return (int)__enzyme_autodiff((void *)f, 2.0, (void *)0, (void *)0); }}
"
    );
    let folder = Folder::with(&[("a.c", source.as_str())]);
    for level in ["-O2", "-O0"] {
        let words = format!("cc {level} a.c -o prog");
        expected.assert_eq(&shown(&folder.zymase(&words)));
        assert_eq!(folder.files(), ["a.c"]);
    }
}

#[test]
fn without_free() {
    check(
        r#"void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "-1,0"};"#,
        expect![[r#"
            exit code 1
            error[Z0609]: the allocator `take` is registered without what frees its memory
             --> a.c:5:1
              |
            5 | void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "-1,0"};
              | ^^^^ in `__enzyme_allocation_like_take`
              |
              = note: shadows are allocated by `take` too, and the derivative has to free them; `__enzyme_allocation_like_take` does not say how
              = help: name the function that allocates, the position of the argument with the size in bytes, what the function takes that frees (-1 is the memory, 0 the first argument of the allocation), and that function: {alloc, (void *)0, "-1", release}
        "#]],
    );
}

#[test]
fn null_for_free() {
    check(
        r#"void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "-1,0", (void *)0};"#,
        expect![[r#"
            exit code 1
            error[Z0609]: the allocator `take` is registered without what frees its memory
             --> a.c:5:1
              |
            5 | void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "-1,0", (void *)0};
              | ^^^^ in `__enzyme_allocation_like_take`
              |
              = note: shadows are allocated by `take` too, and the derivative has to free them; `__enzyme_allocation_like_take` does not say how
              = help: name the function that allocates, the position of the argument with the size in bytes, what the function takes that frees (-1 is the memory, 0 the first argument of the allocation), and that function: {alloc, (void *)0, "-1", release}
        "#]],
    );
}

#[test]
fn annotated_without_free() {
    check(
        r#"__attribute__((annotate("enzyme_allocation_like=1"))) void *take(struct pool *pool, unsigned long bytes);"#,
        expect![[r#"
            exit code 1
            error[Z0609]: the allocator `take` is registered without what frees its memory
             --> a.c:5:1
              |
            5 | __attribute__((annotate("enzyme_allocation_like=1"))) void *take(struct pool *pool, unsigned long bytes);
              | ^^^^^^^^^^^^^ in `take`
              |
              = note: shadows are allocated by `take` too, and the derivative has to free them; `enzyme_allocation_like=1` does not say how
              = help: name the function that allocates, the position of the argument with the size in bytes, what the function takes that frees (-1 is the memory, 0 the first argument of the allocation), and that function: {alloc, (void *)0, "-1", release}
        "#]],
    );
}

#[test]
fn size_that_is_no_argument() {
    check(
        r#"void *__enzyme_allocation_like_take[] = {(void *)take, (void *)2, "-1,0", (void *)give};"#,
        expect![[r#"
            exit code 1
            error[Z0609]: argument 2 of the allocator `take` is no size in bytes
             --> a.c:5:1
              |
            5 | void *__enzyme_allocation_like_take[] = {(void *)take, (void *)2, "-1,0", (void *)give};
              | ^^^^ in `__enzyme_allocation_like_take`
              |
              = note: `__enzyme_allocation_like_take` says that it is, but `take` takes 2 arguments
              = help: give the position of the argument with the size; the first one is 0
        "#]],
    );
}

#[test]
fn size_that_is_no_integer() {
    check(
        r#"void *__enzyme_allocation_like_take[] = {(void *)take, (void *)0, "-1,0", (void *)give};"#,
        expect![[r#"
            exit code 1
            error[Z0609]: argument 0 of the allocator `take` is no size in bytes
             --> a.c:5:1
              |
            5 | void *__enzyme_allocation_like_take[] = {(void *)take, (void *)0, "-1,0", (void *)give};
              | ^^^^ in `__enzyme_allocation_like_take`
              |
              = note: `__enzyme_allocation_like_take` says that it is, but it is no integer
              = help: give the position of the argument with the size; the first one is 0
        "#]],
    );
}

#[test]
fn free_with_too_few_arguments() {
    check(
        r#"void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "-1", (void *)give};"#,
        expect![[r#"
            exit code 1
            error[Z0609]: `give` cannot be called to free what `take` allocates
             --> a.c:5:1
              |
            5 | void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "-1", (void *)give};
              | ^^^^ in `__enzyme_allocation_like_take`
              |
              = note: it takes 2 arguments, and "-1" lists 1; that is what `__enzyme_allocation_like_take` says
              = help: list what `give` takes, in its order: -1 for the memory, and for others the positions of the arguments of `take`, as in "-1,0"
        "#]],
    );
}

#[test]
fn free_with_an_argument_that_there_is_not() {
    check(
        r#"void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "-1,2", (void *)give};"#,
        expect![[r#"
            exit code 1
            error[Z0609]: `give` cannot be called to free what `take` allocates
             --> a.c:5:1
              |
            5 | void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "-1,2", (void *)give};
              | ^^^^ in `__enzyme_allocation_like_take`
              |
              = note: `take` takes 2 arguments, and "-1,2" asks for 2; that is what `__enzyme_allocation_like_take` says
              = help: list what `give` takes, in its order: -1 for the memory, and for others the positions of the arguments of `take`, as in "-1,0"
        "#]],
    );
}

#[test]
fn free_with_an_argument_of_another_type() {
    check(
        r#"void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "-1,1", (void *)give};"#,
        expect![[r#"
            exit code 1
            error[Z0609]: `give` cannot be called to free what `take` allocates
             --> a.c:5:1
              |
            5 | void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "-1,1", (void *)give};
              | ^^^^ in `__enzyme_allocation_like_take`
              |
              = note: 1 in "-1,1" has another type than its argument 1; that is what `__enzyme_allocation_like_take` says
              = help: list what `give` takes, in its order: -1 for the memory, and for others the positions of the arguments of `take`, as in "-1,0"
        "#]],
    );
}

#[test]
fn free_without_the_memory() {
    check(
        r#"void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "0,0", (void *)give};"#,
        expect![[r#"
            exit code 1
            error[Z0609]: `give` cannot be called to free what `take` allocates
             --> a.c:5:1
              |
            5 | void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "0,0", (void *)give};
              | ^^^^ in `__enzyme_allocation_like_take`
              |
              = note: "0,0" does not say once where the memory goes, with -1; that is what `__enzyme_allocation_like_take` says
              = help: list what `give` takes, in its order: -1 for the memory, and for others the positions of the arguments of `take`, as in "-1,0"
        "#]],
    );
}

#[test]
fn free_with_something_else() {
    check(
        r#"void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "memory,0", (void *)give};"#,
        expect![[r#"
            exit code 1
            error[Z0609]: `give` cannot be called to free what `take` allocates
             --> a.c:5:1
              |
            5 | void *__enzyme_allocation_like_take[] = {(void *)take, (void *)1, "memory,0", (void *)give};
              | ^^^^ in `__enzyme_allocation_like_take`
              |
              = note: `memory` in "memory,0" is no position of an argument; that is what `__enzyme_allocation_like_take` says
              = help: list what `give` takes, in its order: -1 for the memory, and for others the positions of the arguments of `take`, as in "-1,0"
        "#]],
    );
}

#[test]
fn other_entries() {
    check(
        r#"void *__enzyme_allocation_like_take[] = {(void *)take, "1", "-1,0", (void *)give};"#,
        expect![[r#"
            exit code 1
            error[Z0609]: cannot read the registration `__enzyme_allocation_like_take`
             --> a.c:5:1
              |
            5 | void *__enzyme_allocation_like_take[] = {(void *)take, "1", "-1,0", (void *)give};
              | ^^^^ in `__enzyme_allocation_like_take`
              |
              = note: it should have the entries {alloc, (void *)size_argument, "arguments of free", free}, known at compile time
              = help: name the function that allocates, the position of the argument with the size in bytes, what the function takes that frees (-1 is the memory, 0 the first argument of the allocation), and that function: {alloc, (void *)0, "-1", release}
        "#]],
    );
}

/// Whoever takes back all memory at once takes back shadows.
#[test]
fn memory_that_is_taken_back() {
    let source = "double __enzyme_autodiff(void *, ...);
static char arena[4096];
static unsigned long top;
static void *take(unsigned long bytes) { return arena + (top += 16); }
static void give(void *memory) {}
void *__enzyme_allocation_like_take[] = {take, (void *)0, \"-1\", give};
double f(double x) {
    double *t = take(8);
    *t = x * x;
    double r = *t * x;
    top = 0;
    return r;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
";
    let folder = Folder::with(&[("a.c", source)]);
    let expected = expect![[r#"
            exit code 1
            error[Z0403]: cannot tell what becomes of shadows that `take` allocates
              --> a.c:11:9
               |
            11 |     top = 0;
               |         ^^^^ in `f`
               |
              ::: a.c:14:30
               |
            14 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
               |                              ----------------- asked for here, in `main`
               |
               = note: `top`, in which it keeps what it knows, is changed here, so memory may be taken back that the reverse sweep still needs
               = help: free each piece of memory with the function that is registered for it, and take back all of it only after the derivative
        "#]];
    for level in ["-O2", "-O0"] {
        expected.assert_eq(&shown(&folder.zymase(&format!("cc {level} a.c -o prog"))));
    }
}

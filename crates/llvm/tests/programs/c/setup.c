// Constructors, destructors, weak and aliased symbols, sections, attributes.
#include <stdio.h>
#include <stdlib.h>
static int order; __attribute__((constructor)) static void before(void) { order = 7; } static void at_end(void) { puts("bye"); } __attribute__((destructor)) static void after(void) { puts("after"); }
int original(int x) { return x * 3; } extern int other(int x) __attribute__((alias("original"))); __attribute__((weak)) int weak_one(void) { return 11; } extern int missing(void) __attribute__((weak)); int shared = 5; extern int alias_of_shared __attribute__((alias("shared")));
__attribute__((noinline, cold)) static int rare(int x) { return x - 1; } __attribute__((const)) static int pure(int x) { return x * x; } __attribute__((noreturn)) static void quit(int code) { fflush(stdout); exit(code); } __attribute__((aligned(64))) static char buffer[64]; __attribute__((used, section("special"))) static int placed = 3;
int main(void) { atexit(at_end); shared++; printf("%d %d %d %d %d %d %d %d\n", order, other(5), weak_one(), missing ? missing() : -1, alias_of_shared, rare(3) + pure(4), (int)((unsigned long)buffer % 64), placed); if (__builtin_expect(order == 7, 1)) quit(0); return 9; }

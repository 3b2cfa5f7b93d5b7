// Inline assembly with inputs, outputs, memory and clobbers.
#include <stdio.h>
#if defined(__x86_64__)
static long add(long a, long b) { long r; __asm__("leaq (%1,%2), %0" : "=r"(r) : "r"(a), "r"(b)); return r; }
static void divide(unsigned a, unsigned b, unsigned *q, unsigned *r) { unsigned d = 0; __asm__("divl %4" : "=a"(*q), "=d"(*r) : "0"(a), "1"(d), "r"(b) : "cc"); }
static int twice(int x) { __asm__ volatile("addl %0, %0" : "+r"(x)::"cc"); return x; }
static void store(int *p, int v) { __asm__ volatile("movl %1, %0" : "=m"(*p) : "r"(v) : "memory"); }
static int branch(int x) { __asm__ goto("testl %0, %0\n\tjz %l1" ::"r"(x) : "cc" : zero); return 1; zero: return 0; }
#else
static long add(long a, long b) { return a + b; } static void divide(unsigned a, unsigned b, unsigned *q, unsigned *r) { *q = a / b; *r = a % b; } static int twice(int x) { return 2 * x; } static void store(int *p, int v) { *p = v; } static int branch(int x) { return x != 0; }
#endif
int main(void) { unsigned q, r; int m; divide(1000, 7, &q, &r); store(&m, 55); __asm__ volatile("" ::: "memory"); printf("%ld %u %u %d %d %d %d\n", add(40, 2), q, r, twice(21), m, branch(0), branch(3)); }

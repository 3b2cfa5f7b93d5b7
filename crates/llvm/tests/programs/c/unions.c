// Unions and looking at the bits of floats.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
union number { double d; uint64_t u; struct { uint32_t lo, hi; } parts; unsigned char bytes[8]; };
struct tagged { enum { INT, FLOAT, TEXT } kind; union { long i; double f; const char *s; }; };
static void show(const struct tagged *t) { switch (t->kind) { case INT: printf("int %ld\n", t->i); break; case FLOAT: printf("float %g\n", t->f); break; case TEXT: printf("text %s\n", t->s); break; } }
static float inverse_root(float x) { uint32_t i; float y; memcpy(&i, &x, 4); i = 0x5f3759df - (i >> 1); memcpy(&y, &i, 4); return y * (1.5f - 0.5f * x * y * y); }
int main(void) {
  union number n = {.d = -1.5}; printf("%016llx %08x %d\n", (unsigned long long)n.u, n.parts.hi, n.bytes[7]);
  n.u ^= 1ull << 63; printf("%g\n", n.d);
  struct tagged all[] = {{INT, .i = 7}, {FLOAT, .f = 2.25}, {TEXT, .s = "seven"}};
  for (int i = 0; i < 3; i++) show(&all[i]);
  printf("%.4f\n", inverse_root(16));
}

// Bit fields, packed structures and alignment.
#include <stdio.h>
#include <stddef.h>
#include <string.h>
struct flags { unsigned a : 3; int b : 5; unsigned c : 1; unsigned long d : 40; unsigned e : 15; }; struct __attribute__((packed)) wire { char kind; int length; short check; double value; }; struct aligned { char c; _Alignas(32) double v[3]; };
int main(void) {
  struct flags f = {5, -7, 1, 0x123456789aull, 777}; f.a += 4; f.b -= 10; f.c ^= 1; f.d <<= 3; f.e = f.e * 100 + f.a; printf("%u %d %u %llx %u %zu\n", f.a, f.b, f.c, (unsigned long long)f.d, f.e, sizeof f);
  struct wire w = {'w', 1 << 20, -3, 6.25}; char raw[sizeof w]; memcpy(raw, &w, sizeof w); struct wire x; memcpy(&x, raw, sizeof x); x.length++; x.value *= w.check; printf("%c %d %d %g %zu %zu\n", x.kind, x.length, x.check, x.value, sizeof x, offsetof(struct wire, value));
  struct aligned a = {'a', {1, 2, 3}}; printf("%d %zu %g\n", (int)((size_t)&a.v % 32), sizeof a, a.v[0] + a.v[2]);
}

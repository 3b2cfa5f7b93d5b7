// Vector types of the compiler: arithmetic, comparisons, shuffles, conversions.
#include <stdio.h>
typedef float f4 __attribute__((vector_size(16))); typedef int i4 __attribute__((vector_size(16))); typedef double d2 __attribute__((vector_size(16))); typedef unsigned char b16 __attribute__((vector_size(16))); typedef long l4 __attribute__((vector_size(32))); typedef float f3 __attribute__((ext_vector_type(3)));
static f4 cross(f4 a, f4 b) { return __builtin_shufflevector(a, a, 1, 2, 0, 3) * __builtin_shufflevector(b, b, 2, 0, 1, 3) - __builtin_shufflevector(a, a, 2, 0, 1, 3) * __builtin_shufflevector(b, b, 1, 2, 0, 3); }
static int lane(i4 v, int i) { return v[i & 3]; }
int main(int argc, char **argv) { (void)argv;
  f4 a = {1, 2, 3, 0}, b = {-4, 5, 6, 0}, c = cross(a, b); i4 m = a < b, k = {1, 2, 3, 4}; k = (k << 2) + m * 3 - (k == 3); k[argc & 3] = 99; d2 d = __builtin_convertvector((__attribute__((vector_size(8))) float){1.5f, 2.5f}, d2) / 3; b16 bytes = (b16)k + 7; l4 wide = {1, -2, 3, -4}; l4 up = wide > 0; wide = (up & wide * 10) | (~up & -wide); f3 t = {1, 2, 3}; t = t.zxy * 2.0f;
  printf("%g %g %g %d %d %d %d %g\n", c[0], c[1], c[2], k[0], lane(k, 1), lane(k, argc + 1), m[0], d[0] + d[1]); int s = 0; for (int i = 0; i < 16; i++) s = s * 3 + bytes[i]; printf("%d %ld %ld %g %g\n", s, wide[0] + wide[2], wide[1] * wide[3], t.x, t.z); }

// Bit tricks, rotations, wide multiplication, overflow checks.
#include <stdint.h>
#include <stdio.h>
static uint32_t reverse(uint32_t x) { x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1; x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2; x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4; return __builtin_bswap32(x); }
static uint64_t rotate(uint64_t x, int k) { return x << (k & 63) | x >> (-k & 63); }
static int parity(uint64_t x) { int p = 0; while (x) { p ^= 1; x &= x - 1; } return p; }
static uint32_t gray(uint32_t x) { return x ^ x >> 1; }
int main(void) {
  for (uint64_t x = 1, i = 0; i < 12; i++, x = rotate(x * 0x9e3779b97f4a7c15ull + i, (int)(i * 5)))
    printf("%08x %d %d %d %d %u %016llx\n", reverse((uint32_t)x), __builtin_popcountll(x), __builtin_clzll(x | 1), __builtin_ctzll(x | 1ull << 40), parity(x), gray((uint32_t)x) & 1023, (unsigned long long)(((unsigned __int128)x * x) >> 64));
  int r; printf("%d", __builtin_add_overflow(2147483647, 1, &r)); printf(" %d", __builtin_mul_overflow(46341, 46341, &r)); printf(" %d\n", __builtin_sub_overflow(5, 7, &r));
  int8_t s = (int8_t)200; printf("%d %d %u\n", s, s >> 2, (unsigned)(uint8_t)s >> 2);
}

// Small integers, signs and promotions, short circuits, the comma, ternaries.
#include <stdio.h>
#include <limits.h>
static int calls; static int note(int x) { calls = calls * 10 + x; return x % 2; }
static short narrow(int x) { return (short)x; } static unsigned short fold(unsigned char a, signed char b) { return (unsigned short)(a + b); }
static const char *sign(int x) { return x < 0 ? "minus" : x > 0 ? "plus" : "zero"; }
int main(void) {
  int r = (note(2) && note(1)) || (note(3) && note(4)) || note(5); printf("%d %d\n", r, calls); printf("%d %d %u\n", narrow(40000), fold(200, -100), (unsigned)fold(10, -20)); unsigned u = 3; int i = -4; printf("%d %d %u\n", i < (int)u, (unsigned)i < u, u - 5 > 100u);
  char c = CHAR_MAX; c++; signed char s = SCHAR_MIN; s--; unsigned char b = 0; b--; printf("%d %d %d %s %s\n", c, s, b, sign(-3), sign(0)); int x = (calls = 1, calls + 1), y = x++ + ++x; printf("%d %d %d %d\n", x, y, -7 / 2, -7 % 2); printf("%lld %lld\n", LLONG_MAX, (long long)INT_MIN * -1); long long shifts = 1; for (int k = 0; k < 62; k += 9) shifts ^= 1ll << k | -1ll << (62 - k); printf("%lld %d\n", shifts, !!shifts);
}

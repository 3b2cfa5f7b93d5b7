// The widest float of the machine, and its mathematics.
#include <math.h>
#include <stdio.h>
static long double pi(void) { long double s = 0; for (int k = 0; k < 30; k++) { long double p = 1; for (int i = 0; i < k; i++) p /= 16; s += p * (4.0L / (8 * k + 1) - 2.0L / (8 * k + 4) - 1.0L / (8 * k + 5) - 1.0L / (8 * k + 6)); } return s; }
static long double newton(long double x) { long double y = x / 2; for (int i = 0; i < 40; i++) y = (y + x / y) / 2; return y; }
struct pair { long double a; int b; };
static __attribute__((noinline)) struct pair make(long double a, int b) { return (struct pair){a * b, b + 1}; }
int main(void) {
  printf("%.18Lf\n%.18Lf\n%.15Lf\n", pi(), newton(2), sinl(1.0L) * sinl(1.0L) + cosl(1.0L) * cosl(1.0L));
  struct pair p = make(1.25L, 3); printf("%Lg %d %d %Lg\n", p.a, p.b, (int)p.a, fmodl(10.5L, 3.0L));
  volatile double d = 0.1; printf("%d %.20Lf\n", (long double)d == 0.1L, (long double)d);
}

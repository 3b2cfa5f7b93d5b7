// The mathematical functions of the C library in both precisions.
#include <math.h>
#include <stdio.h>
#define ROW(name) printf(#name " %.10g %.5g\n", name(x), (double)name##f((float)x))
#define ROW2(name) printf(#name " %.10g %.5g\n", name(x, y), (double)name##f((float)x, (float)y))
int main(void) {
  for (double x = 0.25; x < 1; x += 0.3) {
    double y = 1.7 - x;
    ROW(sin); ROW(cos); ROW(tan); ROW(asin); ROW(acos); ROW(atan); ROW(sinh); ROW(cosh); ROW(tanh); ROW(asinh); ROW(atanh); ROW(exp); ROW(exp2); ROW(expm1); ROW(log); ROW(log2); ROW(log10); ROW(log1p); ROW(sqrt); ROW(cbrt); ROW(erf); ROW(erfc); ROW(tgamma); ROW(lgamma); ROW(floor); ROW(ceil); ROW(trunc); ROW(round); ROW(rint); ROW(nearbyint); ROW(fabs); ROW(logb);
    ROW2(pow); ROW2(atan2); ROW2(hypot); ROW2(fmin); ROW2(fmax); ROW2(fmod); ROW2(remainder); ROW2(copysign); ROW2(fdim);
    printf("%.10g %.10g %.10g %.10g %.10g\n", acosh(1 + x), fma(x, y, 3), ldexp(x, 5), scalbn(x, -3), j0(x) + j1(x) + jn(2, x) + y0(x) + y1(x) + yn(2, x));
    int e; double whole; double m = frexp(x * 100, &e); double part = modf(x * 7, &whole); printf("%g %d %g %g %ld %ld\n", m, e, whole, part, lround(x * 9), lrint(x * 9));
  }
}

// Every function of the C mathematical library, in three precisions: both modes, and one order
// higher by differentiating the derivative.
#define _GNU_SOURCE
#include "check.h"

// A function of one number, its versions for float and long double, and its derivative, of which the
// derivative is asked for in turn.
#define FUNCTION(name, expression, narrow, wide)                                        \
  static double of_##name(double x) { return expression; }                              \
  static double of_##name##_float(double x) { float y = (float)x; return narrow; }      \
  static double of_##name##_long(double x) { long double y = x; return (double)(wide); } \
  static double slope_of_##name(double x) { return __enzyme_fwddiff((void *)of_##name, x, 1.0); }

FUNCTION(exp, exp(x), expf(y), expl(y))
FUNCTION(exp2, exp2(x), exp2f(y), exp2l(y))
FUNCTION(expm1, expm1(x), expm1f(y), expm1l(y))
FUNCTION(log, log(x), logf(y), logl(y))
FUNCTION(log2, log2(x), log2f(y), log2l(y))
FUNCTION(log10, log10(x), log10f(y), log10l(y))
FUNCTION(log1p, log1p(x), log1pf(y), log1pl(y))
FUNCTION(sqrt, sqrt(x), sqrtf(y), sqrtl(y))
FUNCTION(cbrt, cbrt(x), cbrtf(y), cbrtl(y))
FUNCTION(fabs, fabs(x), fabsf(y), fabsl(y))
FUNCTION(floor, floor(x), floorf(y), floorl(y))
FUNCTION(ceil, ceil(x), ceilf(y), ceill(y))
FUNCTION(trunc, trunc(x), truncf(y), truncl(y))
FUNCTION(round, round(x), roundf(y), roundl(y))
FUNCTION(rint, rint(x), rintf(y), rintl(y))
FUNCTION(nearbyint, nearbyint(x), nearbyintf(y), nearbyintl(y))
FUNCTION(sin, sin(x), sinf(y), sinl(y))
FUNCTION(cos, cos(x), cosf(y), cosl(y))
FUNCTION(tan, tan(x), tanf(y), tanl(y))
FUNCTION(asin, asin(x), asinf(y), asinl(y))
FUNCTION(acos, acos(x), acosf(y), acosl(y))
FUNCTION(atan, atan(x), atanf(y), atanl(y))
FUNCTION(sinh, sinh(x), sinhf(y), sinhl(y))
FUNCTION(cosh, cosh(x), coshf(y), coshl(y))
FUNCTION(tanh, tanh(x), tanhf(y), tanhl(y))
FUNCTION(asinh, asinh(x), asinhf(y), asinhl(y))
FUNCTION(acosh, acosh(x), acoshf(y), acoshl(y))
FUNCTION(atanh, atanh(x), atanhf(y), atanhl(y))
FUNCTION(erf, erf(x), erff(y), erfl(y))
FUNCTION(erfc, erfc(x), erfcf(y), erfcl(y))
FUNCTION(tgamma, tgamma(x), tgammaf(y), tgammal(y))
FUNCTION(lgamma, lgamma(x), lgammaf(y), lgammal(y))
FUNCTION(j0, j0(x), j0f(y), j0l(y))
FUNCTION(j1, j1(x), j1f(y), j1l(y))
FUNCTION(y0, y0(x), y0f(y), y0l(y))
FUNCTION(y1, y1(x), y1f(y), y1l(y))
FUNCTION(pow, pow(x, 2.3), powf(y, 2.3f), powl(y, 2.3L))
FUNCTION(pow_exponent, pow(1.7, x), powf(1.7f, y), powl(1.7L, y))
FUNCTION(hypot, hypot(x, 1.3), hypotf(y, 1.3f), hypotl(y, 1.3L))
FUNCTION(copysign, copysign(x, -2.0), copysignf(y, -2.0f), copysignl(y, -2.0L))
FUNCTION(fma, fma(x, x, 3 * x), fmaf(y, y, 3 * y), fmal(y, y, 3 * y))
FUNCTION(fmin, fmin(x * x, 2.0), fminf(y * y, 2.0f), fminl(y * y, 2.0L))
FUNCTION(fmax, fmax(x * x, 0.1), fmaxf(y * y, 0.1f), fmaxl(y * y, 0.1L))
FUNCTION(fdim, fdim(x * x, 0.1), fdimf(y * y, 0.1f), fdiml(y * y, 0.1L))
FUNCTION(fmod, fmod(7.3, x), fmodf(7.3f, y), fmodl(7.3L, y))
FUNCTION(remainder, remainder(7.3, x), remainderf(7.3f, y), remainderl(7.3L, y))
FUNCTION(ldexp, ldexp(x * x, 3), ldexpf(y * y, 3), ldexpl(y * y, 3))
FUNCTION(atan2, atan2(x, 1.5), atan2f(y, 1.5f), atan2l(y, 1.5L))
FUNCTION(atan2_second, atan2(1.5, x), atan2f(1.5f, y), atan2l(1.5L, y))
FUNCTION(jn, jn(2, x), jnf(2, y), jnl(2, y))
FUNCTION(yn, yn(2, x), ynf(2, y), ynl(2, y))
FUNCTION(exp10, exp10(x), exp10f(y), exp10l(y))

// Functions with two results.
static double of_sincos(double x) {
  double s, c;
  sincos(x, &s, &c);
  return s * c * c;
}
static double of_modf(double x) {
  double whole, part = modf(x, &whole);
  return part * part + whole;
}
static double of_frexp(double x) {
  int exponent;
  double mantissa = frexp(x, &exponent);
  return mantissa * mantissa * exponent;
}

// Single precision: differences of float functions are coarse.
static void check_single(const char *what, double (*f)(double), double got, double x) {
  double h = 1e-2, want = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
  check_close(what, 0, got, want, 2e-3);
}

#define CHECK(name, at)                                                                       \
  do {                                                                                        \
    double point_ = (at) + uniform(-0.02, 0.02);                                              \
    CHECK_SCALAR(of_##name, point_);                                                          \
    CHECK_SCALAR(of_##name##_long, point_);                                                   \
    CHECK_SCALAR(slope_of_##name, point_);                                                    \
    check_single("reverse " #name "f", of_##name##_float,                                     \
                 __enzyme_autodiff((void *)of_##name##_float, enzyme_out, point_), point_);   \
    check_single("forward " #name "f", of_##name##_float,                                     \
                 __enzyme_fwddiff((void *)of_##name##_float, enzyme_dup, point_, 1.0), point_); \
  } while (0)

int main(void) {
  seed(2026);
  CHECK(exp, 0.7);
  CHECK(exp2, 0.7);
  CHECK(expm1, 0.7);
  CHECK(log, 0.7);
  CHECK(log2, 0.7);
  CHECK(log10, 0.7);
  CHECK(log1p, 0.7);
  CHECK(sqrt, 0.7);
  CHECK(cbrt, 0.7);
  CHECK(fabs, 0.7);
  CHECK(floor, 1.3);
  CHECK(ceil, 1.3);
  CHECK(trunc, 1.3);
  CHECK(round, 1.3);
  CHECK(rint, 1.3);
  CHECK(nearbyint, 1.3);
  CHECK(sin, 0.7);
  CHECK(cos, 0.7);
  CHECK(tan, 0.7);
  CHECK(asin, 0.3);
  CHECK(acos, -0.4);
  CHECK(atan, 0.7);
  CHECK(sinh, 0.7);
  CHECK(cosh, 0.7);
  CHECK(tanh, 0.7);
  CHECK(asinh, 0.7);
  CHECK(acosh, 1.7);
  CHECK(atanh, 0.25);
  CHECK(erf, 0.7);
  CHECK(erfc, 0.7);
  CHECK(tgamma, 2.3);
  CHECK(lgamma, 3.1);
  CHECK(j0, 0.7);
  CHECK(j1, 0.7);
  CHECK(y0, 0.7);
  CHECK(y1, 0.7);
  CHECK(pow, 0.8);
  CHECK(pow_exponent, 0.8);
  CHECK(hypot, 0.8);
  CHECK(copysign, 0.8);
  CHECK(fma, 0.8);
  CHECK(fmin, 0.8);
  CHECK(fmax, 0.8);
  CHECK(fdim, 0.8);
  CHECK(fmod, 1.9);
  CHECK(remainder, 1.9);
  CHECK(ldexp, 0.8);
  CHECK(atan2, 0.8);
  CHECK(atan2_second, 0.8);
  CHECK(jn, 1.4);
  CHECK(yn, 1.4);
  CHECK(exp10, 0.4);
  CHECK_SCALAR(of_sincos, 0.7);
  CHECK_SCALAR(of_modf, 2.3);
  CHECK_SCALAR(of_frexp, 5.3);
  return finish("mathematics");
}

// Operations guarded against their singular points: at and beyond the guard the derivative is
// that of the arm that was taken, never NaN.
#include "check.h"

static double reciprocal(double b) { return b != 0 ? 1 / b : 0; }
static double logarithm(double x) { return x > 0 ? log(x) : -1; }
static double root(double x) { return x > 0 ? sqrt(x) : 0; }
static double power(double x) { return x > 0 ? pow(x, 0.3) : 2 * x; }
static double arc(double x) { return fabs(x) < 1 ? acos(x) : 0; }
static double arc_clamped(double x) { return x >= 1 ? 0 : x <= -1 ? 3.14159265358979323846 : acos(x); }
static double half(double x) { return x == 0 ? 0 : sin(x) / x; }
static double xlogx(double x) { return x == 0 ? 0 : x * log(x); }
static double safe_norm(double x) {
  double square = x * x;
  return square > 0 ? sqrt(square) : 0;
}
static double nested(double x) { return x > 0 ? (x > 1 ? log(x - 1) : 1 / (x - 1)) : sqrt(-x); }
static double by_product(double x) { return (x != 0) * 0.5 + (x != 0 ? atan2(x, 2 * x) * x / x : 0); }
static double square_root_guarded_inside(double x) { return sqrt(x > 0 ? x : 4); }

static double sum_guarded(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] != 0 ? 1 / x[i] : 0;
  for (int i = 0; i < n; i++) sum += x[i] > 0 ? sqrt(x[i]) * log(x[i]) : x[i];
  return sum;
}

// The guard is around two values that are both used.
static double both_arms(double x, double y) {
  double r = x * x + y * y, a, b;
  if (r > 0) {
    double n = sqrt(r);
    a = x / n;
    b = y / n;
  } else {
    a = 0;
    b = 0;
  }
  return a * 2 + b * 3;
}

struct pair { double x, y; };
extern struct pair __enzyme_autodiff_pair(void *, ...);

// Products of what is infinite, and dropped: written so, made so by the optimizer, or not used.
static double square_of_quotient(double x) {
  double q = 1 / x, square = q * q;
  return x > 0 ? square * q : x;
}
static double square_in_branch(double x) {
  double r = x;
  if (x > 0) {
    double q = 1 / x;
    r = q * q + 3 * x;
  }
  return r;
}
static double product_of_logarithms(double x) {
  double l = log(x), e = exp(3 * l) * l * l;
  return x > 0 ? e : x;
}
static double not_used(double x) {
  double q = 1 / x, square = q * q, rest = fmod(0.5, (floor(x) > 0.5 ? square : 0.5) + 1);
  return rest > 100 ? 1 : x;
}

int main(void) {
  CHECK_SCALAR_IS(reciprocal, 0.0, 0);
  CHECK_SCALAR_IS(reciprocal, -0.0, 0);
  CHECK_SCALAR_IS(reciprocal, 2.0, -0.25);
  CHECK_SCALAR_IS(logarithm, 0.0, 0);
  CHECK_SCALAR_IS(logarithm, -1.0, 0);
  CHECK_SCALAR_IS(logarithm, 2.0, 0.5);
  CHECK_SCALAR_IS(root, 0.0, 0);
  CHECK_SCALAR_IS(root, -3.0, 0);
  CHECK_SCALAR_IS(root, 4.0, 0.25);
  CHECK_SCALAR_IS(power, 0.0, 2);
  CHECK_SCALAR_IS(power, -0.5, 2);
  CHECK_SCALAR_IS(power, 1.0, 0.3);
  CHECK_SCALAR_IS(arc, 1.0, 0);
  CHECK_SCALAR_IS(arc, -1.0, 0);
  CHECK_SCALAR_IS(arc, 1.5, 0);
  CHECK_SCALAR_IS(arc, 0.0, -1);
  CHECK_SCALAR_IS(arc_clamped, 1.0, 0);
  CHECK_SCALAR_IS(arc_clamped, -1.0, 0);
  CHECK_SCALAR_IS(arc_clamped, -2.0, 0);
  CHECK_SCALAR_IS(half, 0.0, 0);
  CHECK_SCALAR_IS(half, 1.0, cos(1) - sin(1));
  CHECK_SCALAR_IS(xlogx, 0.0, 0);
  CHECK_SCALAR_IS(xlogx, 1.0, 1);
  CHECK_SCALAR_IS(safe_norm, 0.0, 0);
  CHECK_SCALAR_IS(safe_norm, -2.0, -1);
  CHECK_SCALAR_IS(nested, 0.5, -4);
  CHECK_SCALAR_IS(nested, 3.0, 0.5);
  CHECK_SCALAR_IS(nested, -4.0, -0.25);
  CHECK_SCALAR_IS(by_product, 0.0, 0);
  CHECK_SCALAR_IS(square_root_guarded_inside, 0.0, 0);
  CHECK_SCALAR_IS(square_root_guarded_inside, -1.0, 0);
  CHECK_SCALAR_IS(square_of_quotient, 0.0, 1);
  CHECK_SCALAR_IS(square_of_quotient, 2.0, -3.0 / 16);
  CHECK_SCALAR_IS(square_in_branch, 0.0, 1);
  CHECK_SCALAR_IS(square_in_branch, 2.0, 2.75);
  CHECK_SCALAR_IS(product_of_logarithms, 0.0, 1);
  CHECK_SCALAR_IS(product_of_logarithms, 1.0, 0);
  CHECK_SCALAR_IS(not_used, 0.0, 1);
  double x[8] = {0, 1, -2, 4, 0, 0.25, -0.0, -1}, g[8] = {0};
  __enzyme_autodiff((void *)sum_guarded, enzyme_dup, x, g, enzyme_const, 8);
  for (int i = 0; i < 8; i++) {
    double w = (x[i] != 0 ? -1 / (x[i] * x[i]) : 0) + (x[i] > 0 ? (log(x[i]) / 2 + 1) / sqrt(x[i]) : 1);
    double t[8] = {0};
    t[i] = 1;
    check_close("reverse sum_guarded", i, g[i], w, 1e-12);
    check_close("forward sum_guarded", i, __enzyme_fwddiff((void *)sum_guarded, enzyme_dup, x, t, enzyme_const, 8), w, 1e-12);
  }
  struct pair p = __enzyme_autodiff_pair((void *)both_arms, enzyme_out, 0.0, enzyme_out, 0.0);
  check_close("both_arms", 0, p.x, 0, 0);
  check_close("both_arms", 1, p.y, 0, 0);
  check_close("both_arms", 2, __enzyme_fwddiff((void *)both_arms, enzyme_dup, 0.0, 1.0, enzyme_dup, 0.0, 1.0), 0, 0);
  return finish("guards");
}

// Every marker, by value and by address; the same function with different activities.
#include "check.h"

struct pair { double x, y; };
struct triple { double primal, x, y; };
struct dual { double primal, tangent; };
struct four { double d[4]; };
extern struct pair __enzyme_autodiff_pair(void *, ...);
extern struct triple __enzyme_autodiff_triple(void *, ...);
extern struct dual __enzyme_autodiff_dual(void *, ...);
extern struct dual __enzyme_fwddiff_dual(void *, ...);
extern struct four __enzyme_fwddiff_four(void *, ...);

static double f(double x, double y, double *scale, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += scale[i] * x * sin(y);
  return sum;
}

static double g(double x, double y) { return x * x * y; }

static void h(const double *in, double *out, double *scratch) {
  for (int i = 0; i < 3; i++) scratch[i] = in[i] * in[i];
  for (int i = 0; i < 3; i++) out[i] = scratch[i] * scratch[(i + 1) % 3];
}

static double norm(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i] * x[i];
  return sum;
}

int main(void) {
  double scale[2] = {2, 3}, ds[2] = {0};
  // Two results, a const pointer.
  struct pair p = __enzyme_autodiff_pair((void *)f, enzyme_out, 2.0, enzyme_out, 0.5, enzyme_const, scale, enzyme_const, 2);
  check_close("out out const", 0, p.x, 5 * sin(0.5), 1e-12);
  check_close("out out const", 1, p.y, 5 * 2 * cos(0.5), 1e-12);
  // The same function, other activities.
  double d = __enzyme_autodiff((void *)f, enzyme_const, 2.0, enzyme_out, 0.5, enzyme_dup, scale, ds, enzyme_const, 2);
  check_close("const out dup", 0, d, 5 * 2 * cos(0.5), 1e-12);
  check_close("const out dup", 1, ds[0], 2 * sin(0.5), 1e-12);
  d = __enzyme_autodiff((void *)f, enzyme_out, 2.0, enzyme_const, 0.5, enzyme_const, scale, 2);
  check_close("out const const", 0, d, 5 * sin(0.5), 1e-12);
  // By address.
  p = __enzyme_autodiff_pair((void *)f, &enzyme_out, 2.0, &enzyme_out, 0.5, &enzyme_const, scale, &enzyme_const, 2);
  check_close("by address", 0, p.x, 5 * sin(0.5), 1e-12);
  check_close("by address", 1, p.y, 5 * 2 * cos(0.5), 1e-12);
  // Only a pointer is active.
  ds[0] = ds[1] = 0;
  __enzyme_autodiff((void *)f, enzyme_const, 2.0, enzyme_const, 0.5, enzyme_dup, scale, ds, enzyme_const, 2);
  check_close("only a pointer", 1, ds[1], 2 * sin(0.5), 1e-12);

  struct triple t = __enzyme_autodiff_triple((void *)g, enzyme_primal_return, enzyme_out, 3.0, enzyme_out, 5.0);
  check_close("primal", 0, t.primal, 45, 0);
  check_close("primal", 1, t.x, 30, 0);
  check_close("primal", 2, t.y, 9, 0);
  struct dual e = __enzyme_autodiff_dual((void *)g, enzyme_primal_return, enzyme_out, 3.0, enzyme_const, 5.0);
  check_close("primal and one", 0, e.primal, 45, 0);
  check_close("primal and one", 1, e.tangent, 30, 0);
  e = __enzyme_fwddiff_dual((void *)g, enzyme_primal_return, enzyme_dup, 3.0, 1.0, enzyme_dup, 5.0, 2.0);
  check_close("primal and tangent", 0, e.primal, 45, 0);
  check_close("primal and tangent", 1, e.tangent, 48, 0);
  d = __enzyme_fwddiff((void *)g, enzyme_const, 3.0, enzyme_dup, 5.0, 2.0);
  check_close("forward const", 0, d, 18, 0);

  // The primal output is not needed; scratch memory with its shadow.
  double in[3] = {1, 2, 3}, din[3] = {0}, out[3] = {0}, dout[3] = {1, 1, 1}, scratch[3], dscratch[3] = {0};
  __enzyme_autodiff((void *)h, enzyme_dup, in, din, enzyme_dupnoneed, out, dout, enzyme_dup, scratch, dscratch);
  check_close("dupnoneed", 0, din[0], 2 * (4 + 9), 1e-12);
  check_close("dupnoneed", 1, din[1], 4 * (1 + 9), 1e-12);
  check_close("dupnoneed", 2, din[2], 6 * (4 + 1), 1e-12);
  double tin[3] = {1, 0, 0}, tout[3];
  __enzyme_fwddiff((void *)h, enzyme_dup, in, tin, enzyme_dupnoneed, out, tout, enzyme_dup, scratch, dscratch);
  check_close("dupnoneed forward", 0, tout[0], 2 * 4, 1e-12);
  check_close("dupnoneed forward", 2, tout[2], 2 * 9, 1e-12);

  // Four directions at once.
  double x[4] = {1, 2, 3, 4}, t0[4] = {1}, t1[4] = {0, 1}, t2[4] = {0, 0, 1}, t3[4] = {1, 1, 1, 1};
  struct four w = __enzyme_fwddiff_four((void *)norm, enzyme_width, 4, enzyme_dup, x, t0, t1, t2, t3, enzyme_const, 4);
  check_close("width 4", 0, w.d[0], 3, 1e-12);
  check_close("width 4", 1, w.d[1], 12, 1e-12);
  check_close("width 4", 2, w.d[2], 27, 1e-12);
  check_close("width 4", 3, w.d[3], 3 * 30, 1e-12);
  w = __enzyme_fwddiff_four((void *)g, enzyme_width, 4, enzyme_dup, 3.0, 1.0, 0.0, 2.0, -1.0, enzyme_const, 5.0);
  check_close("width 4 scalar", 2, w.d[2], 60, 1e-12);
  check_close("width 4 scalar", 3, w.d[3], -30, 1e-12);

  // Four weightings of the outputs at once.
  double g0[3] = {0}, g1[3] = {0}, g2[3] = {0}, g3[3] = {0}, s0[3] = {1}, s1[3] = {0, 1}, s2[3] = {0, 0, 1}, s3[3] = {1, 1, 1};
  double k0[3] = {0}, k1[3] = {0}, k2[3] = {0}, k3[3] = {0};
  __enzyme_autodiff((void *)h, enzyme_width, 4, enzyme_dup, in, g0, g1, g2, g3, enzyme_dup, out, s0, s1, s2, s3,
                    enzyme_dup, scratch, k0, k1, k2, k3);
  check_close("reverse width 4", 0, g0[0], 2 * 4, 1e-12);
  check_close("reverse width 4", 1, g1[0], 0, 1e-12);
  check_close("reverse width 4", 2, g2[0], 2 * 9, 1e-12);
  check_close("reverse width 4", 3, g3[1], 4 * (1 + 9), 1e-12);
  return finish("requests_marked");
}

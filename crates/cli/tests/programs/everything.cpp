// One request of each kind, as C++ programs write them.
#include <cstdio>
#include <stdexcept>

extern int enzyme_dup, enzyme_const, enzyme_width, enzyme_dupv, enzyme_primal_return, enzyme_interleave;
template <typename R, typename... A> R __enzyme_autodiff(void *, A...);
template <typename R, typename... A> R __enzyme_fwddiff(void *, A...);

struct Three { double a, b, c; };
struct PrimalAndTangent { Three primal, tangent; };
struct Two { double a, b; };

double cube(double x) { return x * x * x; }
double slope(double x) { return __enzyme_autodiff<double>((void *)cube, x); }
Three powers(double x) { return {x, x * x, x * x * x}; }
double dot(const double *x, const double *y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}
double thrower(double x) {
  if (x > 100) throw std::runtime_error("too large");
  return x * x;
}
template <typename F> double wrapped(F f, double x) { return __enzyme_autodiff<double>((void *)f, x); }

int main() {
  printf("reverse over reverse %g\n", __enzyme_autodiff<double>((void *)slope, 2.0));
  printf("forward over reverse %g\n", __enzyme_fwddiff<double>((void *)slope, 2.0, 1.0));
  Three t = __enzyme_fwddiff<Three>((void *)powers, 2.0, 1.0);
  printf("result in memory %g %g %g\n", t.a, t.b, t.c);
  PrimalAndTangent p = __enzyme_fwddiff<PrimalAndTangent>((void *)powers, enzyme_primal_return, 2.0, 1.0);
  printf("with primal %g %g %g, %g %g %g\n", p.primal.a, p.primal.b, p.primal.c, p.tangent.a, p.tangent.b, p.tangent.c);
  Two r = __enzyme_autodiff<Two>((void *)cube, enzyme_primal_return, 3.0);
  printf("primal and derivative %g %g\n", r.a, r.b);
  Two w = __enzyme_fwddiff<Two>((void *)cube, enzyme_width, 2, 3.0, 1.0, 2.0);
  printf("two tangents %g %g\n", w.a, w.b);
  double x[2] = {1, 2}, y[2] = {3, 4}, dx[2] = {0, 0}, dy[2] = {0, 0};
  __enzyme_autodiff<void>((void *)dot, enzyme_dup, x, y, enzyme_const, 2, enzyme_interleave, dx, dy);
  printf("shadows at the end %g %g %g %g\n", dx[0], dx[1], dy[0], dy[1]);
  double tangents[4] = {1, 0, 0, 1};
  Two v = __enzyme_fwddiff<Two>((void *)dot, enzyme_width, 2, enzyme_dupv, 2 * sizeof(double), x, tangents,
                                enzyme_const, y, 2);
  printf("shadows at a stride %g %g\n", v.a, v.b);
  try {
    printf("no exception %g\n", __enzyme_autodiff<double>((void *)thrower, 3.0));
  } catch (std::exception &e) {
    printf("exception: %s\n", e.what());
  }
  printf("wrapper %g %g\n", wrapped(cube, 2.0), wrapped(slope, 2.0));
}

// The markers defined in the program itself, as many programs do.
#include <math.h>
#include <stdio.h>

int enzyme_dup, enzyme_const, enzyme_out;
int enzyme_width = 0;
int enzyme_primal_return = 1;

struct dual { double primal, slope; };
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
struct dual __enzyme_autodiff_dual(void *, ...);

static double f(double *x, double y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y;
  return sum;
}

int main(void) {
  int failures = 0;
  double x[3] = {1, 2, 3}, dx[3] = {0}, tx[3] = {1, 1, 1};
  double dy = __enzyme_autodiff((void *)f, enzyme_dup, x, dx, enzyme_out, 5.0, enzyme_const, 3);
  failures += dy != 6 || dx[0] != 5 || dx[2] != 5;
  double t = __enzyme_fwddiff((void *)f, enzyme_dup, x, tx, enzyme_dup, 5.0, 1.0, enzyme_const, 3);
  failures += t != 15 + 6;
  struct dual d = __enzyme_autodiff_dual((void *)f, enzyme_primal_return, enzyme_const, x, enzyme_out, 5.0, enzyme_const, 3);
  failures += d.primal != 30 || d.slope != 6;
  if (failures) printf("%d disagreements: %g %g %g %g %g\n", failures, dy, dx[0], t, d.primal, d.slope);
  else printf("ok requests_defined\n");
  return failures;
}

// Derivatives of functions in Fortran.
#include "../gradients/check.h"

double energy(double *x, int n);
void mix_(double *x, double *y);

int main(void) {
  double x[4];
  fill(x, 4, -1, 1);
  CHECK_GRADIENT(energy, x, 4);
  CHECK_MAP(mix_, x, 4, 4);
  return finish("fortran");
}

// The gradient of a loss whose parts are in other files and in a library.
#include "rod.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

extern int enzyme_dup, enzyme_const;
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);

int main(void) {
  double parameters[PARAMETERS] = {0.21, 1.5, 0.4, -0.3}, gradient[PARAMETERS] = {0};
  int wrong = 0;
  __enzyme_autodiff((void *)loss, enzyme_dup, parameters, gradient, enzyme_const, PARAMETERS);
  for (int i = 0; i < PARAMETERS; i++) {
    double up[PARAMETERS], down[PARAMETERS], direction[PARAMETERS] = {0}, h = 1e-6;
    memcpy(up, parameters, sizeof up);
    memcpy(down, parameters, sizeof down);
    up[i] += h;
    down[i] -= h;
    direction[i] = 1;
    double difference = loss(up, PARAMETERS);
    difference = (difference - loss(down, PARAMETERS)) / (2 * h);
    double forward =
        __enzyme_fwddiff((void *)loss, enzyme_dup, parameters, direction, enzyme_const, PARAMETERS);
    if (!(fabs(gradient[i] - difference) < 1e-6) || !(fabs(forward - difference) < 1e-6)) {
      printf("parameter %d: reverse %.9g, forward %.9g, difference %.9g\n", i, gradient[i], forward,
             difference);
      wrong++;
    }
  }
  report("gradient", gradient, PARAMETERS);
  if (wrong == 0) printf("ok several\n");
  return wrong;
}

// The square of a number, and its derivative.
#include "request.h"

UNDER_TEST double hello_square(double x) { return x * x; }

UNDER_TEST double hello_double(double x) {
  return __enzyme_autodiff((void *)hello_square, enzyme_out, x);
}

UNDER_TEST double hello_by_hand(double x) { return 2 * x; }

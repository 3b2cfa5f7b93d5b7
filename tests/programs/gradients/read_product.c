// A product of values from a function in a native object, whose effects must happen exactly as
// often in the derivative as in the program itself.
#include "check.h"

extern double read_value(void);
extern int read_calls;
extern void read_rewind(void);

static double product(double x, int n) {
  double result = x;
  for (int i = 0; i < n; i++) result *= read_value();
  return result;
}

// The factor also scales what was read, so that the values themselves are needed in reverse.
static double product_of_sums(double x, int n) {
  double result = 1;
  for (int i = 0; i < n; i++) result *= x + read_value();
  return result;
}

#define CHECK_CALLS(f, at, n)                                                               \
  do {                                                                                      \
    double h = 1e-5;                                                                        \
    read_rewind();                                                                          \
    double want = f((at) + h, n);                                                           \
    read_rewind();                                                                          \
    want = (want - f((at)-h, n)) / (2 * h);                                                 \
    read_rewind();                                                                          \
    check_close("reverse " #f, n, __enzyme_autodiff((void *)f, enzyme_out, (double)(at),    \
                                                    enzyme_const, (int)(n)), want, 1e-6);   \
    check_close("calls in reverse mode " #f, n, read_calls, n, 0);                          \
    read_rewind();                                                                          \
    check_close("forward " #f, n, __enzyme_fwddiff((void *)f, enzyme_dup, (double)(at), 1.0, \
                                                   enzyme_const, (int)(n)), want, 1e-6);    \
    check_close("calls in forward mode " #f, n, read_calls, n, 0);                          \
  } while (0)

int main(void) {
  CHECK_CALLS(product, 3.0, 5);
  CHECK_CALLS(product, 3.0, 0);
  CHECK_CALLS(product_of_sums, 0.5, 5);
  CHECK_CALLS(product_of_sums, 0.5, 12);
  CHECK_CALLS(product_of_sums, 0.5, 0);
  return finish("read_product");
}

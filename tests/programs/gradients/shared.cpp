// Shared pointers destroy what they own through a virtual method.
#include "check.h"

#include <memory>
#include <vector>

static double shared(double *x, int n) {
  auto first = std::make_shared<std::vector<double>>(x, x + n);
  auto second = first;
  std::shared_ptr<double> alone(new double(x[1]));
  (*second)[0] *= *alone;
  first.reset();
  double sum = 0;
  for (double y : *second) sum += y * y;
  return sum;
}

int main() {
  double x[8];
  fill(x, 8, -1, 1);
  CHECK_GRADIENT(shared, x, 8);
  return finish("shared");
}

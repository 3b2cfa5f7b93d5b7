// Virtual destructors in a program that also throws exceptions of the library: their destructors, of
// which only the native library has the code, fit the same calls.
#include "check.h"
#include <stdexcept>
#include <memory>
#include <vector>
struct shape { virtual ~shape() {} virtual double area(double t) const = 0; };
struct square : shape { double a; square(double a) : a(a) {} double area(double t) const override { return a * a * t; } };
struct circle : shape { double r; circle(double r) : r(r) {} double area(double t) const override { return 3.14 * r * r + t; } };
static double total(double *x, int n) {
  std::vector<std::unique_ptr<shape>> all;
  for (int i = 0; i < n; i++)
    if (i % 2) all.push_back(std::make_unique<square>(x[i])); else all.push_back(std::make_unique<circle>(x[i]));
  if (all.empty()) throw std::runtime_error("nothing there");
  double sum = 0;
  for (auto &s : all) sum += s->area(x[0]);
  return sum * sum;
}
int main() {
  double x[6];
  fill(x, 6, -1, 1);
  try { if (x[0] > 5) throw std::out_of_range("x"); } catch (const std::exception &e) { printf("%s\n", e.what()); }
  CHECK_GRADIENT(total, x, 5);
  return finish("destructors");
}

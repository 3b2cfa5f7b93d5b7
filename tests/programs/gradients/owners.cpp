// Objects that own memory: every form of new and delete, smart pointers, exceptions that are not thrown.
#include "check.h"

#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#define NOINLINE __attribute__((noinline)) static

struct alignas(64) wide {
  double lanes[8];
};

static double forms(double *x, int n) {
  double *one = new double(x[0]);
  double *many = new double[n];
  double *maybe = new (std::nothrow) double[n];
  wide *aligned = new wide();
  wide *several = new wide[2]();
  double sum = 0;
  for (int i = 0; i < n; i++) {
    many[i] = x[i] * x[i];
    maybe[i] = many[i] * *one;
    aligned->lanes[i % 8] += maybe[i];
    several[i % 2].lanes[i % 8] += many[i] * maybe[i];
  }
  for (int i = 0; i < 8; i++)
    sum += aligned->lanes[i] * several[0].lanes[i] + several[1].lanes[i] * many[i % n];
  delete one;
  delete[] many;
  delete[] maybe;
  delete aligned;
  delete[] several;
  return sum;
}

struct tree {
  double value;
  std::unique_ptr<tree> left, right;
};

NOINLINE std::unique_ptr<tree> build(const double *x, int low, int high) {
  if (low >= high) return nullptr;
  int middle = (low + high) / 2;
  auto made = std::make_unique<tree>();
  made->value = x[middle] * x[middle];
  made->left = build(x, low, middle);
  made->right = build(x, middle + 1, high);
  return made;
}

NOINLINE double fold(const tree *t) {
  return t ? t->value * (1 + fold(t->left.get())) + std::sin(fold(t->right.get())) : 0.5;
}

static double unique(double *x, int n) {
  auto root = build(x, 0, n);
  return fold(root.get());
}

// It could throw, and does not.
NOINLINE double checked(const std::vector<double> &v, int i) {
  if (v[i] > 1e6) throw std::runtime_error("too large");
  return v.at(i) * v.at(i);
}

static double guarded(double *x, int n) {
  std::vector<double> v(x, x + n);
  try {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += checked(v, i) * (i + 1);
    return sum;
  } catch (const std::exception &error) {
    return -x[0];
  }
}

int main() {
  double x[8];
  fill(x, 8, -1, 1);
  CHECK_GRADIENT(forms, x, 8);
  CHECK_GRADIENT(unique, x, 7);
  CHECK_GRADIENT(guarded, x, 8);
  return finish("owners");
}

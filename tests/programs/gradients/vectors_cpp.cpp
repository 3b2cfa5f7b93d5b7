// `std::vector` built, grown, copied, sorted and read inside of differentiated functions.
#include "check.h"

#include <algorithm>
#include <numeric>
#include <vector>

#define NOINLINE __attribute__((noinline)) static

static double pushed(double *x, int n) {
  std::vector<double> v;
  for (int i = 0; i < n; i++) v.push_back(x[i] * (i + 1) + std::sin(x[i]));
  double sum = 0;
  for (double y : v) sum += y * y;
  return sum;
}

static double resized(double *x, int n) {
  std::vector<double> v(3, x[0]);
  v.resize(n + 3);
  for (int i = 0; i < n; i++) v[i + 2] += x[i] * x[i];
  v.resize(n);
  return std::accumulate(v.begin(), v.end(), 0.0, [](double a, double b) { return a * 1.1 + b * b; });
}

static double reserved(double *x, int n) {
  std::vector<double> v;
  v.reserve(n);
  for (int i = 0; i < n; i++) v.emplace_back(std::exp(x[i]));
  double product = 1;
  while (!v.empty()) {
    product *= v.back();
    v.pop_back();
  }
  return product;
}

static double copied(double *x, int n) {
  std::vector<double> v(x, x + n), w = v, u;
  for (double &y : w) y *= y;
  u = w;
  u.insert(u.begin() + 1, v[n - 1] * 2);
  u.insert(u.end(), v.begin(), v.end());
  u.erase(u.begin());
  std::swap(u, v);
  double sum = 0;
  for (size_t i = 0; i < v.size(); i++) sum += v[i] * v[i] * (i + 1);
  return sum + w[0];
}

static double nested(double *x, int n) {
  std::vector<std::vector<double>> rows(n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) rows[i].push_back(x[i] * x[j]);
  double sum = 0;
  for (const auto &row : rows)
    for (double y : row) sum += y * y;
  return sum;
}

static double grown_rows(double *x, int n) {
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < n; i++) rows.push_back(std::vector<double>(i + 1, x[i]));
  double sum = 0;
  for (size_t i = 0; i < rows.size(); i++) sum += rows[i][i] * rows[i][0] * (i + 1);
  return sum;
}

static double sorted(double *x, int n) {
  std::vector<double> v(x, x + n);
  std::sort(v.begin(), v.end());
  double sum = 0;
  for (int i = 0; i < n; i++) sum += v[i] * v[i] * (i + 1);
  return sum;
}

NOINLINE void append(std::vector<double> &v, double y) { v.push_back(y * y); }

NOINLINE std::vector<double> squares(const double *x, int n) {
  std::vector<double> v;
  for (int i = 0; i < n; i++) append(v, x[i]);
  return v;
}

NOINLINE double weighted(const std::vector<double> &v) {
  double sum = 0;
  for (size_t i = 0; i < v.size(); i++) sum += v[i] * (i + 1);
  return sum;
}

static double passed(double *x, int n) {
  std::vector<double> v = squares(x, n);
  append(v, x[0]);
  return weighted(v) * x[1];
}

struct body {
  double mass;
  int id;
  double place[2];
};

static double bodies(double *x, int n) {
  std::vector<body> all;
  for (int i = 0; i + 2 < n; i++) all.push_back(body{x[i], i, {x[i + 1], x[i + 2]}});
  double energy = 0;
  for (const body &a : all)
    for (const body &b : all)
      if (a.id < b.id) {
        double dx = a.place[0] - b.place[0], dy = a.place[1] - b.place[1];
        energy += a.mass * b.mass / std::sqrt(dx * dx + dy * dy + 1);
      }
  return energy;
}

int main() {
  double x[8];
  fill(x, 8, -1, 1);
  CHECK_GRADIENT(pushed, x, 8);
  CHECK_GRADIENT(resized, x, 8);
  CHECK_GRADIENT(reserved, x, 8);
  CHECK_GRADIENT(copied, x, 8);
  CHECK_GRADIENT(nested, x, 5);
  CHECK_GRADIENT(grown_rows, x, 5);
  CHECK_GRADIENT(sorted, x, 8);
  CHECK_GRADIENT(passed, x, 5);
  CHECK_GRADIENT(bodies, x, 6);
  return finish("vectors_cpp");
}

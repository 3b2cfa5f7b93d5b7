// The other containers of the C++ library, built and read inside of differentiated functions.
#include "check.h"

#include <list>
#include <map>
#include <queue>
#include <unordered_map>

static double mapped(double *x, int n) {
  std::map<int, double> m;
  for (int i = 0; i < n; i++) m[i * 7 % 5] += x[i] * x[i];
  double sum = 0;
  for (const auto &[key, value] : m) sum += value * value * (key + 1);
  return sum;
}

static double erased(double *x, int n) {
  std::map<int, double> m;
  for (int i = 0; i < n; i++) m.emplace(i * 3 % 8, std::sin(x[i]));
  m.erase(3);
  auto found = m.find(6);
  double sum = found == m.end() ? 0 : found->second * x[0];
  for (auto it = m.rbegin(); it != m.rend(); ++it) sum = sum * 1.3 + it->second;
  return sum;
}

static double listed(double *x, int n) {
  std::list<double> l;
  for (int i = 0; i < n; i++) (i % 2 ? l.push_back(x[i] * x[i]) : l.push_front(x[i] * 2));
  l.pop_front();
  double sum = 0;
  for (double y : l) sum = sum * 1.2 + y * y;
  return sum;
}

static double hashed(double *x, int n) {
  std::unordered_map<int, double> m;
  for (int i = 0; i < n; i++) m[i * 7 % 5] += x[i] * x[i];
  double sum = 0;
  for (int i = 0; i < 5; i++) sum += m[i] * m[i] * (i + 1);
  return sum;
}

static double prioritized(double *x, int n) {
  std::priority_queue<double> q;
  for (int i = 0; i < n; i++) q.push(x[i]);
  double sum = 0;
  for (int i = 1; !q.empty(); i++) {
    sum += q.top() * q.top() * i;
    q.pop();
  }
  return sum;
}

int main() {
  double x[8];
  fill(x, 8, -1, 1);
  CHECK_GRADIENT(mapped, x, 8);
  CHECK_GRADIENT(erased, x, 8);
  CHECK_GRADIENT(listed, x, 8);
  CHECK_GRADIENT(hashed, x, 8);
  CHECK_GRADIENT(prioritized, x, 8);
  return finish("containers");
}

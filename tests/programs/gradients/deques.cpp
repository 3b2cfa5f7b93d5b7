// Deques and stacks.
#include "check.h"

#include <deque>
#include <stack>

static double queued(double *x, int n) {
  std::deque<double> d;
  for (int i = 0; i < n; i++) (i % 2 ? d.push_back(x[i] * x[i]) : d.push_front(x[i] * 2));
  double sum = 0;
  for (size_t i = 0; i < d.size(); i++) sum = sum * 1.2 + d[i] * d[i];
  d.pop_front();
  return sum + d.front() * d.back();
}

// Reverse Polish notation.
static double stacked(double *x, int n) {
  std::stack<double> s;
  for (int i = 0; i < n; i++) s.push(x[i]);
  while (s.size() > 1) {
    double a = s.top();
    s.pop();
    double b = s.top();
    s.pop();
    s.push(s.size() % 2 ? a * b : a + std::sin(b));
  }
  return s.top();
}

int main() {
  double x[8];
  fill(x, 8, -1, 1);
  CHECK_GRADIENT(queued, x, 8);
  CHECK_GRADIENT(stacked, x, 8);
  return finish("deques");
}

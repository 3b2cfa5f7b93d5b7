// Branches: chains of if and else, switch, ternaries, early returns, short circuits.
#include "check.h"

static double chain(double x) {
  if (x < -1) return x * x;
  else if (x < 0) return -x;
  else if (x < 1) return sin(x);
  else if (x < 2) return exp(x) - x;
  return log(x) * x;
}

static double ternaries(double x) {
  double y = x > 0 ? x * x : -3 * x;
  double z = y > 2 ? sin(y) : y < 0.5 ? cos(y) : y * x;
  return z * (x > 1 ? y : 1);
}

static double by_kind(double x, int kind) {
  switch (kind) {
  case 0: return x;
  case 1: x = sin(x); // falls through
  case 2: x = x * x; break;
  case 3: return 7;
  case 10: x = exp(x); break;
  case 100: {
    double y = x * 2;
    x = y * y * y;
    break;
  }
  default: x = -x;
  }
  return x * 1.5;
}

static double kinds(double *x, int n) {
  static const int kind[] = {0, 1, 2, 3, 4, 10, 100, 5, -1};
  double sum = 0;
  for (int i = 0; i < n; i++) sum += by_kind(x[i], kind[i % 9]);
  return sum;
}

static double short_circuit(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    if (x[i] > 0 && (x[i] < 0.5 || i % 2)) sum += x[i] * x[i];
    else if (!(x[i] > -0.3) || i == 4) sum -= sin(x[i]);
  }
  return sum;
}

static double clamp(double x) { return fmin(fmax(x, -1), 1) * x; }

static double nested(double *x, int n) {
  double a = x[0], b = x[1];
  if (a > b) {
    if (a > 0) {
      double t = a;
      a = b;
      b = t * t;
    } else {
      a = a * b;
    }
  } else {
    b = b > 0 ? b * a : a;
    if (b < 0) return a * b;
  }
  return a * 2 + b * b;
}

int main(void) {
  for (double x = -2.25; x < 3; x += 0.5) {
    CHECK_SCALAR(chain, x);
    CHECK_SCALAR(ternaries, x);
    CHECK_SCALAR(clamp, x);
  }
  double x[18];
  fill(x, 18, -1, 1);
  CHECK_GRADIENT(kinds, x, 18);
  CHECK_GRADIENT(short_circuit, x, 18);
  for (int i = 0; i < 16; i++) CHECK_GRADIENT(nested, x + i, 2);
  return finish("branches");
}

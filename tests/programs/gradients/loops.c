// Loops of every shape: constant, entry-known and data-dependent trip counts, one inside another,
// with break, continue and goto.
#include "check.h"

static double constant_count(double x) {
  double y = x;
  for (int i = 0; i < 10; i++) y = y * y * 0.3 + 0.5 * x;
  return y;
}

static double nested(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      for (int k = j; k < n; k += 2) sum += x[i] * x[j] * x[k];
  return sum;
}

static double until_small(double x) {
  double y = x;
  while (y > 0.1) y = y * y / (1 + y);
  return y;
}

static double forever(double *x, int n) {
  double sum = 1;
  int i = 0;
  while (1) {
    sum *= 1 + x[i] * x[i];
    if (sum > 4) break;
    if (++i == n) break;
  }
  return sum;
}

static double skipping(double *x, int n) {
  double sum = 0, last = 1;
  for (int i = 0; i < n; i++) {
    if (x[i] < 0) continue;
    if (x[i] > 0.9) break;
    sum += x[i] * last;
    last = x[i];
  }
  return sum * sum;
}

static double out_of_two(double *x, int n) {
  double product = 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      product *= 1 + 0.1 * x[i] * x[j];
      if (product > 1.5) goto done;
      if (x[i] + x[j] < -1.2) goto give_up;
    }
done:
  return product * x[0];
give_up:
  return product - x[1];
}

static double early(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += x[i] * x[i];
    if (sum > 1.5) return sin(sum) * x[i];
  }
  return sum * x[0];
}

static double at_least_once(double x) {
  int i = 0;
  do {
    x = x * 0.7 + sin(x);
    i++;
  } while (x > 0.5 && i < 12);
  return x * i;
}

static double triangle_with_data(double *x, int n) {
  double total = 0;
  for (int i = 0; i < n; i++) {
    double y = x[i];
    int j = 0;
    while (fabs(y) < 3 && j < 20) {
      y = y * 1.7 + 0.2;
      if (j++ % 3 == 2) continue;
      total += y * x[(i + j) % n];
    }
  }
  return total;
}

static double downwards(double *x, int n) {
  double y = 0;
  for (int i = n - 1; i >= 0; i--) y = y * 0.9 + x[i] * y + x[i];
  for (unsigned i = n; i-- > 0;) y += x[i] * i;
  return y;
}

static double retry(double x) {
  int tries = 0;
again:
  x = x * x - 0.5;
  if (tries++ < 3) goto again;
  if (x < 0 && tries < 8) goto again;
  return x;
}

static double two_counters(double *x, int n) {
  double sum = 0;
  for (int i = 0, j = n - 1; i < j; i++, j--) sum += x[i] * sin(x[j]);
  return sum;
}

static double entry_known(double *x, int n) {
  double y = 1;
  for (int i = 0; i < n / 3; i++) {
    double t = 0;
    for (int j = 0; j < 3; j++) t += x[3 * i + j] * y;
    y = tanh(t) + y;
  }
  return y;
}

int main(void) {
  double x[12];
  for (double at = 0.3; at < 1.2; at += 0.2) {
    CHECK_SCALAR(constant_count, at);
    CHECK_SCALAR(until_small, at);
    CHECK_SCALAR(at_least_once, at);
    CHECK_SCALAR(retry, at);
  }
  for (int trial = 1; trial <= 6; trial++) {
    seed(trial);
    fill(x, 12, -1, 1);
    CHECK_GRADIENT(nested, x, 12);
    CHECK_GRADIENT(forever, x, 12);
    CHECK_GRADIENT(skipping, x, 12);
    CHECK_GRADIENT(out_of_two, x, 12);
    CHECK_GRADIENT(early, x, 12);
    CHECK_GRADIENT(triangle_with_data, x, 12);
    CHECK_GRADIENT(downwards, x, 12);
    CHECK_GRADIENT(two_counters, x, 12);
    CHECK_GRADIENT(entry_known, x, 12);
    CHECK_GRADIENT(entry_known, x, 2);
  }
  return finish("loops");
}

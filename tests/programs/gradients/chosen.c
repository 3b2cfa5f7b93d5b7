// Loops whose results are chosen or dropped: the reverse sweep passes by those that were dropped.
#include "check.h"

// The squares of the distances of all points to the nearest of some others.
static double nearest(double *x, int n) {
  double cost = 0;
  for (int i = 0; i + 2 < n; i++) {
    double least = INFINITY;
    for (int j = 0; j < 3; j++) {
      double distance = 0;
      for (int c = 0; c < 3; c++) {
        double difference = x[(j + c) % n] - x[(i + 2 * c + 1) % n];
        distance += difference * difference * (c + 1);
      }
      if (distance < least) least = distance;
    }
    cost += least;
  }
  return cost;
}

// The loop is chosen if the condition does not hold; it has loops inside, and keeps something.
static double unless(double *x, int n) {
  double result = 1;
  for (int i = 0; i < n; i++) {
    double product = 1;
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k <= j; k++) sum += x[k] * x[i];
      product *= 1 + 0.1 * sum;
    }
    result += x[i] > 0.2 ? x[i] * result : product;
  }
  return result;
}

// Two results, of which one or none is chosen.
static double either(double *x, int n) {
  double result = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0, product = 1;
    for (int j = 0; j < n; j++) {
      sum += x[j] * x[j] * x[i];
      product *= 1 + 0.2 * x[j] * x[i];
    }
    double a = x[i] > 0.5 ? sum : 0.5, b = x[i] < -0.5 ? product : x[i];
    result += a * b;
  }
  return result;
}

// What is dropped is infinite.
static double guarded(double *x, int n) {
  double result = 0;
  for (int i = 0; i < n; i++) {
    double t = fmax(x[i] - 0.3, 0), sum = 0;
    for (int j = 0; j < n; j++) sum += sqrt(t) * x[j] + 1 / t;
    result += t > 0 ? sum : x[i];
  }
  return result;
}

// It has other uses as well, so it is always needed.
static double used_twice(double *x, int n) {
  double least = 100, all = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += x[i] * x[j] * x[j];
    all += sum * sum;
    if (sum < least) least = sum;
  }
  return least * all;
}

// What the loop stores has adjoints of its own.
static double stores(double *x, int n) {
  double t[16], least = 100, all = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
      t[j] = x[i] * x[j];
      sum += t[j] * t[j];
    }
    if (sum < least) least = sum;
    all += t[i] * t[0];
  }
  return least * all;
}

static double slope(double *x, int n) {
  double d[16] = {0}, sum = 0;
  __enzyme_autodiff((void *)nearest, enzyme_dup, x, d, enzyme_const, n);
  for (int i = 0; i < n; i++) sum += (i + 1) * d[i];
  return sum;
}

int main(void) {
  double x[9];
  for (int round = 0; round < 4; round++) {
    seed(500 + round);
    fill(x, 9, -1, 1);
    CHECK_GRADIENT(nearest, x, 9);
    CHECK_GRADIENT(unless, x, 7);
    CHECK_GRADIENT(either, x, 7);
    CHECK_GRADIENT(guarded, x, 7);
    CHECK_GRADIENT(used_twice, x, 7);
    CHECK_GRADIENT(stores, x, 7);
    CHECK_GRADIENT_TO(slope, x, 9, 1e-5);
  }
  return finish("chosen");
}

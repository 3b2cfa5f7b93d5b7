// LU decomposition in place, with and without pivoting, and the log-determinant from it.
#include "check.h"

#define N 5

static void decompose(double *a, int n) {
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}

static double log_determinant(double *x, int count) {
  double a[N * N], sum = 0;
  memcpy(a, x, sizeof a);
  decompose(a, N);
  for (int i = 0; i < N; i++) sum += log(fabs(a[i * N + i]));
  return sum;
}

// Overwrites its argument.
static double in_place(double *x, int count) {
  double sum = 0;
  decompose(x, N);
  for (int i = 0; i < count; i++) sum += x[i] * (i % 3 - 0.5);
  return sum;
}

// Row pivoting: data-dependent swaps of rows through an index table.
static double pivoted(double *x, int count) {
  double a[N][N], product = 1;
  int row[N];
  for (int i = 0; i < N; i++) {
    row[i] = i;
    for (int j = 0; j < N; j++) a[i][j] = x[i * N + j];
  }
  for (int k = 0; k < N; k++) {
    int best = k;
    for (int i = k + 1; i < N; i++)
      if (fabs(a[row[i]][k]) > fabs(a[row[best]][k])) best = i;
    if (best != k) {
      int t = row[k];
      row[k] = row[best];
      row[best] = t;
      product = -product;
    }
    product *= a[row[k]][k];
    for (int i = k + 1; i < N; i++) {
      double factor = a[row[i]][k] / a[row[k]][k];
      for (int j = k; j < N; j++) a[row[i]][j] -= factor * a[row[k]][j];
    }
  }
  return product;
}

int main(void) {
  double x[N * N];
  fill(x, N * N, -1, 1);
  CHECK_GRADIENT(pivoted, x, N * N);
  for (int i = 0; i < N; i++) x[i * N + i] += 4;
  CHECK_GRADIENT(log_determinant, x, N * N);
  CHECK_GRADIENT(in_place, x, N * N);
  return finish("lu");
}

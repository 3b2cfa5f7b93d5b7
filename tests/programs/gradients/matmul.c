// A matrix product written three ways.
#include "check.h"

#define N 4

// The usual three loops over two-dimensional arrays.
static double by_rows(double *x, int n) {
  double a[N][N], b[N][N], c[N][N], sum = 0;
  memcpy(a, x, sizeof a);
  memcpy(b, x + N * N, sizeof b);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      c[i][j] = 0;
      for (int k = 0; k < N; k++) c[i][j] += a[i][k] * b[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) sum += c[i][j] * c[i][j] * (i + 1) / (j + 2);
  return sum;
}

// Flat arrays with a run-time size, the middle loop innermost.
__attribute__((noinline)) static void multiply(const double *a, const double *b, double *c, int n) {
  for (int i = 0; i < n * n; i++) c[i] = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      double aik = a[i * n + k];
      for (int j = 0; j < n; j++) c[i * n + j] += aik * b[k * n + j];
    }
}

static double by_outer_products(double *x, int n) {
  double c[N * N], sum = 0;
  multiply(x, x + N * N, c, N);
  for (int i = 0; i < N * N; i++) sum += sin(c[i]) * i;
  return sum;
}

// Pointers that walk, and two-by-two blocks.
static double by_blocks(double *x, int n) {
  double *a = x, *b = x + N * N, sum = 0;
  double *c = calloc(N * N, sizeof(double));
  for (int bi = 0; bi < N; bi += 2)
    for (int bj = 0; bj < N; bj += 2)
      for (int bk = 0; bk < N; bk += 2)
        for (double *row = a + bi * N, *out = c + bi * N; row < a + (bi + 2) * N; row += N, out += N)
          for (int j = bj; j < bj + 2; j++)
            out[j] += row[bk] * b[bk * N + j] + row[bk + 1] * b[(bk + 1) * N + j];
  for (int i = 0; i < N * N; i++) sum += c[i] * c[(i + 3) % (N * N)];
  free(c);
  return sum;
}

int main(void) {
  double x[2 * N * N];
  fill(x, 2 * N * N, -1, 1);
  CHECK_GRADIENT(by_rows, x, 2 * N * N);
  CHECK_GRADIENT(by_outer_products, x, 2 * N * N);
  CHECK_GRADIENT(by_blocks, x, 2 * N * N);
  return finish("matmul");
}

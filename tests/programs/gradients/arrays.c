// Local and two-dimensional arrays, copies, fills, stencils, the heap, constant tables.
#include "check.h"

static double grid(double *x, int n) {
  double a[4][5], b[4][5], sum = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++) a[i][j] = x[(i * 5 + j) % n] * (i - j);
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 5; j++) {
        double s = a[i][j];
        if (i > 0) s += 0.2 * a[i - 1][j];
        if (j < 4) s += 0.1 * a[i][j + 1] * a[i][j];
        b[i][j] = s;
      }
    memcpy(a, b, sizeof a);
  }
  for (int i = 0; i < 4; i++) sum += a[i][i] * a[3 - i][4];
  return sum;
}

static double overlapping_moves(double *x, int n) {
  double buffer[16], sum = 0;
  memset(buffer, 0, sizeof buffer);
  memcpy(buffer, x, n * sizeof(double));
  memmove(buffer + 2, buffer, n * sizeof(double));
  buffer[1] *= buffer[2];
  memmove(buffer, buffer + 1, n * sizeof(double));
  memset(buffer + 4, 0, 2 * sizeof(double));
  for (int i = 0; i < 12; i++) sum += buffer[i] * buffer[i] * (i + 1);
  return sum;
}

static double move_in_argument(double *x, int n) {
  memmove(x + 1, x, (n - 1) * sizeof(double));
  x[0] = x[1] * x[2];
  memmove(x, x + 3, 3 * sizeof(double));
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i] * i;
  memset(x, 0, n * sizeof(double));
  return sum + x[0];
}

static double heap(double *x, int n) {
  double *square = malloc(n * sizeof *square), *sums = calloc(n + 1, sizeof *sums), result = 0;
  for (int i = 0; i < n; i++) square[i] = x[i] * x[i];
  for (int i = 0; i < n; i++) sums[i + 1] = sums[i] + square[i];
  for (int i = 0; i <= n; i++) result += sums[i] * sums[n - i];
  free(square);
  free(sums);
  return result;
}

static double heap_in_loop(double *x, int n) {
  double y = 1;
  for (int i = 0; i < n; i++) {
    double *t = malloc((i + 1) * sizeof(double));
    for (int j = 0; j <= i; j++) t[j] = x[j] * y;
    y = 0;
    for (int j = 0; j <= i; j++) y += sin(t[j]);
    free(t);
  }
  return y;
}

__attribute__((noinline)) static double *squares(const double *x, int n) {
  double *result = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) result[i] = x[i] * x[i];
  return result;
}

static double returned_buffer(double *x, int n) {
  double *y = squares(x, n), *z = squares(y, n), sum = 0;
  for (int i = 0; i < n; i++) sum += y[i] * z[n - 1 - i];
  free(y);
  free(z);
  return sum;
}

static double table(double *x, int n) {
  static const double weight[5] = {1, -2, 0.5, 3, -0.25};
  static const int order[5] = {3, 0, 4, 1, 2};
  static const char *const names[2] = {"even", "odd"};
  double sum = 0;
  for (int i = 0; i < n; i++) sum += weight[order[i % 5]] * x[i] * x[i] * (names[i % 2][0] == 'o' ? 2 : 1);
  return sum;
}

static double variable_length(double *x, int n) {
  double a[n][2], sum = 0;
  for (int i = 0; i < n; i++) {
    a[i][0] = x[i];
    a[i][1] = x[n - 1 - i] * x[i];
  }
  for (int i = 0; i < n; i++) sum += a[i][0] * a[n - 1 - i][1];
  return sum;
}

static double gather_scatter(double *x, int n) {
  int index[12];
  double bins[4] = {0};
  for (int i = 0; i < n; i++) index[i] = (i * 7 + 3) % 4;
  for (int i = 0; i < n; i++) bins[index[i]] += x[i] * x[n - 1 - index[i]];
  return bins[0] * bins[1] + bins[2] * bins[3];
}

static void stencil(double *in, double *out) {
  double a[12], b[12], *from = a, *to = b;
  memcpy(a, in, sizeof a);
  memset(b, 0, sizeof b);
  for (int t = 0; t < 5; t++) {
    for (int i = 1; i < 11; i++) to[i] = 0.25 * from[i - 1] + 0.5 * from[i] + 0.25 * from[i + 1] * from[i];
    double *s = from;
    from = to;
    to = s;
  }
  memcpy(out, from, sizeof a);
}

int main(void) {
  double x[12];
  for (int trial = 1; trial <= 2; trial++) {
    seed(trial);
    fill(x, 12, -1, 1);
    CHECK_GRADIENT(grid, x, 12);
    CHECK_GRADIENT(overlapping_moves, x, 12);
    CHECK_GRADIENT(move_in_argument, x, 12);
    CHECK_GRADIENT(heap, x, 12);
    CHECK_GRADIENT(heap_in_loop, x, 12);
    CHECK_GRADIENT(returned_buffer, x, 12);
    CHECK_GRADIENT(table, x, 12);
    CHECK_GRADIENT(variable_length, x, 12);
    CHECK_GRADIENT(gather_scatter, x, 12);
    CHECK_MAP(stencil, x, 12, 12);
  }
  return finish("arrays");
}

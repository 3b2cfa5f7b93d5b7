// The factor R of a matrix by reflections, in memory behind a structure. Rows are reached by
// integers that are multiples of their length.
#include "check.h"

struct matrix {
  int rows, columns;
  double *at;
};

#define AT(m, i, j) ((m).at[(i) * (m).columns + (j)])

__attribute__((noinline)) static double norm(const double *v, int n, int stride) {
  double sum = 0;
  for (; n--; v += stride) sum += *v * *v;
  return sqrt(sum);
}

static double reflect(double *x, int n) {
  struct matrix m = {4, 3, malloc(n * sizeof(double))};
  memcpy(m.at, x, 12 * sizeof(double));
  for (int k = 0; k < m.columns; k++) {
    double v[4], length = norm(&AT(m, k, k), m.rows - k, m.columns), square = 0;
    for (int i = k; i < m.rows; i++) v[i] = AT(m, i, k);
    v[k] += v[k] > 0 ? length : -length;
    for (int i = k; i < m.rows; i++) square += v[i] * v[i];
    for (int j = k; j < m.columns; j++) {
      double dot = 0;
      for (int i = k; i < m.rows; i++) dot += v[i] * AT(m, i, j);
      for (int i = k; i < m.rows; i++) AT(m, i, j) -= 2 * dot / square * v[i];
    }
  }
  double weighted = 0;
  for (int i = 0; i < m.columns; i++)
    for (int j = i; j < m.columns; j++) weighted += AT(m, i, j) * (i + 2 * j + 1);
  free(m.at);
  return weighted;
}

int main(void) {
  double x[12];
  fill(x, 12, -1, 1);
  CHECK_GRADIENT(reflect, x, 12);
  return finish("householder");
}

// Products, transposes and determinants of matrices.
#include <stdio.h>
#define N 24
static double a[N][N], b[N][N], c[N][N];
static void multiply(int n, const double (*x)[N], const double (*y)[N], double (*z)[N]) {
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += x[i][k] * y[k][j]; z[i][j] = s; }
}
static double determinant(int n, double (*m)[N]) {
  double d = 1;
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k; i < n; i++) if ((m[i][k] < 0 ? -m[i][k] : m[i][k]) > (m[p][k] < 0 ? -m[p][k] : m[p][k])) p = i;
    if (m[p][k] == 0) return 0;
    if (p != k) { for (int j = 0; j < n; j++) { double t = m[p][j]; m[p][j] = m[k][j]; m[k][j] = t; } d = -d; }
    d *= m[k][k];
    for (int i = k + 1; i < n; i++) { double f = m[i][k] / m[k][k]; for (int j = k; j < n; j++) m[i][j] -= f * m[k][j]; }
  }
  return d;
}
int main(void) {
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { a[i][j] = (i * 7 + j * 3) % 11 - 5; b[i][j] = (i == j) * 2 + (i + j) % 3; }
  multiply(N, a, b, c);
  double trace = 0; for (int i = 0; i < N; i++) trace += c[i][i];
  printf("%g %g\n", trace, c[3][17]);
  printf("%.10g\n", determinant(8, b));
}

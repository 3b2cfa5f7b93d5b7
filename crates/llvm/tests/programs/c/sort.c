// Three sorts on the same numbers, and the library's with a comparison function.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned seed = 12345;
static int next(void) { seed = seed * 1103515245u + 12345u; return (int)(seed >> 16) % 1000; }
static void insertion(int *a, int n) {
  for (int i = 1; i < n; i++) { int x = a[i], j = i; while (j > 0 && a[j - 1] > x) { a[j] = a[j - 1]; j--; } a[j] = x; }
}
static void quick(int *a, int lo, int hi) {
  if (lo >= hi) return;
  int p = a[(lo + hi) / 2], i = lo, j = hi;
  while (i <= j) { while (a[i] < p) i++; while (a[j] > p) j--; if (i <= j) { int t = a[i]; a[i++] = a[j]; a[j--] = t; } }
  quick(a, lo, j); quick(a, i, hi);
}
static void merge(int *a, int *t, int n) {
  if (n < 2) return;
  int m = n / 2; merge(a, t, m); merge(a + m, t, n - m);
  int i = 0, j = m, k = 0;
  while (i < m && j < n) t[k++] = a[i] <= a[j] ? a[i++] : a[j++];
  while (i < m) t[k++] = a[i++];
  while (j < n) t[k++] = a[j++];
  memcpy(a, t, n * sizeof *a);
}
static int compare(const void *x, const void *y) { int a = *(const int *)x, b = *(const int *)y; return (a > b) - (a < b); }
int main(void) {
  enum { N = 200 };
  int a[N], b[N], c[N], d[N], t[N];
  for (int i = 0; i < N; i++) a[i] = b[i] = c[i] = d[i] = next();
  insertion(a, N); quick(b, 0, N - 1); merge(c, t, N); qsort(d, N, sizeof *d, compare);
  long sum = 0;
  for (int i = 0; i < N; i++) { if (a[i] != b[i] || b[i] != c[i] || c[i] != d[i]) return 1; sum += (long)a[i] * i; }
  printf("%ld %d %d\n", sum, a[0], a[N - 1]);
}

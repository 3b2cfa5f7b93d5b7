// Insertion sort, then a sum weighted by rank. Quadratic, so the array is small.
#include "bench.h"

UNDER_TEST double sort_and_weigh(double *x, int n) {
  double sum = 0;
  for (int i = 1; i < n; i++) {
    double value = x[i];
    int j = i - 1;
    while (j >= 0 && x[j] > value) {
      x[j + 1] = x[j];
      j--;
    }
    x[j + 1] = value;
  }
  for (int i = 0; i < n; i++) sum += (i + 1) * x[i];
  return sum;
}

int main(int count, char **words) {
  arguments(count, words);
  int n = 3000;
  double *start = numbers(n), *x = zeros(n), *d_x = zeros(n);
  MEASURE("insertion sort", memcpy(x, start, n * sizeof(double)), keep(sort_and_weigh(x, n)),
          __enzyme_autodiff((void *)sort_and_weigh, x, d_x, n));
}

// Insertion sort, then a sum weighted by rank: the gradient is a permutation of the weights.
#include "check.h"

static void sort(double *x, int n) {
  for (int i = 1; i < n; i++) {
    double value = x[i];
    int j = i - 1;
    while (j >= 0 && x[j] > value) {
      x[j + 1] = x[j];
      j--;
    }
    x[j + 1] = value;
  }
}

static double in_place(double *x, int n) {
  double sum = 0;
  sort(x, n);
  for (int i = 0; i < n; i++) sum += (i + 1) * x[i] * x[i];
  return sum;
}

static double on_a_copy(double *x, int n) {
  double copy[64], sum = 0;
  memcpy(copy, x, n * sizeof(double));
  sort(copy, n);
  for (int i = 0; i < n; i++) sum += (i + 1) * copy[i];
  return sum;
}

static double on_the_heap(double *x, int n) {
  double *copy = malloc(n * sizeof(double)), sum = 0;
  for (int i = 0; i < n; i++) copy[i] = x[i] * x[i];
  sort(copy, n);
  for (int i = 0; i < n; i++) sum += (i + 1) * copy[i];
  free(copy);
  return sum;
}

int main(void) {
  double x[17];
  for (int trial = 1; trial <= 3; trial++) {
    seed(trial);
    fill(x, 17, -1, 1);
    CHECK_GRADIENT(in_place, x, 17);
    CHECK_GRADIENT(on_a_copy, x, 17);
    CHECK_GRADIENT(on_the_heap, x, 17);
  }
  return finish("insertion_sort");
}

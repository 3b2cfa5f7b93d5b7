// Calls: helpers with pointers in and out, recursion and mutual recursion, results in structs,
// printf in the middle.
#include "check.h"

struct three { double a, b, c; };
struct two { double value; int count; };

__attribute__((noinline)) static void both(const double *x, double *sum, double *product) {
  *sum = x[0] + x[1];
  *product = x[0] * x[1];
}

static double out_pointers(double *x, int n) {
  double s, p, total = 0;
  for (int i = 0; i + 1 < n; i++) {
    both(x + i, &s, &p);
    total += s * p;
    both(x, &p, &s);
    total -= s / (2 + p * p);
  }
  return total;
}

__attribute__((noinline)) static double power(double x, int n) {
  if (n == 0) return 1;
  double half = power(x, n / 2);
  return n % 2 ? half * half * x : half * half;
}

static double recursive(double x) { return power(x, 11) + power(x * x, 2); }

static double odd(double x, int n);
__attribute__((noinline)) static double even(double x, int n) { return n <= 0 ? x : odd(x * 0.9 + 0.1, n - 1); }
__attribute__((noinline)) static double odd(double x, int n) { return n <= 0 ? -x : even(sin(x) * x, n - 1); }
static double mutual(double x) { return even(x, 7) * odd(x, 4); }

__attribute__((noinline)) static double tree(const double *x, int n) {
  if (n == 1) return x[0];
  int half = n / 2;
  return tree(x, half) * tree(x + half, n - half) + x[0];
}
static double tree_sum(double *x, int n) { return tree(x, n); }

__attribute__((noinline)) static void merge_sort(double *x, double *scratch, int n) {
  if (n < 2) return;
  int half = n / 2, i = 0, j = half, k = 0;
  merge_sort(x, scratch, half);
  merge_sort(x + half, scratch, n - half);
  while (i < half || j < n) scratch[k++] = j == n || (i < half && x[i] < x[j]) ? x[i++] : x[j++];
  memcpy(x, scratch, n * sizeof(double));
}

static double sorted(double *x, int n) {
  double scratch[16], sum = 0;
  merge_sort(x, scratch, n);
  for (int i = 0; i < n; i++) sum += x[i] * x[i] * (i + 1);
  return sum;
}

__attribute__((noinline)) static struct three powers(double x) { return (struct three){x, x * x, x * x * x}; }
__attribute__((noinline)) static struct two counted(double x, int n) { return (struct two){x * n, n + 1}; }

static double struct_results(double x) {
  struct three p = powers(x), q = powers(p.b);
  struct two r = counted(q.a, 3), s = counted(r.value, r.count);
  return p.c * q.b + s.value * s.count;
}

static double chatty(double x) {
  double y = x * x;
  if (x > 1e6) printf("large: %f %d %s\n", x, 3, "words");
  fprintf(stderr, "");
  return y * x;
}

__attribute__((noinline)) static double leaf(double x, double y) { return x * sin(y); }
static double same_twice(double x) { return leaf(x, leaf(x, x)) + leaf(2, x) + leaf(x, 3); }

__attribute__((noinline)) static double counted_calls(double x, int *calls) {
  ++*calls;
  return x * x;
}
static double with_counter(double *x, int n) {
  int calls = 0;
  double sum = 0;
  for (int i = 0; i < n; i++) sum += counted_calls(x[i], &calls) * calls;
  return sum;
}

__attribute__((noinline)) static void update(double *state, const double *input, int n) {
  for (int i = 0; i < n; i++) state[i] = tanh(state[i] + input[(i + 1) % n] * state[(i + 1) % n]);
}
static double iterated_updates(double *x, int n) {
  double state[8];
  for (int i = 0; i < n; i++) state[i] = 0.1 * i;
  for (int t = 0; t < 4; t++) update(state, x, n);
  update(x, state, n);
  return x[0] + state[n - 1];
}

int main(void) {
  double x[8];
  for (int trial = 1; trial <= 2; trial++) {
    seed(trial);
    fill(x, 8, -1, 1);
    CHECK_GRADIENT(out_pointers, x, 8);
    CHECK_GRADIENT(tree_sum, x, 7);
    CHECK_GRADIENT(sorted, x, 8);
    CHECK_GRADIENT(with_counter, x, 8);
    CHECK_GRADIENT(iterated_updates, x, 8);
    CHECK_SCALAR(recursive, x[0]);
    CHECK_SCALAR(mutual, x[1]);
    CHECK_SCALAR(struct_results, x[2]);
    CHECK_SCALAR(chatty, x[3]);
    CHECK_SCALAR(same_twice, x[4]);
  }
  return finish("calls");
}

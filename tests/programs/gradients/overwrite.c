// Loops that overwrite what the derivative needs.
#include "check.h"

static double square_in_place(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) x[i] = x[i] * x[i];
  for (int i = 0; i < n; i++) sum += x[i] * x[(i + 1) % n];
  return sum;
}

static double repeated(double *x, int n) {
  for (int t = 0; t < 5; t++)
    for (int i = 0; i < n; i++) x[i] = sin(x[i]) + 0.5 * x[(i + 1) % n];
  return x[0] * x[n - 1];
}

static double prefix_sums(double *x, int n) {
  for (int i = 1; i < n; i++) x[i] += x[i - 1] * x[i];
  return x[n - 1];
}

static double accumulate_first(double *x, int n) {
  for (int i = 1; i < n; i++) x[0] = x[0] * x[i] + cos(x[0]);
  return x[0];
}

static void out_is_scratch(double *in, double *out) {
  for (int i = 0; i < 6; i++) out[i] = in[i];
  for (int t = 0; t < 4; t++)
    for (int i = 1; i < 5; i++) out[i] = out[i - 1] * out[i + 1] + 0.3 * out[i];
}

static double forgets(double *x, int n) {
  double y = x[0] * x[1];
  x[0] = 3;
  x[1] = y * x[0];
  return x[1] * x[0];
}

// An index that is another number in the next iteration: what is read here is written there.
static double at_changing_index(double *x, int n) {
  int at[6] = {0, 3, 1, 2, 4, 0};
  double s = 0;
  for (int i = 0; i < n; i++) {
    int k = at[i];
    s += x[k] * x[k];
    x[k + 1] = s;
  }
  return s;
}

// A machine with a stack: a, b, *, c, d, *, +.
static double stack_machine(double *x, int n) {
  const char *program = "ab*cd*+";
  double stack[8];
  int top = 0;
  for (const char *p = program; *p; p++) {
    if (*p >= 'a') {
      stack[top++] = x[(*p - 'a') % n];
    } else {
      double b = stack[--top], a = stack[--top];
      stack[top++] = *p == '*' ? a * b : a + b;
    }
  }
  return stack[0];
}

int main(void) {
  double x[6];
  fill(x, 6, 0.5, 1.5);
  CHECK_GRADIENT(square_in_place, x, 6);
  CHECK_GRADIENT(repeated, x, 6);
  CHECK_GRADIENT(prefix_sums, x, 6);
  CHECK_GRADIENT(accumulate_first, x, 6);
  CHECK_GRADIENT(forgets, x, 2);
  CHECK_MAP(out_is_scratch, x, 6, 6);
  CHECK_GRADIENT(at_changing_index, x, 6);
  CHECK_GRADIENT(stack_machine, x, 4);
  return finish("overwrite");
}

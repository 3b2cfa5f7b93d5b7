// Variables of static storage through which derivatives flow: they need shadows.
#include "check.h"

static double state[4];
static double scale = 1;
double visible[4];

static double through_state(double *x, int n) {
  for (int i = 0; i < 4; i++) state[i] = x[i] * x[i];
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += state[i] * state[3 - i] * x[0];
  return sum;
}

__attribute__((noinline)) static void set_scale(double s) { scale = s * s; }
__attribute__((noinline)) static double scaled(double x) { return x * scale; }

static double through_calls(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    set_scale(x[i]);
    sum += scaled(x[(i + 1) % n]);
  }
  return sum;
}

// A variable that other files can see.
static double through_visible(double *x, int n) {
  for (int i = 0; i < n; i++) visible[i % 4] = sin(x[i]) * x[0];
  double product = 1;
  for (int i = 0; i < 4; i++) product *= 1 + visible[i];
  return product;
}

// What the variable held before the call has no derivative; what it holds after one is left there.
static double accumulate(double *x, int n) {
  static double total = 2;
  total = 0.5 * total;
  double start = total;
  for (int i = 0; i < n; i++) total += x[i] * x[i] * total;
  double result = total;
  total = 2 * start;
  return result;
}

static _Thread_local double recent[2];
__attribute__((noinline)) static void push(double v) {
  recent[1] = recent[0];
  recent[0] = v;
}

static double through_thread_local(double *x, int n) {
  recent[0] = recent[1] = 0;
  double sum = 0;
  for (int i = 0; i < n; i++) {
    push(x[i] * x[i]);
    sum += recent[0] * recent[1];
  }
  return sum;
}

// A table of pointers to variables: its shadow leads to their shadows.
static double left[2], right[2];
static double *const sides[2] = {left, right};
__attribute__((noinline)) static void put(int i, double v) { sides[i % 2][i / 2 % 2] = v; }
__attribute__((noinline)) static double get(int i) { return sides[i % 2][i / 2 % 2]; }

static double through_table(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) put(i, x[i] * x[0]);
  for (int i = 0; i < n; i++) sum += get(i) * get(i + 1) * x[i];
  return sum;
}

// The variable is never written, so it is a constant, whatever it is called.
static double buffer[4];
static double *place = buffer + 1;

static double through_pointer(double *x, int n) {
  place[0] = x[0] * x[1];
  place[1] = x[2] * place[0];
  return buffer[1] * buffer[2] + place[1];
}

static struct {
  int count;
  double sum, squares;
} moments;

static double through_structure(double *x, int n) {
  moments.count = 0;
  moments.sum = moments.squares = 0;
  for (int i = 0; i < n; i++) {
    moments.count++;
    moments.sum += x[i];
    moments.squares += x[i] * x[i];
  }
  double mean = moments.sum / moments.count;
  return moments.squares / moments.count - mean * mean;
}

// Several derivatives at once have a shadow each.
typedef struct {
  double a, b;
} pair;
extern pair __enzyme_fwddiff_pair(void *, ...);

static void check_width(double *x) {
  double first[4] = {1, 0, 0, 0}, second[4] = {0, 0, 1, 0}, in[4];
  memcpy(in, x, sizeof in);
  pair both = __enzyme_fwddiff_pair((void *)through_calls, enzyme_width, 2, enzyme_dup, in, first,
                                    second, enzyme_const, 4);
  check_close("width", 0, both.a, check_difference(through_calls, x, 4, 0), 1e-6);
  check_close("width", 1, both.b, check_difference(through_calls, x, 4, 2), 1e-6);
  double g1[4] = {0}, g2[4] = {0};
  __enzyme_autodiff((void *)through_table, enzyme_width, 2, enzyme_dup, in, g1, g2, enzyme_const, 4);
  for (int i = 0; i < 4; i++) {
    double want = check_difference(through_table, x, 4, i);
    check_close("width, reverse", i, g1[i], want, 1e-6);
    check_close("width, reverse", i, g2[i], want, 1e-6);
  }
}

// The derivative of a derivative: the inner one's shadow of a variable is not the outer one's, for
// the outer derivative of `scale` must survive the inner call.
static double borrow(double x) {
  double old = scale;
  set_scale(x);
  double result = scaled(x) * old;
  scale = old;
  return result;
}
static double outer_forward(double x) {
  set_scale(x);
  return __enzyme_fwddiff((void *)borrow, enzyme_dup, x, 1.0) * scale;
}
static double outer_reverse(double x) {
  set_scale(x);
  return __enzyme_autodiff((void *)borrow, enzyme_out, x) * scale;
}

int main(void) {
  double x[4];
  fill(x, 4, -1, 1);
  // Twice, because the first derivative must leave nothing behind for the second.
  for (int round = 0; round < 2; round++) {
    CHECK_GRADIENT(through_state, x, 4);
    CHECK_GRADIENT(through_calls, x, 4);
    CHECK_GRADIENT(through_visible, x, 4);
    CHECK_GRADIENT(accumulate, x, 4);
    CHECK_GRADIENT(through_thread_local, x, 4);
    CHECK_GRADIENT(through_table, x, 4);
    CHECK_GRADIENT(through_pointer, x, 4);
    CHECK_GRADIENT(through_structure, x, 4);
    check_width(x);
    CHECK_SCALAR(outer_forward, 0.7);
    CHECK_SCALAR(outer_reverse, 0.7);
  }
  return finish("globals_active");
}

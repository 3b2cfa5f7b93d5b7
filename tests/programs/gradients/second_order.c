// Products of Hessians with vectors, in all four nestings: forward and reverse mode of a gradient,
// and of a tangent. All of them must agree with differences of gradients.
#include "check.h"

extern int enzyme_dupv;
struct two {
  double a, b;
};
extern struct two __enzyme_fwddiff_two(void *, ...);

#define SIZE 16

// The gradient and a tangent of `double f(double *x, int n)` as functions that can be
// differentiated, and the four derivatives of those.
#define SECOND_ORDER(f)                                                                         \
  static void f##_gradient(double *x, double *g, int n) {                                       \
    for (int i = 0; i < n; i++) g[i] = 0;                                                       \
    __enzyme_autodiff((void *)f, enzyme_dup, x, g, enzyme_const, n);                            \
  }                                                                                             \
  static double f##_tangent(double *x, double *v, int n) {                                      \
    return __enzyme_fwddiff((void *)f, enzyme_dup, x, v, enzyme_const, n);                      \
  }                                                                                             \
  static void f##_check(const double *at, int n) {                                              \
    double x[SIZE], v[SIZE], w[SIZE], g[SIZE], plus[SIZE], minus[SIZE], want[SIZE], h = 1e-5;   \
    double hv[SIZE] = {0}, dg[SIZE];                                                            \
    fill(v, n, -1, 1);                                                                          \
    for (int i = 0; i < n; i++) x[i] = at[i] + h * v[i];                                        \
    f##_gradient(x, plus, n);                                                                   \
    for (int i = 0; i < n; i++) x[i] = at[i] - h * v[i];                                        \
    f##_gradient(x, minus, n);                                                                  \
    for (int i = 0; i < n; i++) want[i] = (plus[i] - minus[i]) / (2 * h);                       \
    memcpy(x, at, n * sizeof *x), memcpy(w, v, n * sizeof *x);                                  \
    __enzyme_fwddiff((void *)f##_gradient, enzyme_dup, x, w, enzyme_dup, g, hv, enzyme_const, n); \
    for (int i = 0; i < n; i++) check_close("forward over reverse " #f, i, hv[i], want[i], 1e-5); \
    memcpy(x, at, n * sizeof *x), memcpy(dg, v, n * sizeof *x), memset(hv, 0, sizeof hv);       \
    __enzyme_autodiff((void *)f##_gradient, enzyme_dup, x, hv, enzyme_dup, g, dg, enzyme_const, n); \
    for (int i = 0; i < n; i++) check_close("reverse over reverse " #f, i, hv[i], want[i], 1e-5); \
    memcpy(x, at, n * sizeof *x), memcpy(w, v, n * sizeof *x), memset(hv, 0, sizeof hv);        \
    memset(dg, 0, sizeof dg);                                                                   \
    __enzyme_autodiff((void *)f##_tangent, enzyme_dup, x, hv, enzyme_dup, w, dg, enzyme_const, n); \
    for (int i = 0; i < n; i++) check_close("reverse over forward " #f, i, hv[i], want[i], 1e-5); \
    double twice = 0;                                                                           \
    for (int i = 0; i < n; i++) twice += v[i] * want[i];                                        \
    memcpy(x, at, n * sizeof *x), memcpy(w, v, n * sizeof *x), memcpy(hv, v, n * sizeof *x);    \
    memset(dg, 0, sizeof dg);                                                                   \
    check_close("forward over forward " #f, 0,                                                  \
                __enzyme_fwddiff((void *)f##_tangent, enzyme_dup, x, hv, enzyme_dup, w, dg,     \
                                 enzyme_const, n), twice, 1e-5);                                \
  }

// A counted loop over an array.
static double rosenbrock(double *x, int n) {
  double sum = 0;
  for (int i = 0; i + 1 < n; i++) {
    double a = 1 - x[i], b = x[i + 1] - x[i] * x[i];
    sum += a * a + 100 * b * b;
  }
  return sum;
}

// Branches that depend on the numbers.
static double pieces(double *x, int n) {
  double sum = 1;
  for (int i = 0; i < n; i++) {
    if (x[i] > 0.6) sum += x[i] * x[i] * sum;
    else if (x[i] > 0.3) sum *= sin(x[i]) + 1.5;
    else sum -= exp(x[i]) * x[(i + 1) % n];
  }
  return sum;
}

// In-place updates: the logarithm of the determinant by elimination.
static double log_determinant(double *x, int n) {
  double a[3][3], sum = 0;
  (void)n;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a[i][j] = x[i * 3 + j] + (i == j ? 4 : 0);
  for (int k = 0; k < 3; k++)
    for (int i = k + 1; i < 3; i++) {
      a[i][k] /= a[k][k];
      for (int j = k + 1; j < 3; j++) a[i][j] -= a[i][k] * a[k][j];
    }
  for (int k = 0; k < 3; k++) sum += log(a[k][k]);
  return sum;
}

// The same in the memory of the caller, which keeps the factors.
static double cholesky(double *x, int n) {
  int m = n == 9 ? 3 : 2;
  double sum = 0;
  for (int j = 0; j < m; j++) {
    double d = x[j * m + j] + 3;
    for (int k = 0; k < j; k++) d -= x[j * m + k] * x[j * m + k];
    d = x[j * m + j] = sqrt(d);
    for (int i = j + 1; i < m; i++) {
      double s = x[i * m + j];
      for (int k = 0; k < j; k++) s -= x[i * m + k] * x[j * m + k];
      x[i * m + j] = s / d;
    }
    sum += log(d);
  }
  return sum;
}

// The number of iterations is not known before.
static double newton(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double a = x[i] + 2, r = 1, before;
    do {
      before = r;
      r = r - (r * r * r - a) / (3 * r * r);
    } while (fabs(r - before) > 1e-14);
    sum += r * r * (i + 1);
  }
  return sum;
}

// Recursion with arrays on the heap: the energy of a spectrum.
static void transform(double *re, double *im, int n) {
  if (n == 1) return;
  double *even = malloc(n * sizeof *even), *odd = malloc(n * sizeof *odd);
  for (int i = 0; i < n / 2; i++) {
    even[i] = re[2 * i], even[n / 2 + i] = im[2 * i];
    odd[i] = re[2 * i + 1], odd[n / 2 + i] = im[2 * i + 1];
  }
  transform(even, even + n / 2, n / 2);
  transform(odd, odd + n / 2, n / 2);
  for (int i = 0; i < n / 2; i++) {
    double c = cos(2 * 3.14159265358979 * i / n), s = -sin(2 * 3.14159265358979 * i / n);
    double u = c * odd[i] - s * odd[n / 2 + i], v = c * odd[n / 2 + i] + s * odd[i];
    re[i] = even[i] + u, im[i] = even[n / 2 + i] + v;
    re[i + n / 2] = even[i] - u, im[i + n / 2] = even[n / 2 + i] - v;
  }
  free(even);
  free(odd);
}

static double spectrum(double *x, int n) {
  double re[8], im[8], sum = 0;
  for (int i = 0; i < n; i++) re[i] = x[i], im[i] = x[i] * x[n - 1 - i];
  transform(re, im, n);
  for (int i = 0; i < n; i++) {
    double power = re[i] * re[i] + im[i] * im[i];
    sum += power * power * (i + 1);
  }
  return sum * 1e-3;
}

// Sorting moves numbers around by their own order.
static void quicksort(double *x, int low, int high) {
  if (low >= high) return;
  double pivot = x[(low + high) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (x[i] < pivot) i++;
    while (x[j] > pivot) j--;
    if (i > j) break;
    double t = x[i];
    x[i++] = x[j], x[j--] = t;
  }
  quicksort(x, low, j);
  quicksort(x, i, high);
}

static double sorted(double *x, int n) {
  double sum = 0;
  quicksort(x, 0, n - 1);
  for (int i = 0; i < n; i++) sum += (i + 1) * x[i] * x[i] * x[n - 1 - i];
  return sum;
}

// A network with its layers in structures, on the heap.
struct layer {
  int rows, columns;
  double *values;
};

static double network(double *x, int n) {
  struct layer *layers = malloc(2 * sizeof *layers);
  double sum = 0;
  for (int l = 0; l < 2; l++) {
    layers[l].rows = 2, layers[l].columns = 2;
    layers[l].values = malloc(2 * sizeof(double));
  }
  double *in = x + n - 2;
  for (int l = 0; l < 2; l++) {
    for (int i = 0; i < layers[l].rows; i++) {
      double s = 0;
      for (int j = 0; j < layers[l].columns; j++) s += x[4 * l + i * 2 + j] * in[j];
      layers[l].values[i] = tanh(s);
    }
    in = layers[l].values;
  }
  for (int i = 0; i < 2; i++) sum += in[i] * in[i];
  for (int l = 0; l < 2; l++) free(layers[l].values);
  free(layers);
  return sum;
}

// A list, built and folded here.
struct node {
  double value;
  struct node *next;
};

static double list(double *x, int n) {
  struct node *head = NULL;
  for (int i = 0; i < n; i++) {
    struct node *node = malloc(sizeof *node);
    node->value = x[i] * x[(i + 1) % n], node->next = head;
    head = node;
  }
  double sum = 1;
  while (head) {
    struct node *next = head->next;
    sum = sum * head->value + sin(head->value);
    free(head);
    head = next;
  }
  return sum;
}

// An array that grows in its loop.
static double growing(double *x, int n) {
  double *y = NULL, sum = 0;
  int room = 0;
  for (int i = 0; i < n; i++) {
    if (i == room) {
      room = room ? 2 * room : 1;
      y = realloc(y, room * sizeof *y);
    }
    y[i] = x[i] * x[i] * (i ? y[i - 1] : 1);
    sum += y[i];
  }
  free(y);
  return sum;
}

// Variables of the program.
static double total, table[4];

__attribute__((noinline)) static void add(double v, int i) {
  total += v * table[i % 4];
  table[i % 4] = sin(v) + total;
}

static double variables(double *x, int n) {
  total = 0;
  for (int i = 0; i < 4; i++) table[i] = 1;
  for (int i = 0; i < n; i++) add(x[i], i);
  return total * table[0];
}

// Callbacks, chosen at run time.
struct context {
  double scale;
};
typedef double (*callback)(double, struct context *);
__attribute__((noinline)) static double bend(double v, struct context *c) { return sin(v * c->scale); }
__attribute__((noinline)) static double square(double v, struct context *c) { return v * v + c->scale; }
static callback callbacks[] = {bend, square};

static double called(double *x, int n) {
  struct context context = {x[0] + 1};
  double sum = 1;
  for (int i = 0; i < n; i++) {
    sum += callbacks[i % 2](x[i] * sum, &context);
    context.scale *= 1.1;
  }
  return sum;
}

// Mutual recursion.
static double odd(double *x, int n);
__attribute__((noinline)) static double even(double *x, int n) { return n == 0 ? 1 : x[n - 1] * odd(x, n - 1) + sin(x[0]); }
__attribute__((noinline)) static double odd(double *x, int n) { return n == 0 ? 2 : exp(0.1 * x[n - 1]) * even(x, n - 1); }

// Two steps of a reaction with diffusion on a ring.
static double brusselator(double *x, int n) {
  int m = n / 2;
  double u[8], v[8], sum = 0;
  memcpy(u, x, m * sizeof *u), memcpy(v, x + m, m * sizeof *v);
  for (int step = 0; step < 2; step++) {
    double p[8], q[8];
    for (int i = 0; i < m; i++) {
      int l = (i + m - 1) % m, r = (i + 1) % m;
      p[i] = u[i] + 0.01 * (1 + u[i] * u[i] * v[i] - 4.4 * u[i] + 10 * (u[l] - 2 * u[i] + u[r]));
      q[i] = v[i] + 0.01 * (3.4 * u[i] - u[i] * u[i] * v[i] + 10 * (v[l] - 2 * v[i] + v[r]));
    }
    memcpy(u, p, m * sizeof *u), memcpy(v, q, m * sizeof *v);
  }
  for (int i = 0; i < m; i++) sum += u[i] * u[i] * v[i];
  return sum;
}

SECOND_ORDER(rosenbrock)
SECOND_ORDER(pieces)
SECOND_ORDER(log_determinant)
SECOND_ORDER(cholesky)
SECOND_ORDER(newton)
SECOND_ORDER(spectrum)
SECOND_ORDER(sorted)
SECOND_ORDER(network)
SECOND_ORDER(list)
SECOND_ORDER(growing)
SECOND_ORDER(variables)
SECOND_ORDER(called)
SECOND_ORDER(even)
SECOND_ORDER(brusselator)

// Two columns of the Hessian at once: two tangents of a gradient, and gradients of two tangents.
static void rosenbrock_tangents(double *x, double *v, double *w, double *out, int n) {
  struct two t = __enzyme_fwddiff_two((void *)rosenbrock, enzyme_width, 2, enzyme_dup, x, v, w,
                                      enzyme_const, n);
  out[0] = t.a, out[1] = t.b;
}

static void columns(const double *at, int n) {
  double x[SIZE], g[SIZE], v[2][SIZE] = {{1}, {0, 0, 1}}, h[2][SIZE], want[2][SIZE];
  for (int k = 0; k < 2; k++) {
    memcpy(x, at, n * sizeof *x);
    __enzyme_fwddiff((void *)rosenbrock_gradient, enzyme_dup, x, v[k], enzyme_dup, g, want[k],
                     enzyme_const, n);
  }
  memset(h, 0, sizeof h);
  __enzyme_fwddiff((void *)rosenbrock_gradient, enzyme_width, 2, enzyme_dup, x, v[0], v[1],
                   enzyme_dup, g, h[0], h[1], enzyme_const, n);
  for (int i = 0; i < n; i++) {
    check_close("width 2, forward", i, h[0][i], want[0][i], 1e-12);
    check_close("width 2, forward", n + i, h[1][i], want[1][i], 1e-12);
  }
  memset(h, 0, sizeof h);
  __enzyme_fwddiff((void *)rosenbrock_gradient, enzyme_width, 2, enzyme_dupv, sizeof v[0], x, v,
                   enzyme_dupv, sizeof h[0], g, h, enzyme_const, n);
  for (int i = 0; i < n; i++) check_close("dupv, forward", i, h[1][i], want[1][i], 1e-12);
  double seed[2][SIZE];
  memset(h, 0, sizeof h), memcpy(seed, v, sizeof v);
  __enzyme_autodiff((void *)rosenbrock_gradient, enzyme_width, 2, enzyme_dup, x, h[0], h[1],
                    enzyme_dup, g, seed[0], seed[1], enzyme_const, n);
  for (int i = 0; i < n; i++) {
    check_close("width 2, reverse", i, h[0][i], want[0][i], 1e-12);
    check_close("width 2, reverse", n + i, h[1][i], want[1][i], 1e-12);
  }
  memset(h, 0, sizeof h), memcpy(seed, v, sizeof v);
  __enzyme_autodiff((void *)rosenbrock_gradient, enzyme_width, 2, enzyme_dupv, sizeof h[0], x, h,
                    enzyme_dupv, sizeof seed[0], g, seed, enzyme_const, n);
  for (int i = 0; i < n; i++) check_close("dupv, reverse", i, h[1][i], want[1][i], 1e-12);
  double out[2], d_out[2] = {1, 0}, d_x[SIZE] = {0}, zero[2][SIZE] = {{0}};
  rosenbrock_tangents(x, v[0], v[1], out, n);
  rosenbrock_gradient(x, g, n);
  check_close("tangents", 0, out[1], g[2], 1e-12);
  __enzyme_autodiff((void *)rosenbrock_tangents, enzyme_dup, x, d_x, enzyme_dup, v[0], zero[0],
                    enzyme_dup, v[1], zero[1], enzyme_dup, out, d_out, enzyme_const, n);
  for (int i = 0; i < n; i++) check_close("width 2 inside", i, d_x[i], want[0][i], 1e-12);
}

// The third derivative, by three different ways.
static double wave(double x) {
  double y = x;
  for (int i = 0; i < 3; i++) y = sin(y * x) + y;
  return y;
}
static double wave_r(double x) { return __enzyme_autodiff((void *)wave, enzyme_out, x); }
static double wave_f(double x) { return __enzyme_fwddiff((void *)wave, enzyme_dup, x, 1.0); }
static double wave_rr(double x) { return __enzyme_autodiff((void *)wave_r, enzyme_out, x); }
static double wave_fr(double x) { return __enzyme_fwddiff((void *)wave_r, enzyme_dup, x, 1.0); }
static double wave_rf(double x) { return __enzyme_autodiff((void *)wave_f, enzyme_out, x); }

static void third(double x) {
  double h = 1e-5, want = (wave_fr(x + h) - wave_fr(x - h)) / (2 * h);
  check_close("second", 0, wave_rr(x), wave_fr(x), 1e-12);
  check_close("second", 1, wave_rf(x), wave_fr(x), 1e-12);
  check_close("third", 0, __enzyme_autodiff((void *)wave_rr, enzyme_out, x), want, 1e-6);
  check_close("third", 1, __enzyme_fwddiff((void *)wave_rf, enzyme_dup, x, 1.0), want, 1e-6);
  check_close("third", 2, __enzyme_autodiff((void *)wave_fr, enzyme_out, x), want, 1e-6);
}

int main(void) {
  double x[10];
  fill(x, 10, 0.1, 0.9);
  rosenbrock_check(x, 6);
  pieces_check(x, 7);
  log_determinant_check(x, 9);
  cholesky_check(x, 9);
  newton_check(x, 4);
  spectrum_check(x, 8);
  sorted_check(x, 8);
  network_check(x, 10);
  list_check(x, 6);
  growing_check(x, 6);
  variables_check(x, 7);
  called_check(x, 5);
  even_check(x, 6);
  brusselator_check(x, 10);
  columns(x, 5);
  third(0.7);
  return finish("second_order");
}

// Products of matrices as people write them, and loops that almost are some. Along random directions,
// forward mode agrees with finite differences, and reverse mode with forward mode; what the
// derivatives leave in memory is, bit for bit, what the function leaves there.
#include "check.h"

// All numbers of a program: matrices a, b and c, wherever they lie, and a row of biases.
enum { MOST = 5 * 64 * 64, BIASES = 80 };

typedef void (*product)(double *c, const double *a, const double *b, const double *bias, int m, int n,
                        int p);

typedef void (*derivative)(double *c, double *dc, double *a, double *da, double *b, double *db,
                           double *bias, double *dbias, int m, int n, int p);

#define DERIVATIVE(name, suffix, request)                                                          \
  static void name##suffix(double *c, double *dc, double *a, double *da, double *b, double *db,    \
                           double *bias, double *dbias, int m, int n, int p) {                     \
    request((void *)name, c, dc, a, da, b, db, bias, dbias, m, n, p);                              \
  }
#define PRODUCT(name)                                                                              \
  __attribute__((noinline)) static void name(double *c, const double *a, const double *b,          \
                                             const double *bias, int m, int n, int p);             \
  DERIVATIVE(name, _forward, __enzyme_fwddiff)                                                     \
  DERIVATIVE(name, _reverse, __enzyme_autodiff)                                                    \
  static void name(double *c, const double *a, const double *b, const double *bias, int m, int n,  \
                   int p)

PRODUCT(in_a_register) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = bias ? bias[j] : 0;
      for (int k = 0; k < p; k++) sum += a[i * p + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

PRODUCT(in_memory) {
  for (int i = 0; i < m; i++)
    for (int k = 0; k < p; k++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[i * p + k] * b[k * n + j];
}

PRODUCT(both_transposed) {
  for (long j = 0; j < n; j++)
    for (long i = 0; i < m; i++) {
      double sum = 0;
      for (long k = 0; k < p; k++) sum -= a[k * m + i] * b[j * p + k];
      c[i * n + j] = 0.5 * sum + bias[j];
    }
}

PRODUCT(through_a_function) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = bias[j];
      for (int k = 0; k < p; k++) sum += a[i * p + k] * b[k * n + j];
      c[i * n + j] = tanh(sum);
    }
}

PRODUCT(four_rows_at_a_time) {
  int i = 0;
  for (; i + 4 <= m; i += 4)
    for (int j = 0; j < n; j++) {
      double sums[4];
      for (int r = 0; r < 4; r++) sums[r] = bias[j];
      for (int k = 0; k < p; k++)
        for (int r = 0; r < 4; r++) sums[r] += a[(i + r) * p + k] * b[k * n + j];
      for (int r = 0; r < 4; r++) c[(i + r) * n + j] = sums[r];
    }
  for (; i < m; i++)
    for (int j = 0; j < n; j++) {
      c[i * n + j] = bias[j];
      for (int k = 0; k < p; k++) c[i * n + j] += a[i * p + k] * b[k * n + j];
    }
}

PRODUCT(triangular) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k <= i && k < p; k++) sum += a[i * p + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

static int smaller(int x, int y) { return x < y ? x : y; }

// As in attention that looks back.
PRODUCT(triangle_of_the_result) {
  int size = smaller(m, n);
  for (int i = 0; i < size; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < p; k++) sum += a[i * p + k] * b[j * p + k];
      c[i * n + j] = 0.5 * sum;
    }
}

PRODUCT(triangle_of_an_operand) {
  int size = smaller(m, p);
  for (int i = 0; i < size; i++)
    for (int k = 0; k < i; k++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[i * p + k] * b[k * n + j];
}

PRODUCT(upper_triangle) {
  int size = smaller(m, p);
  for (int i = 0; i < size; i++)
    for (int j = 0; j < n; j++) {
      double sum = bias[j];
      for (int k = i; k < p; k++) sum += a[i * p + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

PRODUCT(rows_of_every_length) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int k = 0; k < p - 2 * i; k++) sum += a[j * p + k] * b[k * n + i];
      c[j * n + i] += sum;
    }
}

PRODUCT(batched) {
  for (int h = 0; h < 2; h++)
    for (int i = 0; i < m / 2; i++)
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int k = 0; k < p; k++) sum += a[(h * (m / 2) + i) * p + k] * b[k * n + j];
        c[(h * (m / 2) + i) * n + j] = sum;
      }
}

PRODUCT(unsigned_indices) {
  for (unsigned i = 0; i < (unsigned)m; i++)
    for (unsigned j = 0; j < (unsigned)n; j++) {
      double sum = 0;
      for (unsigned k = 0; k < (unsigned)p; k++) sum += a[i * p + k] * b[k * n + j];
      c[i * n + j] += sum;
    }
}

// Near misses.
PRODUCT(sum_is_looked_at) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < p; k++) sum += a[i * p + k] * b[k * n + j] * (1 + 0.01 * sum);
      c[i * n + j] = sum;
    }
}

PRODUCT(bound_depends_on_data) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < p && sum < 1; k++) sum += a[i * p + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

PRODUCT(rows_depend_on_each_other) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = i ? 0.1 * c[(i - 1) * n + j] : bias[j];
      for (int k = 0; k < p; k++) sum += a[i * p + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

PRODUCT(convolution) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < p; k++) sum += a[i + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

// What is added up in memory is read in the same loop, beside a product that is one.
PRODUCT(in_place_beside_a_product) {
  double *q = (double *)b;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = bias[j];
      for (int k = 0; k < p; k++) {
        sum += a[i * p + k] * a[j * p + k];
        q[i * n + j] += 0.01 * a[i * p + k] * q[k * n + j];
      }
      c[i * n + j] = sum;
    }
}

#define ROW(name) {#name, name, name##_forward, name##_reverse}
static const struct {
  const char *name;
  product f;
  derivative forward, reverse;
} products[] = {
    ROW(in_a_register),
    ROW(in_memory),
    ROW(both_transposed),
    ROW(through_a_function),
    ROW(four_rows_at_a_time),
    ROW(triangular),
    ROW(triangle_of_the_result),
    ROW(triangle_of_an_operand),
    ROW(upper_triangle),
    ROW(rows_of_every_length),
    ROW(batched),
    ROW(unsigned_indices),
    ROW(sum_is_looked_at),
    ROW(bound_depends_on_data),
    ROW(rows_depend_on_each_other),
    ROW(convolution),
    ROW(in_place_beside_a_product),
};

// Where the matrices lie in one memory: apart, or the result on or among the operands.
struct layout {
  const char *name;
  int a, b, c;
};

static double memory[MOST], tangent[MOST], adjoint[MOST], bias[BIASES], bias_tangent[BIASES],
    bias_adjoint[BIASES];
static double before[MOST], plain[MOST], seeds[MOST], direction[MOST], plus[MOST];

static void check_product(int which, struct layout at, int m, int n, int p, double tolerance) {
  product f = products[which].f;
  int size = at.c + m * n;
  size = size < at.b + n * (m + p) ? at.b + n * (m + p) : size;
  size = size < at.a + (m + p) * p ? at.a + (m + p) * p : size;
  if (size > MOST) abort();
  char what[128];
  snprintf(what, sizeof what, "%s, %s, %d %d %d", products[which].name, at.name, m, n, p);
  fill(before, size, -0.3, 0.3), fill(bias, BIASES, -1, 1), fill(seeds, size, -1, 1);
  fill(direction, size, -1, 1), fill(bias_tangent, BIASES, -1, 1);
  memcpy(plain, before, sizeof plain);
  f(plain + at.c, plain + at.a, plain + at.b, bias, m, n, p);

  memcpy(memory, before, sizeof memory), memcpy(tangent, direction, sizeof tangent);
  products[which].forward(memory + at.c, tangent + at.c, memory + at.a, tangent + at.a,
                          memory + at.b, tangent + at.b, bias, bias_tangent, m, n, p);
  if (memcmp(memory, plain, size * sizeof *plain)) check_close(what, -1, 0, 1, 0);
  double h = 1e-6, moved_bias[BIASES];
  for (int sign = 1; sign >= -1; sign -= 2) {
    for (int i = 0; i < size; i++) memory[i] = before[i] + sign * h * direction[i];
    for (int i = 0; i < BIASES; i++) moved_bias[i] = bias[i] + sign * h * bias_tangent[i];
    f(memory + at.c, memory + at.a, memory + at.b, moved_bias, m, n, p);
    if (sign > 0) memcpy(plus, memory, sizeof plus);
  }
  double forward = 0, differences = 0;
  for (int i = 0; i < size; i++) {
    forward += seeds[i] * tangent[i];
    differences += seeds[i] * (plus[i] - memory[i]) / (2 * h);
  }
  check_close(what, 1, forward, differences, tolerance);

  memcpy(memory, before, sizeof memory), memcpy(adjoint, seeds, sizeof adjoint);
  memset(bias_adjoint, 0, sizeof bias_adjoint);
  products[which].reverse(memory + at.c, adjoint + at.c, memory + at.a, adjoint + at.a,
                          memory + at.b, adjoint + at.b, bias, bias_adjoint, m, n, p);
  if (memcmp(memory, plain, size * sizeof *plain)) check_close(what, -2, 0, 1, 0);
  double reverse = 0;
  for (int i = 0; i < size; i++) reverse += adjoint[i] * direction[i];
  for (int i = 0; i < BIASES; i++) reverse += bias_adjoint[i] * bias_tangent[i];
  check_close(what, 2, reverse, forward, 1e-9);
}

int main(void) {
  // From so many multiplications on there are kernels, and from 64 rows on for parts of triangles.
  static const int sizes[][3] = {{40, 36, 44}, {73, 66, 70}, {5, 3, 4}, {1, 1, 1}, {3, 2, 0}, {0, 2, 3}};
  for (int which = 0; which < (int)(sizeof products / sizeof *products); which++)
    for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
      int m = sizes[s][0], n = sizes[s][1], p = sizes[s][2], room = (m + p) * (p + 1) + 1;
      seed(1000 * which + s);
      struct layout apart = {"apart", 0, room, room + n * p};
      struct layout same = {"one operand", 0, 0, room + n * p};
      struct layout among = {"result among an operand", 0, room, room + n * p / 2};
      struct layout on = {"result on an operand", 0, room, 0};
      double tolerance = 1e-6;
      check_product(which, apart, m, n, p, tolerance);
      check_product(which, same, m, n, p, tolerance);
      // What is multiplied by itself over and over grows.
      if (s > 1) {
        check_product(which, among, m, n, p, 1e-5);
        check_product(which, on, m, n, p, 1e-5);
      }
    }
  return finish("contractions");
}

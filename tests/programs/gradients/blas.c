// Linear algebra by OpenBLAS: derivatives in both modes, with factors that are active or not, both
// orders of elements, transposed matrices, lines that are longer than matrices, increments of any
// sign, operands that are overwritten later, and one operand twice. The Fortran interface is in
// blas_fortran.c.
#include "check.h"
#include <cblas.h>

static int order, ta, tb, uplo, side, diag, spoil, fixed, incx, incy, m, n, k, pad;

static double weigh(const double *x, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += (1 + i % 3) * x[i] * x[i] + 0.25 * x[i];
  return sum;
}

// What was read may not be there any more when the reverse sweep runs.
static void overwrite(double *x, int count) {
  if (spoil)
    for (int i = 0; i < count; i++) x[i] = 0.5 * i;
}

static int size(int inc, int length) { return 1 + (length - 1) * abs(inc); }

// A matrix of rows × columns: how far lines are apart, and how many numbers there are.
static int line(int rows, int columns) { return (order == CblasRowMajor ? columns : rows) + pad; }
static int area(int rows, int columns) {
  return line(rows, columns) * (order == CblasRowMajor ? rows : columns);
}

static double dot(double *p, int count) {
  double *x = p, *y = p + 20, r = cblas_ddot(5, x, incx, y, incy);
  overwrite(p, 40);
  return r * r + weigh(p, count);
}
static double dot_itself(double *p, int count) { return sin(cblas_ddot(count, p, 1, p, 1)); }
static double norm(double *p, int count) {
  double r = cblas_dnrm2(5, p, incx);
  overwrite(p, 20);
  return r * r * r + p[0];
}
static double absolute(double *p, int count) {
  double r = cblas_dasum(5, p, incx);
  overwrite(p, 20);
  return r * r + p[0];
}
static double axpy(double *p, int count) {
  double *x = p + 1, *y = p + 20;
  cblas_daxpy(5, fixed ? 1.5 : p[0], x, incx, y, incy);
  overwrite(x, 15);
  return weigh(p, count);
}
static double scal(double *p, int count) {
  cblas_dscal(5, fixed ? -0.5 : p[0], p + 1, incx);
  return weigh(p, count);
}
static double copy(double *p, int count) {
  cblas_dcopy(5, p, incx, p + 20, incy);
  overwrite(p, 15);
  return weigh(p, count);
}
static double swap(double *p, int count) {
  cblas_dswap(5, p, incx, p + 20, incy);
  p[0] *= p[20];
  return weigh(p, count);
}
static double gemv(double *p, int count) {
  int plain = ta == CblasNoTrans;
  double *a = p + 2, *x = a + area(m, n), *y = x + size(incx, plain ? n : m);
  cblas_dgemv(order, ta, m, n, fixed ? 1.5 : p[0], a, line(m, n), x, incx, fixed ? 0.5 : p[1], y, incy);
  overwrite(a, area(m, n)), overwrite(x, 2);
  return weigh(p, count);
}
static double ger(double *p, int count) {
  double *x = p + 1, *y = x + size(incx, m), *a = y + size(incy, n);
  cblas_dger(order, m, n, fixed ? 1.5 : p[0], x, incx, y, incy, a, line(m, n));
  overwrite(x, 3), overwrite(y, 2);
  return weigh(p, count);
}
static double gemm(double *p, int count) {
  int plain_a = ta == CblasNoTrans, plain_b = tb == CblasNoTrans;
  int ar = plain_a ? m : k, ac = plain_a ? k : m, br = plain_b ? k : n, bc = plain_b ? n : k;
  double *a = p + 2, *b = a + area(ar, ac), *c = b + area(br, bc);
  cblas_dgemm(order, ta, tb, m, n, k, fixed ? 1.5 : p[0], a, line(ar, ac), b, line(br, bc),
              fixed ? 0.5 : p[1], c, line(m, n));
  overwrite(a, area(ar, ac)), overwrite(b, 4);
  return weigh(p, count);
}
static double syrk(double *p, int count) {
  int plain = ta == CblasNoTrans, ar = plain ? n : k, ac = plain ? k : n;
  double *a = p + 2, *c = a + area(ar, ac);
  cblas_dsyrk(order, uplo, ta, n, k, fixed ? 1.5 : p[0], a, line(ar, ac), fixed ? 0.5 : p[1], c, line(n, n));
  overwrite(a, area(ar, ac));
  return weigh(p, count);
}
static double syr2k(double *p, int count) {
  int plain = ta == CblasNoTrans, ar = plain ? n : k, ac = plain ? k : n;
  double *a = p + 2, *b = a + area(ar, ac), *c = b + area(ar, ac);
  cblas_dsyr2k(order, uplo, ta, n, k, fixed ? 1.5 : p[0], a, line(ar, ac), b, line(ar, ac),
               fixed ? 0.5 : p[1], c, line(n, n));
  overwrite(a, area(ar, ac)), overwrite(b, 3);
  return weigh(p, count);
}
static double syr(double *p, int count) {
  double *x = p + 1, *a = x + size(incx, n);
  cblas_dsyr(order, uplo, n, fixed ? 1.5 : p[0], x, incx, a, line(n, n));
  overwrite(x, 2);
  return weigh(p, count);
}
static double syr2(double *p, int count) {
  double *x = p + 1, *y = x + size(incx, n), *a = y + size(incy, n);
  cblas_dsyr2(order, uplo, n, fixed ? 1.5 : p[0], x, incx, y, incy, a, line(n, n));
  overwrite(x, 2), overwrite(y, 1);
  return weigh(p, count);
}
static double trsv(double *p, int count) {
  double *a = p, *x = a + area(n, n);
  cblas_dtrsv(order, uplo, ta, diag, n, a, line(n, n), x, incx);
  double sum = weigh(x, size(incx, n));
  overwrite(a, area(n, n)), overwrite(x, 1);
  return sum;
}
static double trsm(double *p, int count) {
  int q = side == CblasLeft ? m : n;
  double *a = p + 1, *b = a + area(q, q);
  cblas_dtrsm(order, side, uplo, ta, diag, m, n, fixed ? 1.5 : p[0], a, line(q, q), b, line(m, n));
  double sum = weigh(b, area(m, n));
  overwrite(a, area(q, q)), overwrite(b, 1);
  return sum;
}

static double symv(double *p, int count) {
  double *a = p + 2, *x = a + area(n, n), *y = x + size(incx, n);
  cblas_dsymv(order, uplo, n, fixed ? 1.5 : p[0], a, line(n, n), x, incx, fixed ? 0.5 : p[1], y, incy);
  overwrite(a, area(n, n)), overwrite(x, 2);
  return weigh(p, count);
}
static double symm(double *p, int count) {
  int q = side == CblasLeft ? m : n;
  double *a = p + 2, *b = a + area(q, q), *c = b + area(m, n);
  cblas_dsymm(order, side, uplo, m, n, fixed ? 1.5 : p[0], a, line(q, q), b, line(m, n),
              fixed ? 0.5 : p[1], c, line(m, n));
  overwrite(a, area(q, q)), overwrite(b, 3);
  return weigh(p, count);
}
static double trmv(double *p, int count) {
  double *a = p, *x = a + area(n, n);
  cblas_dtrmv(order, uplo, ta, diag, n, a, line(n, n), x, incx);
  overwrite(a, area(n, n));
  return weigh(p, count);
}
static double trmm(double *p, int count) {
  int q = side == CblasLeft ? m : n;
  double *a = p + 1, *b = a + area(q, q);
  cblas_dtrmm(order, side, uplo, ta, diag, m, n, fixed ? 1.5 : p[0], a, line(q, q), b, line(m, n));
  overwrite(a, area(q, q));
  return weigh(p, count);
}

// Layers in loops, with weights that stay and states that do not.
static double layers(double *p, int count) {
  double *w = p, *x = p + 9, *y = p + 12;
  for (int i = 0; i < 4; i++) {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, 3, 3, 1, w, 3, x, 1, 0, y, 1);
    for (int j = 0; j < 3; j++) x[j] = tanh(y[j]);
  }
  return cblas_dnrm2(3, x, 1) + cblas_ddot(3, x, 1, p + 15, 1);
}

// Single precision, against double precision.
static float single(float *p) {
  float c[4] = {1, 2, 3, 4};
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, 2, 2, 2, p[8], p, 2, p + 4, 2, 0.5f, c, 2);
  cblas_saxpy(4, 2, p, 1, c, 1);
  return cblas_sdot(4, c, 1, c, 1) + cblas_snrm2(4, p, 1);
}
static double single_in_double(double *p, int count) {
  double c[4] = {1, 2, 3, 4};
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, 2, 2, 2, p[8], p, 2, p + 4, 2, 0.5, c, 2);
  cblas_daxpy(4, 2, p, 1, c, 1);
  return cblas_ddot(4, c, 1, c, 1) + cblas_dnrm2(4, p, 1);
}
extern float __enzyme_fwddiff_float(void *, ...);

// The derivative of a gradient in a direction, against finite differences of gradients.
static double *direction;
#define GRADIENT_OF(function)                                             \
  static void gradient_of_##function(double *p, double *d, int count) {   \
    __enzyme_autodiff((void *)function, enzyme_dup, p, d, enzyme_const, count); \
  }
GRADIENT_OF(dot) GRADIENT_OF(axpy) GRADIENT_OF(gemv) GRADIENT_OF(ger) GRADIENT_OF(gemm)
GRADIENT_OF(syrk) GRADIENT_OF(syr2k) GRADIENT_OF(syr) GRADIENT_OF(syr2) GRADIENT_OF(symv)
GRADIENT_OF(symm) GRADIENT_OF(trmv) GRADIENT_OF(trmm) GRADIENT_OF(trsv) GRADIENT_OF(trsm)
static void check_curvature(const char *name, void gradient(double *, double *, int), double *p,
                            double *found, int count) {
  double d[2][80], q[80];
  for (int sign = 0; sign < 2; sign++) {
    for (int i = 0; i < count; i++)
      q[i] = p[i] + (sign ? -1e-5 : 1e-5) * direction[i], d[sign][i] = 0;
    gradient(q, d[sign], count);
  }
  for (int i = 0; i < count; i++) check_close(name, i, found[i], (d[0][i] - d[1][i]) / 2e-5, 1e-6);
}
#define CHECK_CURVATURE(function, p, count)                                             \
  do {                                                                                  \
    double q_[80], v_[80], d_[80] = {0}, h_[80] = {0};                                  \
    memcpy(q_, p, sizeof q_), memcpy(v_, direction, sizeof v_);                         \
    __enzyme_fwddiff((void *)gradient_of_##function, enzyme_dup, q_, v_, enzyme_dup, d_, h_, \
                     enzyme_const, count);                                              \
    check_curvature("curvature of " #function, gradient_of_##function, p, h_, count);   \
  } while (0)

static double quadratic(double *x, double *a) {
  double y[2] = {0, 0};
  cblas_dgemv(CblasColMajor, CblasNoTrans, 2, 2, 1, a, 2, x, 1, 0, y, 1);
  double r = cblas_ddot(2, x, 1, y, 1);
  return r * r;
}

#define EACH(variable, first, second) \
  for (int i_##variable = 0; i_##variable < 2 && ((variable = i_##variable ? (second) : (first)), 1); i_##variable++)

int main(void) {
  double p[80];
  static const int increments[][2] = {{1, 1}, {2, 1}, {-1, 2}, {-2, -1}};
  openblas_set_num_threads(1);
  EACH(spoil, 0, 1) EACH(fixed, 0, 1) for (int i = 0; i < 4; i++) {
    incx = increments[i][0], incy = increments[i][1];
    fill(p, 80, 0.25, 1.5);
    p[3] = -p[3];
    CHECK_GRADIENT(dot, p, 40);
    CHECK_GRADIENT(axpy, p, 40);
    CHECK_GRADIENT(copy, p, 40);
    CHECK_GRADIENT(swap, p, 40);
    if (incx > 0) {
      CHECK_GRADIENT(norm, p, 20);
      CHECK_GRADIENT(absolute, p, 20);
      CHECK_GRADIENT(scal, p, 20);
    }
    EACH(order, CblasColMajor, CblasRowMajor) EACH(ta, CblasNoTrans, CblasTrans) {
      m = 3, n = 2, pad = i % 2;
      CHECK_GRADIENT(gemv, p, 2 + area(m, n) + size(incx, ta == CblasNoTrans ? n : m) +
                                  size(incy, ta == CblasNoTrans ? m : n));
      CHECK_GRADIENT(ger, p, 1 + size(incx, m) + size(incy, n) + area(m, n));
    }
  }
  fill(p, 80, 0.25, 1.5);
  CHECK_GRADIENT(dot_itself, p, 9);
  CHECK_GRADIENT(layers, p, 18);
  EACH(spoil, 0, 1) EACH(fixed, 0, 1) EACH(order, CblasColMajor, CblasRowMajor)
  EACH(ta, CblasNoTrans, CblasTrans) EACH(tb, CblasNoTrans, CblasTrans) {
    m = 3, n = 2, k = 4, pad = fixed;
    int ar = ta == CblasNoTrans ? m : k, ac = ta == CblasNoTrans ? k : m;
    int br = tb == CblasNoTrans ? k : n, bc = tb == CblasNoTrans ? n : k;
    CHECK_GRADIENT(gemm, p, 2 + area(ar, ac) + area(br, bc) + area(m, n));
  }
  EACH(spoil, 0, 1) EACH(fixed, 0, 1) EACH(order, CblasColMajor, CblasRowMajor)
  EACH(ta, CblasNoTrans, CblasTrans) EACH(uplo, CblasLower, CblasUpper) {
    n = 3, k = 2, m = 2, pad = fixed;
    int ar = ta == CblasNoTrans ? n : k, ac = ta == CblasNoTrans ? k : n;
    CHECK_GRADIENT(syrk, p, 2 + area(ar, ac) + area(n, n));
    CHECK_GRADIENT(syr2k, p, 2 + 2 * area(ar, ac) + area(n, n));
    incx = fixed ? -2 : 1, incy = spoil ? -1 : 2;
    CHECK_GRADIENT(syr, p, 1 + size(incx, n) + area(n, n));
    CHECK_GRADIENT(syr2, p, 1 + size(incx, n) + size(incy, n) + area(n, n));
    CHECK_GRADIENT(symv, p, 2 + area(n, n) + size(incx, n) + size(incy, n));
    EACH(side, CblasLeft, CblasRight) {
      int q = side == CblasLeft ? m : n;
      CHECK_GRADIENT(symm, p, 2 + area(q, q) + 2 * area(m, n));
    }
    EACH(diag, CblasNonUnit, CblasUnit) {
      incx = fixed ? -2 : 1;
      CHECK_GRADIENT(trsv, p, area(n, n) + size(incx, n));
      CHECK_GRADIENT(trmv, p, area(n, n) + size(incx, n));
      EACH(side, CblasLeft, CblasRight) {
        int q = side == CblasLeft ? m : n;
        CHECK_GRADIENT(trsm, p, 1 + area(q, q) + area(m, n));
        CHECK_GRADIENT(trmm, p, 1 + area(q, q) + area(m, n));
      }
    }
  }
  {
    float f[9], df[9] = {0};
    double d[9], dd[9] = {0};
    for (int i = 0; i < 9; i++) d[i] = f[i] = (float)p[i];
    __enzyme_autodiff((void *)single, enzyme_dup, f, df);
    __enzyme_autodiff((void *)single_in_double, enzyme_dup, d, dd, enzyme_const, 9);
    for (int i = 0; i < 9; i++) {
      float t[9] = {0};
      t[i] = 1;
      check_close("single", i, df[i], dd[i], 1e-5);
      check_close("single forward", i, __enzyme_fwddiff_float((void *)single, enzyme_dup, f, t), dd[i], 1e-5);
    }
  }
  {
    double v[80];
    fill(v, 80, -1, 1);
    direction = v;
    order = CblasRowMajor, ta = tb = CblasTrans, uplo = CblasLower, side = CblasLeft;
    diag = CblasNonUnit, spoil = fixed = pad = 0, incx = incy = 1, m = n = k = 2;
    CHECK_CURVATURE(dot, p, 40);
    CHECK_CURVATURE(axpy, p, 40);
    CHECK_CURVATURE(gemv, p, 10);
    CHECK_CURVATURE(ger, p, 9);
    CHECK_CURVATURE(gemm, p, 14);
    CHECK_CURVATURE(syrk, p, 10);
    CHECK_CURVATURE(syr2k, p, 14);
    CHECK_CURVATURE(syr, p, 7);
    CHECK_CURVATURE(syr2, p, 9);
    CHECK_CURVATURE(symv, p, 10);
    CHECK_CURVATURE(symm, p, 14);
    CHECK_CURVATURE(trmv, p, 6);
    CHECK_CURVATURE(trmm, p, 9);
    CHECK_CURVATURE(trsv, p, 6);
    CHECK_CURVATURE(trsm, p, 9);
  }
  {
    // A subprogram, and a function of the mathematical library, asked for themselves.
    double x[3] = {1, 2, 3}, y[3] = {4, 5, 6}, dx[3] = {0}, dy[3] = {0};
    __enzyme_autodiff((void *)cblas_ddot, enzyme_const, 3, enzyme_dup, x, dx, enzyme_const, 1,
                      enzyme_dup, y, dy, enzyme_const, 1);
    for (int i = 0; i < 3; i++) check_close("dx", i, dx[i], y[i], 0), check_close("dy", i, dy[i], x[i], 0);
    check_close("sin", 0, __enzyme_autodiff((void *)sin, 0.5), cos(0.5), 1e-15);
  }
  {
    // Two derivatives at once, and a constant matrix.
    double x[2] = {1, 2}, a[4] = {1, 2, 3, 4}, d[2] = {0, 0}, e[2] = {0, 0}, g[2] = {0, 0};
    __enzyme_autodiff((void *)quadratic, enzyme_dup, x, d, enzyme_const, a);
    __enzyme_autodiff((void *)quadratic, enzyme_width, 2, enzyme_dup, x, e, g, enzyme_const, a);
    double r = 1 * (1 + 6) + 2 * (2 + 8);
    for (int i = 0; i < 2; i++) {
      double want = 2 * r * (i ? 5 * 1 + 8 * 2 : 2 * 1 + 5 * 2);
      check_close("quadratic", i, d[i], want, 1e-12);
      check_close("quadratic twice", i, e[i], want, 1e-12);
      check_close("quadratic twice", 2 + i, g[i], want, 1e-12);
    }
  }
  return finish("blas");
}

// Linear algebra by OpenBLAS through the Fortran interface: everything is behind pointers, numbers
// and flags too, and may be overwritten after the call.
#include "check.h"

double ddot_(const int *, const double *, const int *, const double *, const int *);
double dnrm2_(const int *, const double *, const int *);
double dasum_(const int *, const double *, const int *);
void daxpy_(const int *, const double *, const double *, const int *, double *, const int *);
void dscal_(const int *, const double *, double *, const int *);
void dcopy_(const int *, const double *, const int *, double *, const int *);
void dswap_(const int *, double *, const int *, double *, const int *);
void dgemv_(const char *, const int *, const int *, const double *, const double *, const int *,
            const double *, const int *, const double *, double *, const int *);
void dger_(const int *, const int *, const double *, const double *, const int *, const double *,
           const int *, double *, const int *);
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
            const double *, const int *, const double *, const int *, const double *, double *,
            const int *);
void dsyrk_(const char *, const char *, const int *, const int *, const double *, const double *,
            const int *, const double *, double *, const int *);
void dtrsv_(const char *, const char *, const char *, const int *, const double *, const int *,
            double *, const int *);
void dtrsm_(const char *, const char *, const char *, const char *, const int *, const int *,
            const double *, const double *, const int *, double *, const int *);

static char trans_a, trans_b, uplo, side, diag;

static double weigh(const double *x, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += (1 + i % 3) * x[i] * x[i] + 0.25 * x[i];
  return sum;
}

// The factor is at the address that is passed, and changes afterwards, as do sizes.
static double vectors(double *p, int count) {
  int n = 4, one = 1, two = 2, back = -1;
  double *x = p + 1, *y = p + 10;
  daxpy_(&n, p, x, &two, y, &back);
  p[0] *= 0.5;
  n = 3;
  double r = ddot_(&n, x, &one, y, &two);
  dscal_(&n, p, x, &one);
  dcopy_(&n, x, &back, y + 4, &one);
  dswap_(&n, x + 3, &one, y, &one);
  p[0] = r;
  two = one;
  return r * dnrm2_(&n, x, &one) + dasum_(&n, y, &two) + weigh(p, count);
}

static double products(double *p, int count) {
  int m = 3, n = 2, k = 2, lda = 3, ldb = 2, ldc = 3, one = 1, back = -2;
  char ta = trans_a, tb = trans_b;
  double *a = p + 2, *b = p + 14, *c = p + 24;
  if (ta != 'N' && ta != 'n') lda = k;
  dgemm_(&ta, &tb, &m, &n, &k, p, a, &lda, b, &ldb, p + 1, c, &ldc);
  p[0] = p[1];
  ta = 'N', m = 2, lda = 2;
  dgemv_(&tb, &m, &n, p + 1, a, &lda, b, &back, p, c, &one);
  dger_(&m, &n, p + 1, b, &one, c, &one, a, &lda);
  a[0] = a[1] = 1;
  return weigh(p, count);
}

static double solutions(double *p, int count) {
  int n = 3, m = 2, k = 2, ld = 3, one = 1;
  char flag = uplo, trans = trans_a, unit = diag, at = side;
  double *a = p + 2, *b = p + 11, *c = p + 20;
  int size = at == 'L' || at == 'l' ? m : n;
  dtrsm_(&at, &flag, &trans, &unit, &m, &n, p, a, &ld, b, &ld);
  dtrsv_(&flag, &trans, &unit, &n, a, &ld, c, &one);
  trans = 'T', p[0] = size, a[4] = 1;
  int ldk = k;
  dsyrk_(&flag, &trans, &n, &k, p + 1, b, &ldk, p + 1, c, &ld);
  return weigh(p, count);
}

int main(void) {
  double p[60];
  fill(p, 60, 0.25, 1.5);
  CHECK_GRADIENT(vectors, p, 20);
  for (int i = 0; i < 32; i++) {
    trans_a = i & 1 ? 'N' : 't', trans_b = i & 2 ? 'n' : 'T';
    uplo = i & 4 ? 'U' : 'l', side = i & 8 ? 'L' : 'r', diag = i & 16 ? 'N' : 'u';
    if (i < 4) CHECK_GRADIENT(products, p, 32);
    CHECK_GRADIENT_TO(solutions, p, 30, 1e-5);
  }
  return finish("blas_fortran");
}

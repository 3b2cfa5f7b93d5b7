// A Gaussian mixture with a Wishart prior. The inverse covariance of component j has the lower
// triangular factor Q with exp(q[j]) on its diagonal and l[j], column by column, below it.
#include "request.h"

// x[n][d] are the points; alpha[k], mu[k][d], q[k][d] and l[k][d * (d - 1) / 2] the parameters.
struct gmm {
  int d, k, n, m;
  double gamma;
  const double *x, *alpha, *mu, *q, *l;
};

static double gmm_log_sum_exp(const double *x, int n) {
  double most = x[0], sum = 0;
  for (int i = 1; i < n; i++)
    if (x[i] > most) most = x[i];
  for (int i = 0; i < n; i++) sum += exp(x[i] - most);
  return most + log(sum);
}

static double gmm_log_gamma(double a, int d) {
  double sum = d * (d - 1) / 4.0 * log(M_PI);
  for (int j = 1; j <= d; j++) sum += lgamma(a + (1 - j) / 2.0);
  return sum;
}

// What does not depend on the parameters.
static double gmm_constant(int d, int k, int n, double gamma, int m) {
  int degrees = d + m + 1;
  return -n * d * 0.5 * log(2 * M_PI) +
         k * (degrees * d * (log(gamma) - 0.5 * log(2)) - gmm_log_gamma(0.5 * degrees, d));
}

// Q times v.
static void gmm_triangular_times(const double *diagonal, const double *l, const double *v,
                                 double *out, int d) {
  for (int r = 0; r < d; r++) out[r] = diagonal[r] * v[r];
  int at = 0;
  for (int c = 0; c < d; c++)
    for (int r = c + 1; r < d; r++) out[r] += l[at++] * v[c];
}

UNDER_TEST double gmm(int d, int k, int n, const double *alpha, const double *mu, const double *q,
                      const double *l, const double *x, double gamma, int m) {
  int lower = d * (d - 1) / 2;
  double *diagonals = doubles(k * d), *sums = doubles(k);
  double *centered = doubles(d), *product = doubles(d), *terms = doubles(k);
  for (int j = 0; j < k; j++) {
    sums[j] = 0;
    for (int c = 0; c < d; c++) {
      sums[j] += q[j * d + c];
      diagonals[j * d + c] = exp(q[j * d + c]);
    }
  }
  double likelihood = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < k; j++) {
      for (int c = 0; c < d; c++) centered[c] = x[i * d + c] - mu[j * d + c];
      gmm_triangular_times(diagonals + j * d, l + j * lower, centered, product, d);
      double square = 0;
      for (int c = 0; c < d; c++) square += product[c] * product[c];
      terms[j] = alpha[j] + sums[j] - 0.5 * square;
    }
    likelihood += gmm_log_sum_exp(terms, k);
  }
  double prior = 0;
  for (int j = 0; j < k; j++) {
    double frobenius = 0;
    for (int c = 0; c < d; c++) frobenius += diagonals[j * d + c] * diagonals[j * d + c];
    for (int c = 0; c < lower; c++) frobenius += l[j * lower + c] * l[j * lower + c];
    prior += 0.5 * gamma * gamma * frobenius - m * sums[j];
  }
  double result =
      gmm_constant(d, k, n, gamma, m) - n * gmm_log_sum_exp(alpha, k) + likelihood - prior;
  free(diagonals);
  free(sums);
  free(centered);
  free(product);
  free(terms);
  return result;
}

UNDER_TEST void gmm_gradient(const struct gmm *p, double *alpha, double *mu, double *q, double *l) {
  int d = p->d, k = p->k;
  set(alpha, k, 0);
  set(mu, k * d, 0);
  set(q, k * d, 0);
  set(l, k * d * (d - 1) / 2, 0);
  __enzyme_autodiff((void *)gmm, enzyme_const, d, enzyme_const, k, enzyme_const, p->n, enzyme_dup,
                    p->alpha, alpha, enzyme_dup, p->mu, mu, enzyme_dup, p->q, q, enzyme_dup, p->l, l,
                    enzyme_const, p->x, enzyme_const, p->gamma, enzyme_const, p->m);
}

// In any order, so that it is computed with vectors.
static inline double gmm_dot(const double *x, const double *y, int n) {
#pragma clang fp reassociate(on)
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

// Q and what comes out of it is kept for the components of one point, until their weights are known.
UNDER_TEST void gmm_by_hand(const struct gmm *p, double *restrict d_alpha, double *restrict d_mu,
                            double *restrict d_q, double *restrict d_l) {
  int d = p->d, k = p->k, n = p->n, lower = d * (d - 1) / 2;
  const double *restrict alpha = p->alpha, *restrict mu = p->mu, *restrict q = p->q;
  const double *restrict l = p->l;
  double *restrict diagonals = doubles(k * d), *restrict terms = doubles(k);
  double *restrict constants = doubles(k), *restrict back = doubles(d);
  double *restrict centered = doubles(k * d), *restrict products = doubles(k * d);
  set(d_alpha, k, 0);
  set(d_mu, k * d, 0);
  set(d_q, k * d, 0);
  set(d_l, k * lower, 0);
  for (int j = 0; j < k; j++) {
    constants[j] = alpha[j];
    for (int c = 0; c < d; c++) {
      constants[j] += q[j * d + c];
      diagonals[j * d + c] = exp(q[j * d + c]);
    }
  }
  for (int i = 0; i < n; i++) {
    const double *restrict x = p->x + i * d;
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < k; j++) {
      double *restrict v = centered + j * d, *restrict product = products + j * d;
      for (int c = 0; c < d; c++) v[c] = x[c] - mu[j * d + c];
      gmm_triangular_times(diagonals + j * d, l + j * lower, v, product, d);
      terms[j] = constants[j] - 0.5 * gmm_dot(product, product, d);
      if (terms[j] > most) most = terms[j];
    }
    for (int j = 0; j < k; j++) sum += terms[j] = exp(terms[j] - most);
    for (int j = 0; j < k; j++) {
      const double *restrict v = centered + j * d, *restrict product = products + j * d;
      const double *restrict column = l + j * lower;
      double *restrict d_column = d_l + j * lower, weight = terms[j] / sum;
      d_alpha[j] += weight;
      for (int c = 0; c < d; c++) {
        back[c] = diagonals[j * d + c] * product[c];
        d_q[j * d + c] += weight * (1 - back[c] * v[c]);
      }
      for (int c = 0; c < d; c++) {
        const double *restrict below = product + c + 1;
        double scale = -weight * v[c];
        int rows = d - 1 - c;
        for (int r = 0; r < rows; r++) d_column[r] += scale * below[r];
        d_mu[j * d + c] += weight * (back[c] + gmm_dot(column, below, rows));
        column += rows;
        d_column += rows;
      }
    }
  }
  double most = alpha[0], sum = 0, square = p->gamma * p->gamma;
  for (int j = 1; j < k; j++)
    if (alpha[j] > most) most = alpha[j];
  for (int j = 0; j < k; j++) sum += terms[j] = exp(alpha[j] - most);
  for (int j = 0; j < k; j++) d_alpha[j] -= n * terms[j] / sum;
  for (int i = 0; i < k * d; i++) d_q[i] += p->m - square * diagonals[i] * diagonals[i];
  for (int i = 0; i < k * lower; i++) d_l[i] -= square * l[i];
  free(diagonals);
  free(terms);
  free(constants);
  free(back);
  free(centered);
  free(products);
}

// Small numerical programs: elimination, Newton iterations, Kepler's equation, argmin, logsumexp.
#include "check.h"

#define N 4

// Solves a linear system in place, with partial pivoting; the last column is the right-hand side.
static double gauss(double *x, int n) {
  double a[N][N + 1];
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= N; j++) a[i][j] = x[i * (N + 1) + j] + (i == j ? 3 : 0);
  for (int k = 0; k < N; k++) {
    int pivot = k;
    for (int i = k + 1; i < N; i++)
      if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
    for (int j = k; j <= N; j++) {
      double t = a[k][j];
      a[k][j] = a[pivot][j];
      a[pivot][j] = t;
    }
    for (int i = 0; i < N; i++) {
      if (i == k) continue;
      double f = a[i][k] / a[k][k];
      for (int j = k; j <= N; j++) a[i][j] -= f * a[k][j];
    }
  }
  double sum = 0;
  for (int i = 0; i < N; i++) sum += a[i][N] / a[i][i] * (i + 1);
  return sum;
}

static double cube_root(double x) {
  double y = x, last;
  do {
    last = y;
    y -= (y * y * y - x) / (3 * y * y);
  } while (fabs(y - last) > 1e-13 * fabs(y));
  return y;
}

static double kepler(double *x, int n) {
  double mean = x[0], e = 0.5 + 0.4 * x[1], anomaly = mean;
  for (int i = 0; i < 50; i++) {
    double step = (anomaly - e * sin(anomaly) - mean) / (1 - e * cos(anomaly));
    anomaly -= step;
    if (fabs(step) < 1e-14) break;
  }
  return cos(anomaly) - e + 2 * sin(anomaly);
}

static double cluster_cost(double *x, int n) {
  const double *point = x, *center = x + 8;
  double cost = 0;
  for (int i = 0; i < 4; i++) {
    int nearest = -1;
    double least = 1e30;
    for (int c = 0; c < 2; c++) {
      double d = 0;
      for (int k = 0; k < 2; k++) {
        double t = point[2 * i + k] - center[2 * c + k];
        d += t * t;
      }
      if (d < least) {
        least = d;
        nearest = c;
      }
    }
    cost += least * (nearest + 1);
  }
  return cost;
}

static double logsumexp(double *x, int n) {
  double top = x[0], sum = 0;
  for (int i = 1; i < n; i++)
    if (x[i] > top) top = x[i];
  for (int i = 0; i < n; i++) sum += exp(x[i] - top);
  return top + log(sum);
}

static double cross_entropy(double *x, int n) {
  double p[16], sum = 0, loss = 0;
  for (int i = 0; i < n; i++) sum += p[i] = exp(x[i]);
  for (int i = 0; i < n; i++) p[i] /= sum;
  for (int i = 0; i < n; i++) loss -= (i == 2 ? 0.7 : 0.3 / (n - 1)) * log(p[i]);
  return loss;
}

static double n_body_energy(double *x, int n) {
  double energy = 0;
  for (int i = 0; i < n / 3; i++) {
    energy += 0.5 * (i + 1) * x[3 * i] * x[3 * i];
    for (int j = i + 1; j < n / 3; j++) {
      double square = 0.01;
      for (int k = 0; k < 3; k++) square += (x[3 * i + k] - x[3 * j + k]) * (x[3 * i + k] - x[3 * j + k]);
      energy -= (i + 1) * (j + 1) / sqrt(square);
    }
  }
  return energy;
}

static double simpson(double *x, int n) {
  double h = (x[1] - x[0]) / 20, sum = 0;
  for (int i = 0; i <= 20; i++) {
    double t = x[0] + i * h;
    sum += (i == 0 || i == 20 ? 1 : i % 2 ? 4 : 2) * exp(-t * t * x[2]);
  }
  return sum * h / 3;
}

static double bisection(double x) {
  double low = 0, high = 4;
  for (int i = 0; i < 40; i++) {
    double middle = (low + high) / 2;
    if (middle * middle < 2) low = middle;
    else high = middle;
  }
  return low * x * x;
}

int main(void) {
  double x[20];
  for (int trial = 1; trial <= 3; trial++) {
    seed(trial);
    fill(x, 20, -1, 1);
    CHECK_GRADIENT(gauss, x, 20);
    CHECK_SCALAR(cube_root, 2 + x[0]);
    CHECK_GRADIENT(kepler, x, 2);
    CHECK_GRADIENT(cluster_cost, x, 12);
    CHECK_GRADIENT(logsumexp, x, 10);
    CHECK_GRADIENT(cross_entropy, x, 10);
    CHECK_GRADIENT(n_body_energy, x, 15);
    CHECK_GRADIENT(simpson, x, 3);
    CHECK_SCALAR(bisection, x[3]);
  }
  return finish("numerics");
}

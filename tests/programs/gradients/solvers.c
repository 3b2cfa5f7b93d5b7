// Loops that run until something converges: Newton's method, adaptive steps, fixed points, and the
// Brusselator, a reaction with diffusion in two dimensions.
#include "check.h"

// The cube root of a sum, by Newton's method. How often it runs depends on the numbers.
static double newton(double *x, int n) {
  double c = 2, y = 1, step;
  for (int i = 0; i < n; i++) c += x[i] * x[i];
  do {
    step = (y * y * y - c) / (3 * y * y);
    y -= step;
  } while (fabs(step) > 1e-14 * fabs(y));
  return y * y;
}

// A system of two equations by Newton's method, with breaks and a limit.
static double newton_system(double *x, int n) {
  double u = 1 + 0.1 * x[0], v = 1 - 0.1 * x[1];
  for (int i = 0; i < 50; i++) {
    double f = u * u + v - 2 - 0.1 * x[2], g = u - v * v * v + 0.1 * x[3];
    if (f * f + g * g < 1e-26) break;
    double a = 2 * u, b = 1, c = 1, d = -3 * v * v, det = a * d - b * c;
    u -= (d * f - b * g) / det;
    v -= (a * g - c * f) / det;
  }
  return u * v + n * 0;
}

static void pendulum(const double *y, const double *p, double *dy) {
  dy[0] = y[1];
  dy[1] = -p[0] * sin(y[0]) - p[1] * y[1];
}

// Heun's method with a step that follows the estimated error; rejected steps are repeated. The
// step sizes depend on the numbers, so their derivatives belong to that of the result.
static double adaptive(double *x, int n) {
  double y[2] = {1 + x[0], 0.5 * x[1]}, p[2] = {2 + x[2], 0.1 + 0.05 * x[3]};
  double t = 0, h = 0.05;
  int steps = 0;
  while (t < 0.6 && steps < 200) {
    double k1[2], k2[2], mid[2], error = 0;
    pendulum(y, p, k1);
    for (int i = 0; i < 2; i++) mid[i] = y[i] + h * k1[i];
    pendulum(mid, p, k2);
    for (int i = 0; i < 2; i++) error += fabs(h * (k2[i] - k1[i]) / 2);
    if (error < 4e-3) {
      for (int i = 0; i < 2; i++) y[i] += h * (k1[i] + k2[i]) / 2;
      t += h;
      h *= 1.2;
    } else {
      h *= 0.6;
    }
    steps++;
  }
  return y[0] * y[0] + 3 * y[1] + t + n * 0;
}

enum { SIDE = 5, CELLS = SIDE * SIDE };

static void brusselator(const double *u, const double *v, double *du, double *dv, double a,
                        double b, double alpha) {
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      int north = (i + SIDE - 1) % SIDE * SIDE + j, south = (i + 1) % SIDE * SIDE + j;
      int west = i * SIDE + (j + SIDE - 1) % SIDE, east = i * SIDE + (j + 1) % SIDE;
      int at = i * SIDE + j;
      du[at] = alpha * (u[north] + u[south] + u[west] + u[east] - 4 * u[at]) + b +
               u[at] * u[at] * v[at] - (a + 1) * u[at];
      dv[at] = alpha * (v[north] + v[south] + v[west] + v[east] - 4 * v[at]) + a * u[at] -
               u[at] * u[at] * v[at];
    }
}

static double reaction(double *x, int n) {
  double u[CELLS], v[CELLS], du[CELLS], dv[CELLS], sum = 0;
  for (int i = 0; i < CELLS; i++) {
    u[i] = 1 + 0.5 * x[i];
    v[i] = 2 + 0.5 * x[CELLS + i];
  }
  for (int step = 0; step < 10; step++) {
    brusselator(u, v, du, dv, 3.4, 1 + 0 * n, 0.5);
    for (int i = 0; i < CELLS; i++) {
      u[i] += 0.02 * du[i];
      v[i] += 0.02 * dv[i];
    }
  }
  for (int i = 0; i < CELLS; i++) sum += u[i] * u[i] + i * v[i];
  return sum;
}

int main(void) {
  double x[2 * CELLS];
  for (int trial = 1; trial <= 3; trial++) {
    seed(trial);
    fill(x, 2 * CELLS, -1, 1);
    CHECK_GRADIENT(newton, x, 5);
    CHECK_GRADIENT(newton_system, x, 4);
    CHECK_GRADIENT(adaptive, x, 4);
    CHECK_GRADIENT(reaction, x, 2 * CELLS);
  }
  return finish("solvers");
}

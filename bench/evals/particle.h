// A particle in the field of two charges, one of which can be moved: the derivative of a program
// with a derivative in it. Names end in two letters: r or f, reverse or forward mode, of the outer
// derivative and of the inner one.
#include "argmin.h"

struct particle_pair {
  double x, y;
};
#ifdef __cplusplus
extern "C"
#endif
struct particle_pair __enzyme_autodiff_pair(void *, ...);

static double particle_potential(double x, double y, double w) {
  double a = x - 10, b = y - (10 - w);
  return 1 / sqrt(a * a + b * b) + 1 / sqrt(a * a + y * y);
}

static struct particle_pair particle_field_r(double x, double y, double w) {
  return __enzyme_autodiff_pair((void *)particle_potential, enzyme_out, x, enzyme_out, y,
                                enzyme_const, w);
}

static struct particle_pair particle_field_f(double x, double y, double w) {
  struct particle_pair field = {
      __enzyme_fwddiff((void *)particle_potential, enzyme_dup, x, 1.0, enzyme_dup, y, 0.0,
                       enzyme_const, w),
      __enzyme_fwddiff((void *)particle_potential, enzyme_dup, x, 0.0, enzyme_dup, y, 1.0,
                       enzyme_const, w)};
  return field;
}

// How far from the origin the particle lands, squared.
#define PARTICLE(name, field)                                                \
  UNDER_TEST double name(const double *w, const double *unused) {            \
    double x = 0, y = 8, vx = 0.75, vy = 0;                                  \
    (void)unused;                                                            \
    for (;;) {                                                               \
      struct particle_pair slope = field(x, y, *w);                          \
      x += 0.1 * vx;                                                         \
      y += 0.1 * vy;                                                         \
      if (y <= 0) {                                                          \
        double landed = x - y / vy * vx;                                     \
        return landed * landed;                                              \
      }                                                                      \
      vx -= 0.1 * slope.x;                                                   \
      vy -= 0.1 * slope.y;                                                   \
    }                                                                        \
  }
PARTICLE(particle_r, particle_field_r)
PARTICLE(particle_f, particle_field_f)

#define PARTICLE_REVERSE(name, energy)                                                    \
  UNDER_TEST void name(const double *w, const double *unused, double *d_w) {              \
    *d_w = 0;                                                                             \
    __enzyme_autodiff((void *)energy, enzyme_dup, w, d_w, enzyme_const, unused);          \
  }
#define PARTICLE_FORWARD(name, energy)                                                    \
  UNDER_TEST void name(const double *w, const double *unused, double *d_w) {              \
    double one = 1;                                                                       \
    *d_w = __enzyme_fwddiff((void *)energy, enzyme_dup, w, &one, enzyme_const, unused);   \
  }
PARTICLE_REVERSE(particle_gradient_rr, particle_r)
PARTICLE_REVERSE(particle_gradient_rf, particle_f)
PARTICLE_FORWARD(particle_gradient_fr, particle_r)
PARTICLE_FORWARD(particle_gradient_ff, particle_f)

// One parameter: its tangent goes along with the particle.
UNDER_TEST void particle_by_hand(const double *w, const double *unused, double *d_w) {
  double x = 0, y = 8, vx = 0.75, vy = 0, dx = 0, dy = 0, dvx = 0, dvy = 0;
  (void)unused;
  for (;;) {
    double a = x - 10, b = y - (10 - *w), db = dy + 1;
    double p = 1 / (a * a + b * b), q = 1 / (a * a + y * y), p3 = p * sqrt(p), q3 = q * sqrt(q);
    double dp = -3 * p * (a * dx + b * db), dq = -3 * q * (a * dx + y * dy);
    double ax = a * (p3 + q3), ay = b * p3 + y * q3;
    double dax = dx * (p3 + q3) + a * (p3 * dp + q3 * dq);
    double day = p3 * (db + b * dp) + q3 * (dy + y * dq);
    x += 0.1 * vx;
    y += 0.1 * vy;
    dx += 0.1 * dvx;
    dy += 0.1 * dvy;
    if (y <= 0) {
      double time = -y / vy, landed = x + time * vx, d_time = -(dy + time * dvy) / vy;
      *d_w = 2 * landed * (dx + d_time * vx + time * dvx);
      return;
    }
    vx += 0.1 * ax;
    vy += 0.1 * ay;
    dvx += 0.1 * dax;
    dvy += 0.1 * day;
  }
}

// Integrators of Boost.Odeint, as they are: Euler and Runge-Kutta 4.
extern "C" {
#include "check.h"
}
#include <array>
#include <boost/numeric/odeint.hpp>
using namespace boost::numeric::odeint;

typedef std::array<double, 1> one;
typedef std::array<double, 3> three;

static double euler_decay(double *p, int n) {
  one x = {p[0]};
  double rate = p[1];
  auto system = [rate](const one &x, one &dxdt, double t) {
    dxdt[0] = -rate * x[0] + std::sin(t);
  };
  integrate_const(euler<one>(), system, x, 0.0, 1.0, 0.01);
  return x[0];
}

static double rk4_lorenz(double *p, int n) {
  three x = {p[0], p[1], p[2]};
  double r = 28 + p[3];
  auto system = [r](const three &x, three &dxdt, double) {
    dxdt[0] = 10 * (x[1] - x[0]);
    dxdt[1] = r * x[0] - x[1] - x[0] * x[2];
    dxdt[2] = -8.0 / 3 * x[2] + x[0] * x[1];
  };
  integrate_const(runge_kutta4<three>(), system, x, 0.0, 0.2, 0.01);
  return x[0] * x[1] + x[2];
}

int main() {
  double p[4];
  fill(p, 4, 0.5, 1.5);
  CHECK_GRADIENT(euler_decay, p, 2);
  CHECK_GRADIENT(rk4_lorenz, p, 4);
  return finish("odeint");
}

#include "rod.h"

static double cells[CELLS];
static int runs;

static void step(double conductivity, int number) {
  double next[CELLS];
  for (int i = 0; i < CELLS; i++) {
    double left = i == 0 ? boundary(number) : cells[i - 1];
    double right = i == CELLS - 1 ? boundary(number) : cells[i + 1];
    next[i] = smooth(cells[i] + flux(cells[i], left, conductivity) +
                     flux(cells[i], right, conductivity));
  }
  for (int i = 0; i < CELLS; i++) cells[i] = next[i];
}

const double *simulate(const double *parameters, int steps) {
  runs++;
  for (int i = 0; i < CELLS; i++) cells[i] = parameters[2] + parameters[3] * i / CELLS;
  for (int number = 0; number < steps; number++) step(parameters[0], number);
  return cells;
}

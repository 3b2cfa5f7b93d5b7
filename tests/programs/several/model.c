#include "rod.h"

static const double measured[CELLS] = {0.9, 0.8, 0.6, 0.5, 0.4, 0.3, 0.3, 0.4, 0.4, 0.6, 0.7, 0.9};

double loss(const double *parameters, int count) {
  outside = parameters[1] * parameters[1];
  const double *cells = simulate(parameters, 9);
  double difference[CELLS];
  for (int i = 0; i < CELLS; i++) difference[i] = cells[i] - measured[i];
  double penalty = 0;
  for (int i = 0; i < count; i++) penalty += parameters[i] * parameters[i];
  return norm(difference, CELLS) + 0.01 * penalty;
}

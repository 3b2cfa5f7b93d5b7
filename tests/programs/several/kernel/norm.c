#include "../rod.h"
#include <math.h>

double norm(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += values[i] * values[i];
  return sqrt(sum);
}

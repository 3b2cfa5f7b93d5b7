#include "rod.h"
#include <stdio.h>

void report(const char *name, const double *values, int count) {
  printf("%s:", name);
  for (int i = 0; i < count; i++) printf(" %.6f", values[i]);
  printf(" (norm %.6f)\n", norm(values, count));
}

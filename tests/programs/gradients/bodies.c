// Bodies under gravity: an array of structures with arrays, an integer and a float inside, copied
// whole in every step.
#include "check.h"

enum { BODIES = 3, NUMBERS = 7 * BODIES };

typedef struct {
  double position[3], velocity[3];
  int moves;
  float mass;
} body;

static void step(const body *old, body *next, int n) {
  for (int i = 0; i < n; i++) {
    double force[3] = {0, 0, 0};
    next[i] = old[i];
    for (int j = 0; j < n; j++) {
      double square = 0.1, away[3];
      if (j == i) continue;
      for (int d = 0; d < 3; d++) {
        away[d] = old[j].position[d] - old[i].position[d];
        square += away[d] * away[d];
      }
      for (int d = 0; d < 3; d++) force[d] += old[j].mass * away[d] / (square * sqrt(square));
    }
    for (int d = 0; d < 3; d++) {
      next[i].velocity[d] += 0.05 * old[i].moves * force[d];
      next[i].position[d] += 0.05 * next[i].velocity[d];
    }
  }
}

static double energy(double *x, int n) {
  body old[BODIES], next[BODIES];
  double sum = 0;
  for (int i = 0; i < BODIES; i++) {
    for (int d = 0; d < 3; d++) old[i].position[d] = x[7 * i + d];
    for (int d = 0; d < 3; d++) old[i].velocity[d] = x[7 * i + 3 + d];
    old[i].moves = i != 1;
    // In double precision, differences of the function are good enough to compare with.
    old[i].mass = (float)(1 + i);
  }
  for (int s = 0; s < n / 5; s++) {
    step(old, next, BODIES);
    memcpy(old, next, sizeof old);
  }
  for (int i = 0; i < BODIES; i++)
    for (int d = 0; d < 3; d++) sum += x[7 * i + 6] * old[i].mass * old[i].velocity[d] * old[i].velocity[d];
  return sum;
}

// The masses alone: differences of singles are coarse, so the result is known beforehand.
static double masses(double m) {
  body all[BODIES], copy[BODIES];
  double sum = 0;
  memset(all, 0, sizeof all);
  for (int i = 0; i < BODIES; i++) all[i].mass = (float)m * i;
  for (int i = 0; i < BODIES; i++) copy[i] = all[i];
  for (int i = 0; i < BODIES; i++) sum += copy[i].mass * copy[i].mass + copy[i].moves;
  return sum;
}

int main(void) {
  double x[NUMBERS];
  for (int s = 1; s <= 3; s++) {
    seed(s);
    fill(x, NUMBERS, -1, 1);
    CHECK_GRADIENT(energy, x, NUMBERS);
  }
  CHECK_SCALAR_IS(masses, 1.5, 15.0);
  return finish("bodies");
}

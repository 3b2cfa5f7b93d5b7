// The evals, one file each.
#ifndef EVALS_H
#define EVALS_H

#include "../evaluation.h"

#define EVALS(use) \
  use(ba) use(det) use(gmm) use(hello) use(ht) use(kmeans) use(llsq) use(lse) use(lstm) use(ode) \
      use(particle) use(saddle)

#define DECLARE(module) evaluate module##_evaluate;
EVALS(DECLARE)
#undef DECLARE

#endif

// What every function here needs: the requests for derivatives, and how functions are declared.
//
// A header of this folder has one eval: the function as people write it, its derivative by Zymase
// (`…_gradient` or `…_jacobian`) and the same derivative written by hand (`…_by_hand`). Both zero
// what they write to. The programs of the folder above measure them.
//
// The functions under test are neither static nor inlined, so that the primal is compiled for any
// arguments, as the gradient is.
#ifndef EVALS_REQUEST_H
#define EVALS_REQUEST_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef UNDER_TEST
#define UNDER_TEST __attribute__((noinline))
#endif

#ifdef __cplusplus
extern "C" {
#endif
extern int enzyme_dup, enzyme_dupnoneed, enzyme_dupv, enzyme_const, enzyme_out, enzyme_width;
double __enzyme_autodiff(void *, ...);
void __enzyme_autodiff_void(void *, ...);
double __enzyme_fwddiff(void *, ...);
void __enzyme_fwddiff_void(void *, ...);
#ifdef __cplusplus
}
#endif

static inline double *doubles(size_t n) { return (double *)malloc(n * sizeof(double)); }

static inline void set(double *x, size_t n, double value) {
  for (size_t i = 0; i < n; i++) x[i] = value;
}

#endif

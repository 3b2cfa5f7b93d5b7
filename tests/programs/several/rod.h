// Heat in a rod: a program of several files, of which only main.c asks for a derivative.
#ifndef ROD_H
#define ROD_H

#define CELLS 12
#define PARAMETERS 4

// model.c: how far the simulated temperatures are from the measured ones.
double loss(const double *parameters, int count);

// solver.c: the temperatures after some steps, in a buffer that the solver keeps.
const double *simulate(const double *parameters, int steps);

// boundary.c: the temperature at the ends; model.c sets it.
extern double outside;
double boundary(int step);

// report.c: native code, which calls back into the library.
void report(const char *name, const double *values, int count);

// The library `kernel`.
double flux(double left, double right, double conductivity);
double smooth(double value);
double norm(const double *values, int count);

#endif

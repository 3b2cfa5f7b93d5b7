// Files of inputs, in the folder that BENCH_DATA names in the environment. Nothing needs them:
// without one, a program makes numbers of the same shape.
#include <stdio.h>
#include <stdlib.h>

// A file of that folder; null if there is no folder or no such file.
static FILE *data_file(const char *name) {
  const char *folder = getenv("BENCH_DATA");
  char path[1024];
  if (!folder) return NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return fopen(path, "r");
}

static double data_number(FILE *file) {
  double number;
  if (fscanf(file, " %lf", &number) == 1) return number;
  fprintf(stderr, "a file in BENCH_DATA has no number where one should be\n");
  exit(1);
}

__attribute__((unused)) static void data_numbers(FILE *file, double *x, size_t n) {
  for (size_t i = 0; i < n; i++) x[i] = data_number(file);
}

// The next character, if it is this one, is passed over.
__attribute__((unused)) static void data_skip(FILE *file, char expected) {
  int found = fgetc(file);
  if (found != expected && found != EOF) ungetc(found, file);
}

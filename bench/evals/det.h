// A determinant by expansion in minors. The rows and columns that are left are two linked lists;
// the last entry of each is its head.
#include "request.h"

enum { DET_MOST = 32 };

static void det_lists(int *rows, int *columns, int ell) {
  for (int i = 0; i < ell; i++) rows[i] = columns[i] = i + 1;
  rows[ell] = columns[ell] = 0;
}

static double det_of_minor(const double *a, int ell, int size, int *rows, int *columns) {
  int row = rows[ell];
  if (size == 1) return a[row * ell + columns[ell]];
  rows[ell] = rows[row];
  double sum = 0, sign = 1;
  int before = ell;
  for (int j = 0; j < size; j++) {
    int column = columns[before];
    columns[before] = columns[column];
    sum += sign * a[row * ell + column] * det_of_minor(a, ell, size - 1, rows, columns);
    columns[before] = column;
    before = column;
    sign = -sign;
  }
  rows[ell] = row;
  return sum;
}

UNDER_TEST double det(const double *a, int ell) {
  int rows[DET_MOST + 1], columns[DET_MOST + 1];
  det_lists(rows, columns, ell);
  return det_of_minor(a, ell, ell, rows, columns);
}

UNDER_TEST void det_gradient(const double *a, double *d_a, int ell) {
  set(d_a, (size_t)ell * ell, 0);
  __enzyme_autodiff((void *)det, enzyme_dup, a, d_a, enzyme_const, ell);
}

// The determinant is linear in each row, so a minor's adjoint is known before its value: one descent
// gives the value and adds to the derivatives.
static double det_of_minor_by_hand(const double *restrict a, double *restrict d_a, int ell, int size,
                                   int *restrict rows, int *restrict columns, double seed) {
  int row = rows[ell];
  if (size == 1) {
    int at = row * ell + columns[ell];
    d_a[at] += seed;
    return a[at];
  }
  rows[ell] = rows[row];
  double sum = 0, sign = 1;
  int before = ell;
  for (int j = 0; j < size; j++) {
    int column = columns[before], at = row * ell + column;
    columns[before] = columns[column];
    double minor = sign * det_of_minor_by_hand(a, d_a, ell, size - 1, rows, columns,
                                               seed * sign * a[at]);
    d_a[at] += seed * minor;
    sum += a[at] * minor;
    columns[before] = column;
    before = column;
    sign = -sign;
  }
  rows[ell] = row;
  return sum;
}

UNDER_TEST void det_by_hand(const double *a, double *d_a, int ell) {
  int rows[DET_MOST + 1], columns[DET_MOST + 1];
  det_lists(rows, columns, ell);
  set(d_a, (size_t)ell * ell, 0);
  det_of_minor_by_hand(a, d_a, ell, ell, rows, columns, 1);
}

// Bundle adjustment: a camera is rotation (3), centre (3), focal length, principal point (2) and
// radial distortion (2). Observation i sees camera i mod n and point i mod m.
#include "request.h"

enum { BA_CAMERA = 11, BA_ROW = 15 };

static void ba_rotate(const double *r, const double *y, double *z) {
  double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  double cross[] = {r[1] * y[2] - r[2] * y[1], r[2] * y[0] - r[0] * y[2], r[0] * y[1] - r[1] * y[0]};
  if (square == 0) {
    for (int i = 0; i < 3; i++) z[i] = y[i] + cross[i];
    return;
  }
  double angle = sqrt(square), c = cos(angle), s = sin(angle), inverse = 1 / angle;
  double axis[] = {r[0] * inverse, r[1] * inverse, r[2] * inverse};
  double along = (axis[0] * y[0] + axis[1] * y[1] + axis[2] * y[2]) * (1 - c);
  for (int i = 0; i < 3; i++) z[i] = y[i] * c + cross[i] * inverse * s + axis[i] * along;
}

// The two residuals of an observation.
void ba_reprojection(const double *camera, const double *point, const double *weight,
                                const double *feature, double *error) {
  double y[3], z[3];
  for (int i = 0; i < 3; i++) y[i] = point[i] - camera[3 + i];
  ba_rotate(camera, y, z);
  double e0 = z[0] / z[2], e1 = z[1] / z[2], rho = e0 * e0 + e1 * e1;
  double stretch = 1 + camera[9] * rho + camera[10] * rho * rho;
  error[0] = *weight * (camera[6] * e0 * stretch + camera[7] - feature[0]);
  error[1] = *weight * (camera[6] * e1 * stretch + camera[8] - feature[1]);
}

double ba_weight(double weight) { return 1 - weight * weight; }

struct ba {
  int n, m, p;
  const double *cameras, *points, *weights, *features;
};

// All residuals: 2p of the observations, then p of the weights.
UNDER_TEST void ba(const struct ba *b, double *errors) {
  for (int i = 0; i < b->p; i++)
    ba_reprojection(b->cameras + BA_CAMERA * (i % b->n), b->points + 3 * (i % b->m), b->weights + i,
                    b->features + 2 * i, errors + 2 * i);
  for (int i = 0; i < b->p; i++) errors[2 * b->p + i] = ba_weight(b->weights[i]);
}

// A Jacobian in rows: those of 2p residuals with 15 entries each, then p with one.
struct ba_jacobian {
  int *rows, *columns;
  double *values;
};

static struct ba_jacobian ba_jacobian_for(int p) {
  struct ba_jacobian j = {(int *)malloc((3 * p + 1) * sizeof(int)),
                          (int *)malloc((size_t)31 * p * sizeof(int)), doubles((size_t)31 * p)};
  return j;
}

static void ba_jacobian_free(struct ba_jacobian *j) {
  free(j->rows);
  free(j->columns);
  free(j->values);
}

// Row pointers, and the columns of an observation.
static void ba_rows(struct ba_jacobian *j, int p) {
  for (int i = 0; i <= 2 * p; i++) j->rows[i] = BA_ROW * i;
  for (int i = 1; i <= p; i++) j->rows[2 * p + i] = 2 * p * BA_ROW + i;
}

static inline void ba_columns(const struct ba *b, int *columns, int i) {
  int camera = BA_CAMERA * (i % b->n), point = BA_CAMERA * b->n + 3 * (i % b->m);
  for (int row = 0; row < 2; row++, columns += BA_ROW) {
    for (int c = 0; c < BA_CAMERA; c++) columns[c] = camera + c;
    for (int c = 0; c < 3; c++) columns[BA_CAMERA + c] = point + c;
    columns[BA_ROW - 1] = BA_CAMERA * b->n + 3 * b->m + i;
  }
}

// Reverse mode with two adjoints at a time, which are the two rows.
UNDER_TEST void ba_jacobian(const struct ba *b, struct ba_jacobian *j) {
  int base = BA_CAMERA * b->n + 3 * b->m, last = 2 * BA_ROW * b->p;
  ba_rows(j, b->p);
  for (int i = 0; i < b->p; i++) {
    double *first = j->values + (size_t)2 * BA_ROW * i, *second = first + BA_ROW;
    double error[2], seed_1[2] = {1, 0}, seed_2[2] = {0, 1};
    set(first, 2 * BA_ROW, 0);
    __enzyme_autodiff_void((void *)ba_reprojection, enzyme_width, 2, enzyme_dup,
                           b->cameras + BA_CAMERA * (i % b->n), first, second, enzyme_dup,
                           b->points + 3 * (i % b->m), first + BA_CAMERA, second + BA_CAMERA,
                           enzyme_dup, b->weights + i, first + BA_ROW - 1, second + BA_ROW - 1,
                           enzyme_const, b->features + 2 * i, enzyme_dupnoneed, error, seed_1,
                           seed_2);
    ba_columns(b, j->columns + (size_t)2 * BA_ROW * i, i);
  }
  for (int i = 0; i < b->p; i++) {
    j->columns[last + i] = base + i;
    j->values[last + i] = __enzyme_autodiff((void *)ba_weight, b->weights[i]);
  }
}

// A row from the adjoint `d` of the rotated point, where z = cos y + (sin / angle) r x y +
// ((1 - cos) / angle^2) (r . y) r; `first` and `second` are the two quotients, `inverse` is
// 1 / angle^2. Without an angle, r and `inverse` are zero.
static inline void ba_row(const double *r, const double *y, const double *cross, double r_y, double c,
                          double first, double second, double inverse, const double *d,
                          double *restrict row) {
  double d_y = d[0] * y[0] + d[1] * y[1] + d[2] * y[2];
  double d_r = d[0] * r[0] + d[1] * r[1] + d[2] * r[2];
  double d_cross = d[0] * cross[0] + d[1] * cross[1] + d[2] * cross[2];
  double radial =
      inverse * ((c - first) * d_cross + (first - 2 * second) * r_y * d_r) - first * d_y;
  row[0] = r[0] * radial + first * (y[1] * d[2] - y[2] * d[1]) + second * (r_y * d[0] + d_r * y[0]);
  row[1] = r[1] * radial + first * (y[2] * d[0] - y[0] * d[2]) + second * (r_y * d[1] + d_r * y[1]);
  row[2] = r[2] * radial + first * (y[0] * d[1] - y[1] * d[0]) + second * (r_y * d[2] + d_r * y[2]);
  row[11] = c * d[0] - first * (r[1] * d[2] - r[2] * d[1]) + second * d_r * r[0];
  row[12] = c * d[1] - first * (r[2] * d[0] - r[0] * d[2]) + second * d_r * r[1];
  row[13] = c * d[2] - first * (r[0] * d[1] - r[1] * d[0]) + second * d_r * r[2];
  for (int i = 0; i < 3; i++) row[3 + i] = -row[11 + i];
}

static inline void ba_block_by_hand(const double *restrict camera, const double *restrict point,
                                    double weight, const double *restrict feature,
                                    double *restrict first_row, double *restrict second_row) {
  double r[] = {camera[0], camera[1], camera[2]}, f = camera[6], k1 = camera[9], k2 = camera[10];
  double y[] = {point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]};
  double cross[] = {r[1] * y[2] - r[2] * y[1], r[2] * y[0] - r[0] * y[2], r[0] * y[1] - r[1] * y[0]};
  double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  double r_y = r[0] * y[0] + r[1] * y[1] + r[2] * y[2], c = 1, first = 1, second = 0;
  double inverse = 0;
  if (square != 0) {
    double angle = sqrt(square);
    c = cos(angle);
    first = sin(angle) / angle;
    inverse = 1 / square;
    second = (1 - c) * inverse;
  }
  double z[3];
  for (int i = 0; i < 3; i++) z[i] = c * y[i] + first * cross[i] + second * r_y * r[i];
  double depth = 1 / z[2], e0 = z[0] * depth, e1 = z[1] * depth, rho = e0 * e0 + e1 * e1;
  double stretch = 1 + rho * (k1 + k2 * rho), bend = 2 * (k1 + 2 * k2 * rho), scale = weight * f;
  double by_00 = scale * (stretch + bend * e0 * e0), by_01 = scale * bend * e0 * e1;
  double by_11 = scale * (stretch + bend * e1 * e1);
  double d_0[] = {by_00 * depth, by_01 * depth, -(by_00 * e0 + by_01 * e1) * depth};
  double d_1[] = {by_01 * depth, by_11 * depth, -(by_01 * e0 + by_11 * e1) * depth};
  ba_row(r, y, cross, r_y, c, first, second, inverse, d_0, first_row);
  ba_row(r, y, cross, r_y, c, first, second, inverse, d_1, second_row);
  first_row[6] = weight * e0 * stretch;
  first_row[7] = weight;
  first_row[8] = 0;
  first_row[9] = scale * e0 * rho;
  first_row[10] = first_row[9] * rho;
  first_row[14] = f * e0 * stretch + camera[7] - feature[0];
  second_row[6] = weight * e1 * stretch;
  second_row[7] = 0;
  second_row[8] = weight;
  second_row[9] = scale * e1 * rho;
  second_row[10] = second_row[9] * rho;
  second_row[14] = f * e1 * stretch + camera[8] - feature[1];
}

UNDER_TEST void ba_by_hand(const struct ba *b, struct ba_jacobian *j) {
  int base = BA_CAMERA * b->n + 3 * b->m, last = 2 * BA_ROW * b->p;
  ba_rows(j, b->p);
  for (int i = 0; i < b->p; i++) {
    double *rows = j->values + (size_t)2 * BA_ROW * i;
    ba_block_by_hand(b->cameras + BA_CAMERA * (i % b->n), b->points + 3 * (i % b->m), b->weights[i],
                     b->features + 2 * i, rows, rows + BA_ROW);
    ba_columns(b, j->columns + (size_t)2 * BA_ROW * i, i);
  }
  for (int i = 0; i < b->p; i++) {
    j->columns[last + i] = base + i;
    j->values[last + i] = -2 * b->weights[i];
  }
}

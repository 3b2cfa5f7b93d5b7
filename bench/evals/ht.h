// Hand tracking: how far the points of a posed hand lie from those that were measured. The Jacobian
// has 28 columns: two for the place of each point in its triangle, 26 for the pose.
#include "request.h"

enum { HT_THETA = 26, HT_COLUMNS = 28, HT_FINGERS = 5, HT_BONES = 22 };

// Matrices are 4 by 4, row after row. A parent comes before its children; that of the root is -1.
struct ht_model {
  int bones, vertices;
  const int *parents, *triangles;
  const double *relatives, *inverses, *positions, *weights;
  int mirrored;
};

// Without triangles, a correspondence is a vertex; otherwise it is a triangle with a point in it.
struct ht {
  int count, with_triangles;
  const int *correspondences;
  const double *points;
  struct ht_model model;
};

static void ht_multiply(const double *a, const double *b, double *out) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      double sum = 0;
      for (int k = 0; k < 4; k++) sum += a[4 * i + k] * b[4 * k + j];
      out[4 * i + j] = sum;
    }
}

// Rz(z) Ry(y) Rx(x).
static void ht_turned(double x, double y, double z, double *out) {
  double cx = cos(x), sx = sin(x), cy = cos(y), sy = sin(y), cz = cos(z), sz = sin(z);
  double turned[] = {cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx, 0,
                     sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx, 0,
                     -sy,     cy * sx,                cy * cx,                0,
                     0,       0,                      0,                      1};
  memcpy(out, turned, sizeof turned);
}

// Angles (x, y, z) of every bone.
static void ht_pose(const double *theta, double *pose, int bones) {
  for (int i = 0; i < 3 * bones; i++) pose[i] = 0;
  for (int finger = 0; finger < HT_FINGERS; finger++) {
    const double *angles = theta + 6 + 4 * finger;
    double *first = pose + 3 * (4 * finger + 2);
    first[0] = angles[0];
    first[2] = angles[1];
    first[3] = angles[2];
    first[6] = angles[3];
  }
}

static void ht_transforms(const struct ht_model *m, const double *pose, double *transforms) {
  double *absolutes = doubles(16 * m->bones);
  for (int i = 0; i < m->bones; i++) {
    double turn[16], relative[16], *absolute = absolutes + 16 * i;
    ht_turned(pose[3 * i], pose[3 * i + 1], pose[3 * i + 2], turn);
    ht_multiply(m->relatives + 16 * i, turn, relative);
    if (m->parents[i] < 0)
      memcpy(absolute, relative, sizeof relative);
    else
      ht_multiply(absolutes + 16 * m->parents[i], relative, absolute);
    ht_multiply(absolute, m->inverses + 16 * i, transforms + 16 * i);
  }
  free(absolutes);
}

static void ht_skin(const struct ht_model *m, const double *transforms, double *vertices) {
  for (int j = 0; j < m->vertices; j++) {
    const double *p = m->positions + 4 * j, *weights = m->weights + m->bones * j;
    double *v = vertices + 3 * j;
    v[0] = v[1] = v[2] = 0;
    for (int i = 0; i < m->bones; i++) {
      const double *t = transforms + 16 * i;
      for (int r = 0; r < 3; r++)
        v[r] += weights[i] * (t[4 * r] * p[0] + t[4 * r + 1] * p[1] + t[4 * r + 2] * p[2] +
                              t[4 * r + 3] * p[3]);
    }
    if (m->mirrored) v[0] = -v[0];
  }
}

static void ht_global_rotation(const double *w, double *g) {
  double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  if (angle < 1e-4) {
    for (int i = 0; i < 9; i++) g[i] = i % 4 == 0;
    return;
  }
  double x = w[0] / angle, y = w[1] / angle, z = w[2] / angle, s = sin(angle), c = cos(angle);
  g[0] = x * x + (1 - x * x) * c;
  g[1] = x * y * (1 - c) - z * s;
  g[2] = x * z * (1 - c) + y * s;
  g[3] = x * y * (1 - c) + z * s;
  g[4] = y * y + (1 - y * y) * c;
  g[5] = y * z * (1 - c) - x * s;
  g[6] = x * z * (1 - c) - y * s;
  g[7] = y * z * (1 - c) + x * s;
  g[8] = z * z + (1 - z * z) * c;
}

static inline void ht_apply(const double *g, const double *v, double *out) {
  for (int r = 0; r < 3; r++) out[r] = g[3 * r] * v[0] + g[3 * r + 1] * v[1] + g[3 * r + 2] * v[2];
}

// Three errors for each correspondence. `us` has two numbers for each, or none without triangles.
UNDER_TEST void ht(const double *theta, const double *us, const struct ht *p, double *errors) {
  const struct ht_model *m = &p->model;
  double *pose = doubles(3 * m->bones), *transforms = doubles(16 * m->bones);
  double *vertices = doubles(3 * m->vertices), rotation[9];
  ht_pose(theta, pose, m->bones);
  ht_transforms(m, pose, transforms);
  ht_skin(m, transforms, vertices);
  ht_global_rotation(theta, rotation);
  for (int j = 0; j < m->vertices; j++) {
    double *v = vertices + 3 * j, turned[3];
    ht_apply(rotation, v, turned);
    for (int r = 0; r < 3; r++) v[r] = turned[r] + theta[3 + r];
  }
  for (int i = 0; i < p->count; i++) {
    int at = p->correspondences[i];
    if (p->with_triangles) {
      const int *corners = m->triangles + 3 * at;
      const double *a = vertices + 3 * corners[0], *b = vertices + 3 * corners[1];
      const double *c = vertices + 3 * corners[2], *u = us + 2 * i;
      for (int r = 0; r < 3; r++)
        errors[3 * i + r] =
            p->points[3 * i + r] - (u[0] * a[r] + u[1] * b[r] + (1 - u[0] - u[1]) * c[r]);
    } else {
      for (int r = 0; r < 3; r++)
        errors[3 * i + r] = p->points[3 * i + r] - vertices[3 * at + r];
    }
  }
  free(pose);
  free(transforms);
  free(vertices);
}

// So many tangents at a time.
#ifndef HT_WIDTH
#define HT_WIDTH 4
#endif

// Column after column; without triangles, the first two are zero.
UNDER_TEST void ht_jacobian(const double *theta, const double *us, const struct ht *p, double *errors,
                            double *columns) {
  size_t rows = 3 * (size_t)p->count, places = p->with_triangles ? 2 * (size_t)p->count : 0;
  double *d_us = doubles(HT_WIDTH * places), d_theta[HT_WIDTH * HT_THETA];
  for (int first = 0; first < HT_COLUMNS; first += HT_WIDTH) {
    set(d_us, HT_WIDTH * places, 0);
    set(d_theta, HT_WIDTH * HT_THETA, 0);
    for (int t = 0; t < HT_WIDTH; t++) {
      int column = first + t;
      if (column >= 2)
        d_theta[t * HT_THETA + column - 2] = 1;
      else
        for (size_t i = column; i < places; i += 2) d_us[t * places + i] = 1;
    }
    __enzyme_fwddiff_void((void *)ht, enzyme_width, HT_WIDTH, enzyme_dupv,
                          HT_THETA * sizeof(double), theta, d_theta, enzyme_dupv,
                          places * sizeof(double), us, d_us, enzyme_const, p, enzyme_dupv,
                          rows * sizeof(double), errors, columns + first * rows);
  }
  free(d_us);
}

// ---- By hand ----
// An angle moves only the bones of its finger from its own on: nine transforms for each finger.

enum { HT_MOVED = 9, HT_POSED = 23 };

// The derivatives of a finger's transforms, by its first angle for the bones 2, 3, 4, by the second
// for the same, by the third for 3, 4, by the last for 4.
static void ht_finger_by_hand(const struct ht_model *m, const double *theta, int finger,
                              const double *absolutes, const double *relatives, double *moved) {
  static const int owner[] = {2, 2, 3, 4};
  int base = 4 * finger, out = 0;
  const double *angles = theta + 6 + base;
  for (int a = 0; a < 4; a++) {
    int bone = base + owner[a];
    double x = a < 2 ? angles[0] : angles[a], z = a < 2 ? angles[1] : 0;
    double cx = cos(x), sx = sin(x), cz = cos(z), sz = sin(z), step[16], moving[16], next[16];
    double by_x[] = {0, sz * sx, sz * cx, 0, 0, -cz * sx, -cz * cx, 0, 0, cx, -sx, 0, 0, 0, 0, 0};
    double by_z[] = {-sz, -cz * cx, cz * sx, 0, cz, -sz * cx, sz * sx, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    ht_multiply(m->relatives + 16 * bone, a == 1 ? by_z : by_x, step);
    ht_multiply(absolutes + 16 * m->parents[bone], step, moving);
    for (int b = bone;; b++) {
      ht_multiply(moving, m->inverses + 16 * b, moved + 16 * out++);
      if (b == base + 4) break;
      ht_multiply(moving, relatives + 16 * (b + 1), next);
      memcpy(moving, next, sizeof moving);
    }
  }
}

// The derivatives of the global rotation by its three numbers.
static void ht_global_rotation_by_hand(const double *w, double d[3][9]) {
  double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  memset(d, 0, 3 * sizeof d[0]);
  if (angle < 1e-4) return;
  double n[] = {w[0] / angle, w[1] / angle, w[2] / angle}, s = sin(angle), c = cos(angle);
  for (int k = 0; k < 3; k++) {
    double dn[3];
    for (int i = 0; i < 3; i++) dn[i] = ((i == k) - n[k] * n[i]) / angle;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        d[k][3 * i + j] =
            s * n[k] * (n[i] * n[j] - (i == j)) + (1 - c) * (dn[i] * n[j] + n[i] * dn[j]);
    double across[3];
    for (int i = 0; i < 3; i++) across[i] = c * n[k] * n[i] + s * dn[i];
    d[k][1] -= across[2], d[k][2] += across[1], d[k][3] += across[2];
    d[k][5] -= across[0], d[k][6] -= across[1], d[k][7] += across[0];
  }
}

static inline void ht_add_moved(double weight, const double *restrict t, const double *restrict p,
                                double *restrict v) {
  for (int r = 0; r < 3; r++)
    v[r] += weight * (t[4 * r] * p[0] + t[4 * r + 1] * p[1] + t[4 * r + 2] * p[2] +
                      t[4 * r + 3] * p[3]);
}

UNDER_TEST void ht_by_hand(const double *restrict theta, const double *restrict us,
                           const struct ht *p, double *restrict errors, double *restrict columns) {
  const struct ht_model *m = &p->model;
  size_t rows = 3 * (size_t)p->count;
  double pose[3 * HT_BONES], relatives[16 * HT_BONES], absolutes[16 * HT_BONES];
  double transforms[16 * HT_BONES], moved[HT_FINGERS][16 * HT_MOVED], rotation[9], by_rotation[3][9];
  ht_pose(theta, pose, HT_BONES);
  for (int i = 0; i < HT_BONES; i++) {
    double turn[16], *relative = relatives + 16 * i, *absolute = absolutes + 16 * i;
    ht_turned(pose[3 * i], pose[3 * i + 1], pose[3 * i + 2], turn);
    ht_multiply(m->relatives + 16 * i, turn, relative);
    if (m->parents[i] < 0)
      memcpy(absolute, relative, sizeof turn);
    else
      ht_multiply(absolutes + 16 * m->parents[i], relative, absolute);
    ht_multiply(absolute, m->inverses + 16 * i, transforms + 16 * i);
  }
  for (int finger = 0; finger < HT_FINGERS; finger++)
    ht_finger_by_hand(m, theta, finger, absolutes, relatives, moved[finger]);
  ht_global_rotation(theta, rotation);
  ht_global_rotation_by_hand(theta, by_rotation);

  // Of each vertex, where it is and its derivatives by three numbers of the rotation and by the pose.
  double *restrict vertices = doubles(3 * m->vertices);
  double *restrict moving = doubles((size_t)3 * HT_POSED * m->vertices);
  for (int j = 0; j < m->vertices; j++) {
    const double *position = m->positions + 4 * j, *weights = m->weights + HT_BONES * j;
    double v[3] = {0}, *restrict d = moving + (size_t)3 * HT_POSED * j;
    double sign = m->mirrored ? -1 : 1;
    for (int i = 0; i < HT_BONES; i++) ht_add_moved(weights[i], transforms + 16 * i, position, v);
    v[0] *= sign;
    ht_apply(rotation, v, vertices + 3 * j);
    for (int r = 0; r < 3; r++) vertices[3 * j + r] += theta[3 + r];
    for (int k = 0; k < 3; k++) ht_apply(by_rotation[k], v, d + 3 * k);
    for (int finger = 0; finger < HT_FINGERS; finger++) {
      static const int first_bone[] = {2, 2, 3, 4};
      const double *t = moved[finger];
      for (int a = 0; a < 4; a++) {
        double change[3] = {0};
        for (int b = first_bone[a]; b <= 4; b++, t += 16)
          ht_add_moved(weights[4 * finger + b], t, position, change);
        change[0] *= sign;
        ht_apply(rotation, change, d + 9 + 12 * finger + 3 * a);
      }
    }
  }

  for (int i = 0; i < p->count; i++) {
    int at = p->correspondences[i], corners[3] = {at, at, at};
    double parts[3] = {1, 0, 0};
    if (p->with_triangles) {
      memcpy(corners, m->triangles + 3 * at, sizeof corners);
      parts[0] = us[2 * i], parts[1] = us[2 * i + 1], parts[2] = 1 - parts[0] - parts[1];
    }
    const double *a = vertices + 3 * corners[0], *b = vertices + 3 * corners[1];
    const double *c = vertices + 3 * corners[2];
    const double *restrict d_a = moving + (size_t)3 * HT_POSED * corners[0];
    const double *restrict d_b = moving + (size_t)3 * HT_POSED * corners[1];
    const double *restrict d_c = moving + (size_t)3 * HT_POSED * corners[2];
    for (int r = 0; r < 3; r++) {
      double *restrict out = columns + 3 * i + r;
      errors[3 * i + r] =
          p->points[3 * i + r] - (parts[0] * a[r] + parts[1] * b[r] + parts[2] * c[r]);
      out[0] = c[r] - a[r];
      out[rows] = c[r] - b[r];
      for (int k = 0; k < 3; k++) out[(5 + k) * rows] = -(k == r);
      for (int k = 0; k < HT_POSED; k++)
        out[(k < 3 ? k + 2 : k + 5) * rows] =
            -(parts[0] * d_a[3 * k + r] + parts[1] * d_b[3 * k + r] + parts[2] * d_c[3 * k + r]);
    }
  }
  free(vertices);
  free(moving);
}

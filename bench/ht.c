// Hand tracking: the whole Jacobian, by forward mode with several tangents at a time.
#include "bench.h"
#include "data.h"
#include "evals/ht.h"

static double number_after_colon(FILE *file) {
  data_skip(file, ':');
  return data_number(file);
}

static void bones_of_file(FILE *file, int *parents, double *relatives, double *inverses) {
  for (int i = 0; i < HT_BONES; i++) {
    if (fscanf(file, " %*[^:]") == EOF) exit(1);
    parents[i] = (int)number_after_colon(file);
    for (int k = 0; k < 16; k++) relatives[16 * i + k] = number_after_colon(file);
    for (int k = 0; k < 16; k++) inverses[16 * i + k] = number_after_colon(file);
  }
}

static void vertices_of_file(FILE *file, double *positions, double *weights, int count) {
  for (int j = 0; j < count; j++) {
    positions[4 * j + 3] = 1;
    for (int k = 0; k < 8; k++) {
      double number = k == 0 ? data_number(file) : number_after_colon(file);
      if (k < 3) positions[4 * j + k] = number;
    }
    int parts = (int)number_after_colon(file);
    for (int k = 0; k < parts; k++) {
      int bone = (int)number_after_colon(file);
      weights[HT_BONES * j + bone] = number_after_colon(file);
    }
  }
}

enum { SMALL = 544, BIG = 10000, TRIANGLES = 1084 };

// A hand made of bones near each other, with the vertices between them.
static struct ht_model model_of(int vertices) {
  int *parents = (int *)malloc(HT_BONES * sizeof(int));
  int *triangles = (int *)malloc(3 * TRIANGLES * sizeof(int));
  double *relatives = uniforms(16 * HT_BONES), *inverses = uniforms(16 * HT_BONES);
  double *positions = uniforms(4 * vertices), *weights = zeros(HT_BONES * vertices);
  for (int i = 0; i < HT_BONES; i++)
    parents[i] = i == 0 ? -1 : i % 4 == 1 ? 0 : i - 1;
  for (int i = 0; i < 16 * HT_BONES; i++) {
    int diagonal = i % 16 % 5 == 0, last_row = i % 16 >= 12;
    relatives[i] = diagonal + (last_row ? 0 : 0.2 * relatives[i]);
    inverses[i] = diagonal + (last_row ? 0 : 0.2 * inverses[i]);
  }
  for (int j = 0; j < vertices; j++) {
    int bone = (int)(uniform() * (HT_BONES - 1));
    double part = uniform();
    positions[4 * j + 3] = 1;
    weights[HT_BONES * j + bone] = part;
    weights[HT_BONES * j + bone + 1] = 1 - part;
  }
  for (int i = 0; i < 3 * TRIANGLES; i++)
    triangles[i] = (int)(uniform() * (vertices < SMALL ? vertices : SMALL));
  FILE *bones = data_file("hand/complicated_small/model/bones.txt");
  FILE *corners = data_file("hand/complicated_small/model/triangles.txt");
  FILE *mesh = data_file("hand/complicated_small/model/vertices.txt");
  if (bones && corners && mesh && vertices >= SMALL) {
    bones_of_file(bones, parents, relatives, inverses);
    set(weights, HT_BONES * SMALL, 0);
    vertices_of_file(mesh, positions, weights, SMALL);
    for (int i = 0; i < 3 * TRIANGLES; i++)
      triangles[i] = (int)(i % 3 == 0 ? data_number(corners) : number_after_colon(corners));
  }
  if (bones) fclose(bones);
  if (corners) fclose(corners);
  if (mesh) fclose(mesh);
  struct ht_model model = {HT_BONES, vertices,  parents, triangles, relatives,
                           inverses, positions, weights, 0};
  return model;
}

struct input {
  struct ht p;
  double *theta, *us;
  int from_file;
};

static struct input input_of(int count, int with_triangles, int vertices, const char *file_name) {
  int *correspondences = (int *)malloc(count * sizeof(int));
  int targets = with_triangles ? TRIANGLES : vertices;
  double *points = uniforms(3 * count), *us = uniforms(2 * count), *theta = uniforms(HT_THETA);
  for (int i = 0; i < count; i++) correspondences[i] = (int)(uniform() * targets);
  FILE *file = file_name ? data_file(file_name) : NULL;
  if (file) {
    if (data_number(file) != count || data_number(file) != HT_THETA) exit(1);
    for (int i = 0; i < count; i++) {
      correspondences[i] = (int)data_number(file);
      data_numbers(file, points + 3 * i, 3);
    }
    if (with_triangles) data_numbers(file, us, 2 * count);
    data_numbers(file, theta, HT_THETA);
    fclose(file);
  }
  struct ht p = {count, with_triangles, correspondences, points, model_of(vertices)};
  struct input input = {p, theta, us, file != NULL};
  return input;
}

static double squares(const double *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

// Needs the files.
static void check_example(int with_triangles) {
  struct input in = input_of(100, with_triangles, SMALL,
                             with_triangles ? "hand/complicated_small/hand1_t26_c100.txt"
                                            : "hand/simple_small/hand1_t26_c100.txt");
  if (!in.from_file) return;
  double *errors = zeros(300), *columns = zeros(300 * HT_COLUMNS);
  double complicated[] = {-0.10689429462879463, -0.010055240144601019, 0.00215333875426138};
  double simple[] = {0.19224339453588057, 0.08247191593189719, -0.23651946654753214};
  ht(in.theta, in.us, &in.p, errors);
  agree("example of ht", errors, with_triangles ? complicated : simple, 3);
  agree_number("squares of the example of ht", squares(errors, 300),
               with_triangles ? 3.2270151113692314 : 3.124739868938892);
  ht_jacobian(in.theta, in.us, &in.p, errors, columns);
  agree_number("Jacobian of the example of ht", squares(columns, 300 * HT_COLUMNS),
               with_triangles ? 302.1833671081735 : 302.11057537514375);
}

// A hand that is not turned has a formula of its own.
static void check_straight(void) {
  struct input in = input_of(10, 1, 30, NULL);
  double *errors = zeros(30), *columns = zeros(30 * HT_COLUMNS), *by_hand = zeros(30 * HT_COLUMNS);
  set(in.theta, 3, 0);
  ht_jacobian(in.theta, in.us, &in.p, errors, columns);
  ht_by_hand(in.theta, in.us, &in.p, errors, by_hand);
  agree("hand that is not turned", columns, by_hand, 30 * HT_COLUMNS);
}

int main(int count, char **words) {
  arguments(count, words);
  check_example(0);
  check_example(1);
  check_straight();
  static const struct { int count, with_triangles, vertices; const char *file; } sizes[] = {
      {100, 0, SMALL, "hand/simple_small/hand1_t26_c100.txt"},
      {100, 1, SMALL, "hand/complicated_small/hand1_t26_c100.txt"},
      {800, 1, SMALL, "hand/complicated_small/hand5_t26_c800.txt"},
      {800, 1, BIG, NULL},
      {100000, 1, BIG, NULL},
      {100000, 1, 20 * BIG, NULL}};
  for (int s = 0; s < (tiny ? 2 : 6); s++) {
    int n = tiny ? 10 : sizes[s].count;
    size_t rows = 3 * (size_t)n;
    struct input in = input_of(n, sizes[s].with_triangles, tiny ? 30 : sizes[s].vertices,
                               tiny ? NULL : sizes[s].file);
    double *errors = zeros(rows), *columns = zeros(HT_COLUMNS * rows);
    double *by_hand = zeros(HT_COLUMNS * rows);
    at("%s V=%d c=%d%s", sizes[s].with_triangles ? "complicated" : "simple", in.p.model.vertices, n,
       in.from_file ? " file" : "");
    ht_jacobian(in.theta, in.us, &in.p, errors, columns);
    ht_by_hand(in.theta, in.us, &in.p, errors, by_hand);
    agree("ht", columns, by_hand, HT_COLUMNS * rows);
    COMPARE("ht", , ht(in.theta, in.us, &in.p, errors),
            ht_jacobian(in.theta, in.us, &in.p, errors, columns),
            ht_by_hand(in.theta, in.us, &in.p, errors, by_hand));
    free(columns);
    free(by_hand);
  }
}

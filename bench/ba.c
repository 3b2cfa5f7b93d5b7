// Bundle adjustment: the block-sparse Jacobian.
#include "bench.h"
#include "data.h"
#include "evals/ba.h"

// n cameras, m points and p weights and features, each near the one that is given.
static struct ba problem(int n, int m, int p, const double *camera, const double *point,
                         double weight, const double *feature, double spread) {
  double *cameras = doubles(BA_CAMERA * n), *points = doubles(3 * m), *weights = doubles(p);
  double *features = doubles(2 * p);
#define NEAR(value) ((value) * (1 + spread * (uniform() - 0.5)))
  for (int i = 0; i < BA_CAMERA * n; i++) cameras[i] = NEAR(camera[i % BA_CAMERA]);
  for (int i = 0; i < 3 * m; i++) points[i] = NEAR(point[i % 3]);
  for (int i = 0; i < p; i++) weights[i] = NEAR(weight);
  for (int i = 0; i < 2 * p; i++) features[i] = NEAR(feature[i % 2]);
  struct ba b = {n, m, p, cameras, points, weights, features};
  return b;
}

static const double CAMERA[] = {-0.758453, -1.109613, -0.845551, 34.556073, 39.676747, 53.881673,
                                419.194514, 5.864426, -8.518870, 0.087812, 0.002739};
static const double POINT[] = {7.203245, 0.001144, 3.023326}, WEIGHT = 0.417022;
static const double FEATURE[] = {271.760969, 834.209256};

static void check_example(void) {
  struct ba b = problem(49, 7776, 31843, CAMERA, POINT, WEIGHT, FEATURE, 0);
  struct ba_jacobian j = ba_jacobian_for(b.p);
  double *errors = zeros(3 * b.p), expected[] = {0.10133583791450886, -0.06896776592424401};
  double row[] = {-461.4463210015993, 178.8679280144455, -19.423916472206248, -3.0615983420410315,
                  6.392457556226442, -3.340282281299017, 0.26476024920703156, 0.417022, 0,
                  243.62824566083003, 676.4867782658688, 3.0615983420410315, -6.392457556226442,
                  3.340282281299017, 0.24299878163378708};
  double first[] = {-803.7436233648792, -309.5954175234488, 604.7802846625028};
  double last[] = {15.049628170340545, -6.248486312079824, -3.2194799516049235,
                   -0.16538160078960118};
  ba(&b, errors);
  agree("example of ba", errors, expected, 2);
  agree_number("weight of the example of ba", errors[3 * b.p - 1], 0.826092651516);
  ba_jacobian(&b, &j);
  agree("first row of the example of ba", j.values, row, 15);
  agree("second row of the example of ba", j.values + 15, first, 3);
  agree("end of the second row of the example of ba", j.values + 26, last, 4);
  agree_number("last value of the example of ba", j.values[31 * b.p - 1], -0.834044);
  int columns[] = {j.columns[10], j.columns[13], j.columns[14], j.columns[29],
                   j.columns[31 * b.p - 1]};
  int right[] = {10, 541, 23867, 23867, 55709};
  if (memcmp(columns, right, sizeof right) != 0 || j.rows[3 * b.p] != 987133 || j.rows[1] != 15) {
    fprintf(stderr, "the example of ba has other columns\n");
    exit(1);
  }
  // A camera that is not turned has a formula of its own.
  double straight[BA_CAMERA], error[2];
  memcpy(straight, CAMERA, sizeof straight);
  straight[0] = straight[1] = straight[2] = 0;
  struct ba one = problem(1, 1, 1, straight, POINT, WEIGHT, FEATURE, 0);
  struct ba_jacobian by_hand = ba_jacobian_for(1);
  ba_reprojection(straight, POINT, &WEIGHT, FEATURE, error);
  ba_jacobian(&one, &j);
  ba_by_hand(&one, &by_hand);
  agree("camera that is not turned", j.values, by_hand.values, 31);
  ba_jacobian_free(&by_hand);
  ba_jacobian_free(&j);
}

int main(int count, char **words) {
  arguments(count, words);
  check_example();
  const char *files[] = {"ba1_n49_m7776_p31843", "ba2_n21_m11315_p36455", "ba5_n257_m65132_p225911",
                         "ba14_n356_m226730_p1255268"};
  for (int s = 0; s < (tiny ? 1 : 4); s++) {
    int n, m, p;
    char name[80];
    double camera[BA_CAMERA], point[3], weight = WEIGHT, feature[2];
    memcpy(camera, CAMERA, sizeof camera);
    memcpy(point, POINT, sizeof point);
    memcpy(feature, FEATURE, sizeof feature);
    if (sscanf(files[s], "ba%*d_n%d_m%d_p%d", &n, &m, &p) != 3) exit(1);
    snprintf(name, sizeof name, "ba/%s.txt", files[s]);
    FILE *file = tiny ? NULL : data_file(name);
    if (file) {
      if (data_number(file) != n || data_number(file) != m || data_number(file) != p) exit(1);
      data_numbers(file, camera, BA_CAMERA);
      data_numbers(file, point, 3);
      data_numbers(file, &weight, 1);
      data_numbers(file, feature, 2);
      fclose(file);
    }
    if (tiny) n = 3, m = 20, p = 60;
    struct ba b = problem(n, m, p, camera, point, weight, feature, 1e-3);
    struct ba_jacobian j = ba_jacobian_for(p), by_hand = ba_jacobian_for(p);
    double *errors = zeros(3 * p);
    at("n=%d m=%d p=%d%s", n, m, p, file ? " file" : "");
    ba_jacobian(&b, &j);
    ba_by_hand(&b, &by_hand);
    agree("ba", j.values, by_hand.values, (size_t)31 * p);
    share_number("n", n), share_number("m", m), share_number("p", p);
    share("cameras", b.cameras, BA_CAMERA * n), share("points", b.points, 3 * m);
    share("weights", b.weights, p), share("features", b.features, 2 * p);
    share("result", j.values, (size_t)31 * p);
    COMPARE("ba", , ba(&b, errors), ba_jacobian(&b, &j), ba_by_hand(&b, &by_hand));
    ba_jacobian_free(&j);
    ba_jacobian_free(&by_hand);
  }
}

// A Gaussian mixture.
#include "bench.h"
#include "data.h"
#include "evals/gmm.h"

static void check_example(void) {
  double x[] = {0.5, -1, 1.5, 0.25}, alpha[] = {0.1, -0.2}, mu[] = {0, 0.5, 1, -0.5};
  double q[] = {0.1, -0.3, 0.2, 0}, l[] = {0.4, -0.6}, d_alpha[2], d_mu[4], d_q[4], d_l[2];
  double by_alpha[] = {-0.5433724377629497, 0.5433724377629497};
  double by_mu[] = {0.5324684474551657, -0.1937675736556111, -0.01213708584232682,
                    0.22884968770252467};
  double by_q[] = {-1.8621465316342387, -0.004027621610130594, -1.4822008530645183,
                   -0.18048434016045767};
  double by_l[] = {-0.859998761666367, 1.1129075733301808};
  struct gmm p = {2, 2, 2, 1, 1.5, x, alpha, mu, q, l};
  agree_number("example of gmm", gmm(2, 2, 2, alpha, mu, q, l, x, 1.5, 1), -10.083537912482704);
  gmm_gradient(&p, d_alpha, d_mu, d_q, d_l);
  agree("alpha of the example of gmm", d_alpha, by_alpha, 2);
  agree("mu of the example of gmm", d_mu, by_mu, 4);
  agree("q of the example of gmm", d_q, by_q, 4);
  agree("l of the example of gmm", d_l, by_l, 2);
}

// From a file of ADBench, where there is one.
static struct gmm problem(int d, int k, int n) {
  char name[80];
  snprintf(name, sizeof name, "gmm/1k/gmm_d%d_K%d.txt", d, k);
  int lower = d * (d - 1) / 2;
  double *x = normals(n * d), *alpha = normals(k), *mu = uniforms(k * d), *q = normals(k * d);
  double *l = normals(k * lower), gamma = 1, m = 0;
  FILE *file = data_file(name);
  if (file) {
    if (data_number(file) != d || data_number(file) != k || data_number(file) != n) exit(1);
    data_numbers(file, alpha, k);
    data_numbers(file, mu, k * d);
    for (int j = 0; j < k; j++) {
      data_numbers(file, q + j * d, d);
      data_numbers(file, l + j * lower, lower);
    }
    data_numbers(file, x, n * d);
    gamma = data_number(file);
    m = data_number(file);
    fclose(file);
  }
  at("d=%d k=%d n=%d%s", d, k, n, file ? " file" : "");
  struct gmm p = {d, k, n, (int)m, gamma, x, alpha, mu, q, l};
  return p;
}

int main(int count, char **words) {
  arguments(count, words);
  check_example();
  const int sizes[][2] = {{2, 5},   {2, 100}, {10, 10}, {10, 50},
                          {20, 25}, {64, 10}, {32, 25}, {128, 5}, {64, 100}};
  for (int s = 0; s < (tiny ? 1 : 9); s++) {
    int d = tiny ? 3 : sizes[s][0], k = sizes[s][1], size = k + 2 * k * d + k * d * (d - 1) / 2;
    struct gmm p = problem(d, k, tiny ? 20 : 1000);
    double *g = zeros(size), *by_hand = zeros(size);
#define PARTS(g) g, g + k, g + k + k * d, g + k + 2 * k * d
    gmm_gradient(&p, PARTS(g));
    gmm_by_hand(&p, PARTS(by_hand));
    agree("gmm", g, by_hand, size);
    share_number("d", d), share_number("k", k), share_number("n", p.n), share_number("m", p.m);
    share_number("gamma", p.gamma), share("x", p.x, p.n * d), share("alpha", p.alpha, k);
    share("mu", p.mu, k * d), share("q", p.q, k * d), share("l", p.l, k * d * (d - 1) / 2);
    share("result", g, size);
    COMPARE("gmm", , keep(gmm(d, k, p.n, p.alpha, p.mu, p.q, p.l, p.x, p.gamma, p.m)),
            gmm_gradient(&p, PARTS(g)), gmm_by_hand(&p, PARTS(by_hand)));
  }
}

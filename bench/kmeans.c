// k-means: the gradient, and the Newton direction by forward over reverse mode.
#include "bench.h"
#include "evals/kmeans.h"

static void check_example(void) {
  double points[] = {0, 0, 1, 0, 0, 1, 4, 4, 5, 4.5}, centroids[] = {0.5, 0, 5, 5}, direction[4];
  double expected[] = {1 / 6.0, -1 / 3.0, 0.5, 0.75};
  agree_number("example of kmeans", kmeans(centroids, points, 2, 5, 2), 4);
  kmeans_direction(centroids, direction, points, 2, 5, 2);
  agree("direction of the example of kmeans", direction, expected, 4);
}

int main(int count, char **words) {
  arguments(count, words);
  check_example();
  const int sizes[][3] = {{10, 1000, 8}, {10, 10000, 16}, {100, 10000, 16}, {1000, 10000, 16}};
  for (int i = 0; i < (tiny ? 1 : 4); i++) {
    int k = tiny ? 3 : sizes[i][0], n = tiny ? 20 : sizes[i][1], d = sizes[i][2], size = k * d;
    double *points = uniforms(n * d), *centroids = points + (n - k) * d;
    double *result = zeros(size), *by_hand = zeros(size);
    at("k=%d n=%d d=%d", k, n, d);
    kmeans_gradient(centroids, result, points, k, n, d);
    kmeans_gradient_by_hand(centroids, by_hand, points, k, n, d);
    agree("gradient of kmeans", result, by_hand, size);
#define SHARE                                                                                 \
  (share_number("k", k), share_number("n", n), share_number("d", d),                          \
   share("points", points, n * d), share("centroids", centroids, size), share("result", result, size))
    SHARE;
    COMPARE("kmeans gradient", , keep(kmeans(centroids, points, k, n, d)),
            kmeans_gradient(centroids, result, points, k, n, d),
            kmeans_gradient_by_hand(centroids, by_hand, points, k, n, d));
    kmeans_direction(centroids, result, points, k, n, d);
    kmeans_direction_by_hand(centroids, by_hand, points, k, n, d);
    agree("direction of kmeans", result, by_hand, size);
    SHARE;
    COMPARE("kmeans direction", , keep(kmeans(centroids, points, k, n, d)),
            kmeans_direction(centroids, result, points, k, n, d),
            kmeans_direction_by_hand(centroids, by_hand, points, k, n, d));
  }
}

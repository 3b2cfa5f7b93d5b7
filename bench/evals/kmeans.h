// k-means: the cost of k centroids for n points of dimension d, its gradient, and the Newton
// direction, gradient over the diagonal of the Hessian, which has nothing beside its diagonal.
#include "request.h"

UNDER_TEST double kmeans(const double *centroids, const double *points, int k, int n, int d) {
  double cost = 0;
  for (int i = 0; i < n; i++) {
    double least = INFINITY;
    for (int j = 0; j < k; j++) {
      double distance = 0;
      for (int c = 0; c < d; c++) {
        double difference = centroids[j * d + c] - points[i * d + c];
        distance += difference * difference;
      }
      if (distance < least) least = distance;
    }
    cost += least;
  }
  return cost;
}

UNDER_TEST void kmeans_gradient(const double *centroids, double *gradient, const double *points,
                                int k, int n, int d) {
  set(gradient, k * d, 0);
  __enzyme_autodiff((void *)kmeans, enzyme_dup, centroids, gradient, enzyme_const, points,
                    enzyme_const, k, enzyme_const, n, enzyme_const, d);
}

// Forward over reverse: one tangent, all ones, of the gradient.
UNDER_TEST void kmeans_direction(const double *centroids, double *direction, const double *points,
                                 int k, int n, int d) {
  double *ones = doubles(k * d), *gradient = doubles(k * d), *diagonal = doubles(k * d);
  set(ones, k * d, 1);
  __enzyme_fwddiff_void((void *)kmeans_gradient, enzyme_dup, centroids, ones, enzyme_dup, gradient,
                        diagonal, enzyme_const, points, enzyme_const, k, enzyme_const, n,
                        enzyme_const, d);
  for (int i = 0; i < k * d; i++) direction[i] = gradient[i] / diagonal[i];
  free(ones);
  free(gradient);
  free(diagonal);
}

static inline int kmeans_nearest(const double *centroids, const double *point, int k, int d) {
  double least = INFINITY;
  int nearest = 0;
  for (int j = 0; j < k; j++) {
    double distance = 0;
    for (int c = 0; c < d; c++) {
      double difference = centroids[j * d + c] - point[c];
      distance += difference * difference;
    }
    if (distance < least) {
      least = distance;
      nearest = j;
    }
  }
  return nearest;
}

UNDER_TEST void kmeans_gradient_by_hand(const double *restrict centroids, double *restrict gradient,
                                        const double *restrict points, int k, int n, int d) {
  set(gradient, k * d, 0);
  for (int i = 0; i < n; i++) {
    int j = kmeans_nearest(centroids, points + i * d, k, d);
    for (int c = 0; c < d; c++)
      gradient[j * d + c] += 2 * (centroids[j * d + c] - points[i * d + c]);
  }
}

UNDER_TEST void kmeans_direction_by_hand(const double *restrict centroids,
                                         double *restrict direction, const double *restrict points,
                                         int k, int n, int d) {
  int *counts = (int *)calloc(k, sizeof(int));
  set(direction, k * d, 0);
  for (int i = 0; i < n; i++) {
    int j = kmeans_nearest(centroids, points + i * d, k, d);
    counts[j]++;
    for (int c = 0; c < d; c++) direction[j * d + c] += centroids[j * d + c] - points[i * d + c];
  }
  for (int j = 0; j < k; j++)
    for (int c = 0; c < d; c++) direction[j * d + c] /= counts[j];
  free(counts);
}

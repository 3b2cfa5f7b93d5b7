// Matrices of Eigen, as they are, with sizes known when the program runs: small ones, and ones large
// enough for the blocked product, which asks the processor for the sizes of its caches.
extern "C" {
#include "check.h"
}
#include <eigen3/Eigen/Dense>
using namespace Eigen;

// A matrix of any size from a few numbers, with a dominant diagonal.
static MatrixXd matrix(const double *p, int n, int size) {
  MatrixXd a(size, size);
  for (int j = 0; j < size; j++)
    for (int i = 0; i < size; i++) a(i, j) = p[(7 * i + 3 * j) % n] + (i == j ? size : 0);
  return a;
}

static VectorXd vector(const double *p, int n, int size) {
  VectorXd b(size);
  for (int i = 0; i < size; i++) b(i) = p[(5 * i + 1) % n] * (i + 1);
  return b;
}

static double products(double *p, int n) {
  double sum = 0;
  for (int size : {3, 21}) {
    MatrixXd a = matrix(p, n, size), b = a.transpose() * p[0];
    VectorXd v = vector(p, n, size);
    MatrixXd c = a * b;
    VectorXd w = c * v;
    sum += (c.norm() + w.squaredNorm() / v.norm() + w.dot(v)) / size;
  }
  return sum / 1e4;
}

static double solved_lu(double *p, int n) {
  double sum = 0;
  for (int size : {4, 19}) {
    VectorXd b = vector(p, n, size);
    VectorXd x = matrix(p, n, size).partialPivLu().solve(b);
    sum += x.squaredNorm() + x.dot(b);
  }
  return sum;
}

static double solved_cholesky(double *p, int n) {
  double sum = 0;
  for (int size : {4, 19}) {
    MatrixXd a = matrix(p, n, size);
    VectorXd b = vector(p, n, size);
    VectorXd x = (a * a.transpose()).llt().solve(b);
    sum += x.norm() + x.dot(b);
  }
  return sum;
}

int main() {
  double p[12];
  fill(p, 12, 0.5, 1.5);
  CHECK_GRADIENT(products, p, 12);
  CHECK_GRADIENT(solved_lu, p, 12);
  CHECK_GRADIENT(solved_cholesky, p, 12);
  return finish("eigen_dynamic");
}

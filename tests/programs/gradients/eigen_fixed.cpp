// Matrices of Eigen, as they are, with sizes that the compiler knows: products and solves.
extern "C" {
#include "check.h"
}
#include <eigen3/Eigen/Dense>
using namespace Eigen;

static double product(double *p, int n) {
  Map<Matrix3d> a(p);
  Map<Vector3d> b(p + 9);
  return (a * b).squaredNorm() + (a * a.transpose()).trace();
}

static double large_product(double *p, int n) {
  Matrix<double, 4, 6> a;
  Matrix<double, 6, 5> b;
  for (int i = 0; i < 24; i++) a(i) = p[i % n] * (i + 1);
  for (int i = 0; i < 30; i++) b(i) = p[(i * i) % n] - i;
  Matrix<double, 4, 5> c = a * b;
  return c.sum() + c.norm();
}

static double inverted(double *p, int n) {
  Map<Matrix3d> a(p);
  Map<Vector3d> b(p + 9);
  return b.dot(a.inverse() * b) + a.determinant();
}

static double solved_lu(double *p, int n) {
  Map<Matrix3d> a(p);
  Map<Vector3d> b(p + 9);
  Vector3d x = a.partialPivLu().solve(b);
  return x.dot(b);
}

static double solved_cholesky(double *p, int n) {
  Map<Matrix3d> a(p);
  Map<Vector3d> b(p + 9);
  Matrix3d s = a * a.transpose();
  Vector3d x = s.llt().solve(b);
  return x.squaredNorm();
}

int main() {
  double p[12];
  fill(p, 12, -1, 1);
  for (int i = 0; i < 3; i++) p[i * 4] += 3;
  CHECK_GRADIENT(product, p, 12);
  CHECK_GRADIENT(large_product, p, 12);
  CHECK_GRADIENT(inverted, p, 12);
  CHECK_GRADIENT(solved_lu, p, 12);
  CHECK_GRADIENT(solved_cholesky, p, 12);
  return finish("eigen_fixed");
}

// A header-only library with expression templates: a solver, an inverse, a rotation.
#include <Eigen/Dense>
#include <cstdio>
int main() {
  Eigen::MatrixXd a(6, 6);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) a(i, j) = (i * 5 + j * 3) % 7 + (i == j) * 10;
  Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(6, 1, 6);
  Eigen::VectorXd x = a.partialPivLu().solve(b), y = x * 2 - x;
  std::printf("%.9f %.9f %d\n", x.sum(), (a * x - b).norm() < 1e-12 ? 1.0 : 0.0, (x - y).norm() < 1e-12);
  Eigen::Matrix4d m = a.topLeftCorner<4, 4>();
  std::printf("%.9f %.6f\n", m.inverse().sum(), m.trace());
  Eigen::Matrix3f r = Eigen::AngleAxisf(0.5f, Eigen::Vector3f(1, 2, 3).normalized()).toRotationMatrix();
  std::printf("%.5f %.5f\n", double(r.determinant()), double((r * r.transpose()).trace()));
  Eigen::ArrayXXf z = Eigen::ArrayXXf::Constant(3, 5, 2.f).exp().sqrt() + 1.f;
  std::printf("%.4f\n", double(z.sum()));
}

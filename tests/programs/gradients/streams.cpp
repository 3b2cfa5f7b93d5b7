// Streams, clocks, random numbers and locks of C++ inside of differentiated code: none of them has a
// derivative, and what is printed is printed once.
#include "check.h"
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <random>

static std::ofstream log_file;

static double printed(double x) {
  double y = x * x;
  std::cout << "x = " << x << ", y = " << y << " " << 3 << ' ' << true << " " << 4ul << std::endl;
  std::cout << std::setprecision(3) << std::fixed << y << "\n" << std::flush;
  std::cerr << std::setw(10) << y << '\n';
  std::clog << "log" << 1.5f << std::endl;
  std::cout.write("abc\n", 4);
  return y * x;
}
static std::mutex m;
static double timed(double x) {
  auto t = std::chrono::steady_clock::now();
  auto s = std::chrono::system_clock::now();
  auto h = std::chrono::high_resolution_clock::now();
  std::lock_guard<std::mutex> guard(m);
  assert(x > 0);
  double y = std::sin(x);
  std::chrono::duration<double> d = std::chrono::steady_clock::now() - t;
  if (d.count() > 1e6) std::cout << d.count() << s.time_since_epoch().count() << h.time_since_epoch().count();
  return y;
}
static double randoms(double x) {
  std::mt19937 g(42);
  std::uniform_real_distribution<double> u(0, 1);
  double s = 0;
  for (int i = 0; i < 5; i++) s += u(g) * x * x;
  return s;
}
static double normals(double x) {
  std::mt19937_64 g(42);
  std::normal_distribution<double> u(0, 1);
  std::uniform_int_distribution<int> k(0, 9);
  double s = 0;
  for (int i = 0; i < 5; i++) s += u(g) * x * x * k(g);
  return s;
}

// The log is a file whose length tells how often it was written.
static double logged(double x) {
  double y = x * x;
  log_file << "x = " << x << ", y = " << std::setw(20) << y << std::endl;
  log_file << 3 << ' ' << 4ul << ' ' << true << ' ' << 2.5f << "\n" << std::flush;
  log_file.write("abc\n", 4);
  return y * std::exp(x);
}

int main() {
  char path[] = "/tmp/zymase-logging-XXXXXX";
  int file = mkstemp(path);
  log_file.open(path);
  remove(path);
  logged(0.5);
  long once = (long)log_file.tellp();
  __enzyme_autodiff((void *)logged, enzyme_out, 0.5);
  check_close("reverse mode prints once", 0, (double)log_file.tellp(), 2 * once, 0);
  __enzyme_fwddiff((void *)logged, enzyme_dup, 0.5, 1.0);
  check_close("forward mode prints once", 0, (double)log_file.tellp(), 3 * once, 0);
  CHECK_SCALAR(logged, 0.75);
  CHECK_SCALAR(printed, 2.0);
  CHECK_SCALAR(timed, 2.0);
  CHECK_SCALAR(randoms, 2.0);
  CHECK_SCALAR(normals, 2.0);
  return finish("streams") + (file < 0);
}

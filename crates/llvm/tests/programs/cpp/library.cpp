// Containers, algorithms, closures, virtual functions and strings of the standard library.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
struct Shape { virtual double area() const = 0; virtual ~Shape() = default; };
struct Circle : Shape { double r; Circle(double r) : r(r) {} double area() const override { return 3.14159 * r * r; } };
struct Named { std::string name; virtual std::string call() const { return "named " + name; } virtual ~Named() = default; };
struct Square : Shape, Named { double s; Square(double s) : s(s) { name = "square"; } double area() const override { return s * s; } std::string call() const override { return "a " + name; } };
template <class T> T power(T x, int n) { return n == 0 ? T(1) : n % 2 ? x * power(x, n - 1) : power(x * x, n / 2); }
int main() {
  std::vector<std::unique_ptr<Shape>> shapes; for (int i = 1; i < 5; i++) if (i % 2) shapes.push_back(std::make_unique<Circle>(i)); else shapes.push_back(std::make_unique<Square>(i));
  double total = std::accumulate(shapes.begin(), shapes.end(), 0.0, [](double s, auto &p) { return s + p->area(); }); std::printf("%.3f\n", total);
  for (auto &s : shapes) if (auto *n = dynamic_cast<Named *>(s.get())) std::printf("%s ", n->call().c_str()); std::puts("");
  std::map<std::string, int> counts; std::istringstream in("to be or not to be that is the question to be"); std::string w; while (in >> w) counts[w]++; for (auto &[k, v] : counts) std::printf("%s=%d ", k.c_str(), v); std::puts("");
  std::vector<int> v(50); std::iota(v.begin(), v.end(), 0); std::sort(v.begin(), v.end(), [](int a, int b) { return a * 17 % 50 < b * 17 % 50; }); std::printf("%d %d %lld\n", v[3], *std::max_element(v.begin(), v.begin() + 5), (long long)power<long long>(3, 30));
  std::function<int(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }; std::unordered_map<int, std::variant<int, std::string>> m; m[1] = fib(15); m[2] = std::string("two"); std::printf("%d %s\n", std::get<int>(m[1]), std::get<std::string>(m[2]).c_str());
  std::ostringstream out; out << 1.5 << ' ' << std::hex << 255; std::printf("%s\n", out.str().c_str());
}

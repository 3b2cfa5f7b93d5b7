// Strings beside numbers: what they do is partly in the native library of C++.
#include "../check.h"

#include <map>
#include <string>
#include <vector>

struct account {
  std::string name;
  double balance;
};

static double labelled(double *x, int n) {
  std::vector<account> accounts;
  for (int i = 0; i < n; i++)
    accounts.push_back({"an account with a long name " + std::to_string(i), x[i]});
  double sum = 0;
  for (const account &a : accounts) sum += a.balance * a.balance * a.name.size();
  return sum;
}

static double named(double *x, int n) {
  std::map<std::string, double> m;
  for (int i = 0; i < n; i++) m["key " + std::to_string(i % 3)] += x[i] * x[i];
  return m["key 0"] * m["key 1"] + m.at("key 2");
}

int main() {
  double x[8];
  fill(x, 8, -1, 1);
  CHECK_GRADIENT(labelled, x, 4);
  CHECK_GRADIENT(named, x, 8);
  return finish("strings");
}

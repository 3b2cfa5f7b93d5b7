// Strings beside numbers: what they do is partly in the native library of C++. Short strings are
// in the object itself and long ones on the heap, so both kinds are here.
#include "check.h"

#include <algorithm>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
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

static double hashed(double *x, int n) {
  std::unordered_map<std::string, double> m;
  for (int i = 0; i < n; i++) {
    std::string key = i % 2 ? "odd" : "a key that does not fit into the string itself";
    m[key] = m[key] + x[i] * x[(i + 1) % n];
  }
  double product = 1;
  for (const auto &entry : m) product *= entry.second;
  return product + m.count("even") + m.size();
}

// Numbers before, between and behind strings; copies by value, assignments, moves and swaps.
struct record {
  double first;
  std::string title;
  float second;
  int count;
  std::string note;
  double third[2];
};

__attribute__((noinline)) static double by_value(record r) {
  r.first *= 2;
  r.title += r.note;
  return r.first * r.second + r.third[0] * r.third[1] * r.title.length();
}

__attribute__((noinline)) static void by_reference(record &r, const std::string &suffix) {
  r.title.append(suffix).append(1, '.');
  r.third[1] += r.first * r.first;
}

__attribute__((noinline)) static record made(double *x, const char *title) {
  record r = {x[0], title, (float)x[1], 3, "", {x[2], x[3]}};
  r.note = title + std::string(" is a title that somebody found too long to keep");
  return r;
}

static double records(double *x, int n) {
  record a = made(x, "short"), b = made(x + 1, "rather longer than short");
  by_reference(a, " and more");
  double sum = by_value(a) - by_value(b);
  record c = a;
  c.third[0] = b.third[0] * x[0];
  std::swap(a, b);
  b = std::move(c);
  by_reference(b, b.note);
  return sum * by_value(a) + by_value(b);
}

// What is looked up, compared, cut and put together decides about numbers.
static double parsed(double *x, int n) {
  const std::string program = "+ * - + max";
  std::istringstream words(program);
  std::string word;
  double value = x[0];
  int i = 1;
  while (words >> word) {
    if (word == "+") value += x[i];
    else if (word == "*") value *= x[i];
    else if (word[0] == '-') value -= x[i];
    else if (word.substr(1) == "ax" && word.find('x') == 2) value = std::max(value, x[i]);
    else throw std::runtime_error("unknown word " + word);
    i++;
  }
  return value * value;
}

// Messages that nobody reads.
static double logged(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    std::ostringstream line;
    line << "x[" << i << "] = " << x[i] << ", " << std::string(i, '-');
    std::string text = line.str() + " sum " + std::to_string(sum);
    sum += x[i] * x[i] * (text.empty() ? 2 : 1);
    std::clog << text.substr(0, 0);
    std::cout << text.substr(0, 0) << std::string();
  }
  return sum * sum;
}

static double sorted(double *x, int n) {
  std::vector<std::pair<std::string, double>> entries;
  for (int i = 0; i < n; i++)
    entries.emplace_back(std::string(1, (char)('a' + (i * 5) % 8)) + " with a tail that is long enough", x[i]);
  std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  double sum = 0;
  for (size_t i = 0; i + 1 < entries.size(); i++)
    sum += entries[i].second * entries[i + 1].second * (entries[i].first.front() - 'a' + 1);
  return sum;
}

// A tree of objects with names, as a simulation has it.
struct body {
  std::string name;
  double mass;
  std::vector<std::unique_ptr<body>> parts;

  body(std::string name, double mass) : name(std::move(name)), mass(mass) {}
  double total() const {
    double sum = mass * mass;
    for (const auto &part : parts) sum += part->total() * (part->name.back() == '0' ? 2 : 1);
    return sum;
  }
};

static double tree(double *x, int n) {
  body root("the root of all bodies, with a name", x[0]);
  for (int i = 1; i < n; i++) {
    body *at = &root;
    for (int j = 1; j < i && !at->parts.empty(); j *= 2) at = at->parts[j % at->parts.size()].get();
    at->parts.push_back(std::make_unique<body>("part " + std::to_string(i % 2), x[i] * at->mass));
  }
  return root.total();
}

// Characters one by one, and lists of words without any number.
static double spelled(double *x, int n) {
  std::string word;
  for (int i = 0; i < n; i++) word.push_back((char)('a' + i));
  std::reverse(word.begin(), word.end());
  for (char &c : word) c = (char)(c - 'a' + 'A');
  word[0] = 'z';
  std::vector<std::string> words = {word, "one", "two words in one string that is long"};
  std::set<std::string> unique(words.begin(), words.end());
  std::list<std::string> list(unique.begin(), unique.end());
  double sum = 0;
  for (const std::string &w : list) sum += x[w.size() % n] * x[w.at(0) % n];
  return sum + std::stod("1.5") * x[0] * strlen(word.c_str());
}

int main() {
  double x[8];
  fill(x, 8, -1, 1);
  CHECK_GRADIENT(labelled, x, 4);
  CHECK_GRADIENT(named, x, 8);
  CHECK_GRADIENT(hashed, x, 6);
  CHECK_GRADIENT_TO(records, x, 5, 2e-3);
  CHECK_GRADIENT(parsed, x, 6);
  CHECK_GRADIENT(logged, x, 5);
  CHECK_GRADIENT(sorted, x, 8);
  CHECK_GRADIENT(tree, x, 7);
  CHECK_GRADIENT(spelled, x, 5);
  return finish("strings");
}

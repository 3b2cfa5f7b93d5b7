// Functions of the benchmarks for ADOL-C, which takes turns as turns.py says.
//
// ADOL-C records a function on a tape once, and evaluates derivatives from it as long as branches go
// the same way. The time of recording is not counted, which is in its favour; tapes stay in memory.
#include <adolc/adolc.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

using std::vector;

// Numbers that the program shares, by name.
struct shared : std::map<std::string, vector<double>> {
  explicit shared(const std::string &path) {
    FILE *file = fopen(path.c_str(), "rb");
    if (!file) throw std::runtime_error("cannot read " + path);
    char name[80];
    size_t count;
    while (fscanf(file, "%79s %zu", name, &count) == 2) {
      vector<double> numbers(count);
      fgetc(file);
      if (fread(numbers.data(), sizeof(double), count, file) != count) break;
      (*this)[name] = numbers;
    }
    fclose(file);
  }
  const vector<double> &array(const char *name) const { return at(name); }
  int number(const char *name) const { return (int)at(name)[0]; }
};

// What is measured: both leave their result where it is not lost.
struct functions {
  std::function<double()> primal;
  std::function<void(vector<double> &)> gradient;
};

enum { TAPE = 1 };

// More operations than this would not fit into memory: a tape has some thirty bytes for each.
static const double MOST_OPERATIONS = 3e7;

static void expect(double operations) {
  if (operations > MOST_OPERATIONS)
    throw std::runtime_error("a tape of about " + std::to_string((long)(operations / 1e6)) +
                             " million operations would not fit into memory");
}

static void start_tape() {
  const size_t buffer = 1 << 27;
  trace_on(TAPE, 0, buffer, buffer, buffer, buffer);
}

// The gradient of a function of one vector, written for any type of numbers.
template <class F> functions of_vector(F f, const vector<double> &x, double operations) {
  expect(operations);
  int n = (int)x.size();
  start_tape();
  {
    vector<adouble> active(n);
    for (int i = 0; i < n; i++) active[i] <<= x[i];
    adouble result = f(active.data());
    double value;
    result >>= value;
  }
  trace_off();
  return {[f, x] { return f(x.data()); },
          [x, n](vector<double> &out) {
            out.resize(n);
            if (gradient(TAPE, n, x.data(), out.data()) < 0)
              throw std::runtime_error("a branch goes another way than on the tape");
          }};
}

template <class T> T square(const T &x) { return x * x; }

static functions dot(const shared &s) {
  const auto &x = s.array("x"), &y = s.array("y");
  int n = (int)x.size();
  vector<double> both(x);
  both.insert(both.end(), y.begin(), y.end());
  auto f = [n]<class T>(const T *v) {
    T sum = v[0] * v[n];
    for (int i = 1; i < n; i++) sum += v[i] * v[n + i];
    return sum;
  };
  return of_vector(f, both, 4.0 * n);
}

// The sum of all entries of the product.
static functions matmul(const shared &s, bool transposed) {
  const auto &a = s.array("a"), &b = s.array("b");
  int n = s.number("n");
  vector<double> both(a);
  both.insert(both.end(), b.begin(), b.end());
  auto f = [n, transposed]<class T>(const T *v) {
    T total = 0;
    const T *a = v, *b = v + n * n;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        T sum = 0;
        for (int k = 0; k < n; k++) sum += a[i * n + k] * (transposed ? b[j * n + k] : b[k * n + j]);
        total += sum;
      }
    return total;
  };
  return of_vector(f, both, 2.0 * n * n * n);
}

template <class T> T log_sum_exp(const T *x, int n) {
  T most = x[0], sum = 0;
  for (int i = 1; i < n; i++) most = fmax(most, x[i]);
  for (int i = 0; i < n; i++) sum += exp(x[i] - most);
  return most + log(sum);
}

static functions lse(const shared &s) {
  int n = (int)s.array("x").size();
  auto f = [n]<class T>(const T *x) { return log_sum_exp(x, n); };
  return of_vector(f, s.array("x"), 5.0 * n);
}

static functions llsq(const shared &s) {
  int n = s.number("n"), m = (int)s.array("x").size();
  auto f = [n, m]<class T>(const T *x) -> T {
    T total = 0;
    for (int i = 0; i < n; i++) {
      double t = -1 + 2.0 * i / (n - 1), power = 1;
      T residual = (t > 0) - (t < 0);
      for (int j = 0; j < m; j++) {
        residual -= x[j] * power;
        power *= t;
      }
      total += square(residual);
    }
    return total / 2;
  };
  return of_vector(f, s.array("x"), 2.0 * n * m);
}

static functions kmeans(const shared &s) {
  int k = s.number("k"), n = s.number("n"), d = s.number("d");
  auto f = [k, n, d, points = s.array("points")]<class T>(const T *centroids) {
    T cost = 0;
    for (int i = 0; i < n; i++) {
      T least = INFINITY;
      for (int j = 0; j < k; j++) {
        T distance = 0;
        for (int c = 0; c < d; c++) distance += square<T>(centroids[j * d + c] - points[i * d + c]);
        least = fmin(least, distance);
      }
      cost += least;
    }
    return cost;
  };
  return of_vector(f, s.array("centroids"), 4.0 * k * n * d);
}

struct minors {
  int ell;
  template <class T>
  T value(const T *a, int size, vector<int> &rows, vector<int> &columns) const {
    int row = rows[ell], before = ell;
    if (size == 1) return a[row * ell + columns[ell]];
    rows[ell] = rows[row];
    T sum = 0;
    for (int j = 0; j < size; j++) {
      int column = columns[before];
      columns[before] = columns[column];
      T minor = a[row * ell + column] * value(a, size - 1, rows, columns);
      if (j % 2) sum -= minor;
      else sum += minor;
      columns[before] = column;
      before = column;
    }
    rows[ell] = row;
    return sum;
  }
  template <class T> T operator()(const T *a) const {
    vector<int> rows(ell + 1), columns;
    for (int i = 0; i < ell; i++) rows[i] = i + 1;
    rows[ell] = 0;
    columns = rows;
    return value(a, ell, rows, columns);
  }
};

static functions det(const shared &s) {
  int ell = s.number("ell");
  double operations = 3;
  for (int i = 2; i <= ell; i++) operations = i * (operations + 2);
  return of_vector(minors{ell}, s.array("a"), operations);
}

struct chain {
  int n, steps;
  template <class T> void slope(const T *x, const vector<T> &y, vector<T> &k) const {
    k[0] = x[0];
    for (int i = 1; i < n; i++) k[i] = x[i] * y[i - 1];
  }
  template <class T> T operator()(const T *x) const {
    vector<T> y(n), k1(n), k2(n), k3(n), k4(n), t(n);
    double h = 2.0 / steps;
    for (int i = 0; i < n; i++) y[i] = 0;
    for (int s = 0; s < steps; s++) {
      slope(x, y, k1);
      for (int i = 0; i < n; i++) t[i] = y[i] + h / 2 * k1[i];
      slope(x, t, k2);
      for (int i = 0; i < n; i++) t[i] = y[i] + h / 2 * k2[i];
      slope(x, t, k3);
      for (int i = 0; i < n; i++) t[i] = y[i] + h * k3[i];
      slope(x, t, k4);
      for (int i = 0; i < n; i++) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    T sum = y[0];
    for (int i = 1; i < n; i++) sum += y[i];
    return sum;
  }
};

static functions ode(const shared &s) {
  int n = (int)s.array("x").size(), steps = s.number("steps");
  return of_vector(chain{n, steps}, s.array("x"), 20.0 * n * steps);
}

struct mixture {
  int d, k, n, m;
  double gamma;
  vector<double> x;
  template <class T> T operator()(const T *v) const {
    int lower = d * (d - 1) / 2;
    const T *alpha = v, *mu = v + k, *q = mu + k * d, *l = q + k * d;
    vector<T> diagonals(k * d), sums(k), centered(d), product(d), terms(k);
    for (int j = 0; j < k; j++) {
      sums[j] = 0;
      for (int c = 0; c < d; c++) {
        sums[j] += q[j * d + c];
        diagonals[j * d + c] = exp(q[j * d + c]);
      }
    }
    T likelihood = 0, prior = 0;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < k; j++) {
        for (int c = 0; c < d; c++) centered[c] = x[i * d + c] - mu[j * d + c];
        for (int r = 0; r < d; r++) product[r] = diagonals[j * d + r] * centered[r];
        const T *column = l + j * lower;
        for (int c = 0; c < d; c++)
          for (int r = c + 1; r < d; r++) product[r] += *column++ * centered[c];
        T sum = 0;
        for (int c = 0; c < d; c++) sum += square(product[c]);
        terms[j] = alpha[j] + sums[j] - 0.5 * sum;
      }
      likelihood += log_sum_exp(terms.data(), k);
    }
    for (int j = 0; j < k; j++) {
      T frobenius = 0;
      for (int c = 0; c < d; c++) frobenius += square(diagonals[j * d + c]);
      for (int c = 0; c < lower; c++) frobenius += square(l[j * lower + c]);
      prior += 0.5 * gamma * gamma * frobenius - m * sums[j];
    }
    // Without the constant, which has no derivative.
    return likelihood - n * log_sum_exp(alpha, k) - prior;
  }
};

static functions gmm(const shared &s) {
  mixture f = {s.number("d"), s.number("k"),          s.number("n"),
               s.number("m"), s.array("gamma").at(0), s.array("x")};
  vector<double> all;
  for (const char *name : {"alpha", "mu", "q", "l"})
    if (s.count(name)) all.insert(all.end(), s.array(name).begin(), s.array(name).end());
  return of_vector(f, all, (double)f.n * f.k * f.d * (f.d + 5));
}

struct network {
  int layers, b, c;
  vector<double> start, sequence;
  template <class T> T operator()(const T *v) const {
    const T *extra = v + 8 * layers * b;
    vector<T> state(2 * layers * b), out(b);
    T total = 0;
    for (int i = 0; i < 2 * layers * b; i++) state[i] = start[i];
    for (int t = 0; t < c - 1; t++) {
      for (int i = 0; i < b; i++) out[i] = sequence[t * b + i] * extra[i];
      for (int layer = 0; layer < layers; layer++) {
        const T *weight = v + 8 * layer * b, *bias = weight + 4 * b;
        T *hidden = &state[2 * layer * b], *cell = hidden + b;
        for (int i = 0; i < b; i++) {
          T forget = 1 / (1 + exp(-(out[i] * weight[i] + bias[i])));
          T ingate = 1 / (1 + exp(-(hidden[i] * weight[b + i] + bias[b + i])));
          T outgate = 1 / (1 + exp(-(out[i] * weight[2 * b + i] + bias[2 * b + i])));
          T change = tanh(hidden[i] * weight[3 * b + i] + bias[3 * b + i]);
          cell[i] = cell[i] * forget + ingate * change;
          hidden[i] = outgate * tanh(cell[i]);
          out[i] = hidden[i];
        }
      }
      T sum = 2;
      for (int i = 0; i < b; i++) {
        out[i] = out[i] * extra[b + i] + extra[2 * b + i];
        sum += exp(out[i]);
      }
      T norm = log(sum);
      for (int i = 0; i < b; i++) total += sequence[(t + 1) * b + i] * (out[i] - norm);
    }
    return -total / (b * (c - 1));
  }
};

static functions lstm(const shared &s) {
  network f = {s.number("layers"), s.number("b"), s.number("c"), s.array("state"),
               s.array("sequence")};
  vector<double> all(s.array("main"));
  all.insert(all.end(), s.array("extra").begin(), s.array("extra").end());
  return of_vector(f, all, 40.0 * f.c * f.layers * f.b);
}

template <class T> void reprojection(const T *v, T *error) {
  const T *r = v, *point = v + 11, *feature = v + 15;
  T y[3], z[3], square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  for (int i = 0; i < 3; i++) y[i] = point[i] - v[3 + i];
  T angle = sqrt(square), c = cos(angle), s = sin(angle), inverse = 1 / angle;
  T axis[] = {r[0] * inverse, r[1] * inverse, r[2] * inverse};
  T cross[] = {axis[1] * y[2] - axis[2] * y[1], axis[2] * y[0] - axis[0] * y[2],
               axis[0] * y[1] - axis[1] * y[0]};
  T along = (axis[0] * y[0] + axis[1] * y[1] + axis[2] * y[2]) * (1 - c);
  for (int i = 0; i < 3; i++) z[i] = y[i] * c + cross[i] * s + axis[i] * along;
  T e0 = z[0] / z[2], e1 = z[1] / z[2], rho = e0 * e0 + e1 * e1;
  T stretch = 1 + v[9] * rho + v[10] * rho * rho;
  error[0] = v[14] * (v[6] * e0 * stretch + v[7] - feature[0]);
  error[1] = v[14] * (v[6] * e1 * stretch + v[8] - feature[1]);
}

// The tape of one observation serves all: what is observed is an input too.
static functions ba(const shared &s) {
  enum { INPUTS = 17, ROW = 15 };
  int n = s.number("n"), m = s.number("m"), p = s.number("p");
  vector<double> inputs((size_t)INPUTS * p), weights = s.array("weights");
  for (int i = 0; i < p; i++) {
    double *v = &inputs[(size_t)INPUTS * i];
    memcpy(v, &s.array("cameras")[11 * (i % n)], 11 * sizeof(double));
    memcpy(v + 11, &s.array("points")[3 * (i % m)], 3 * sizeof(double));
    v[14] = weights[i];
    memcpy(v + 15, &s.array("features")[2 * i], 2 * sizeof(double));
  }
  start_tape();
  {
    adouble v[INPUTS], error[2];
    double value;
    for (int i = 0; i < INPUTS; i++) v[i] <<= inputs[i];
    reprojection(v, error);
    for (int i = 0; i < 2; i++) error[i] >>= value;
  }
  trace_off();
  auto primal = [=] {
    double sum = 0, error[2];
    for (int i = 0; i < p; i++) {
      reprojection(&inputs[(size_t)INPUTS * i], error);
      sum += error[0] + error[1] + 1 - weights[i] * weights[i];
    }
    return sum;
  };
  auto gradient = [=](vector<double> &out) {
    out.resize((size_t)31 * p);
    double first[INPUTS], second[INPUTS], *rows[] = {first, second};
    for (int i = 0; i < p; i++) {
      jacobian(TAPE, 2, INPUTS, &inputs[(size_t)INPUTS * i], rows);
      memcpy(&out[(size_t)2 * ROW * i], first, ROW * sizeof(double));
      memcpy(&out[(size_t)2 * ROW * i + ROW], second, ROW * sizeof(double));
      out[(size_t)2 * ROW * p + i] = -2 * weights[i];
    }
  };
  return {primal, gradient};
}

static functions prepare(const std::string &name, const shared &s) {
  if (name == "dot") return dot(s);
  if (name == "matmul i j k" || name == "matmul i k j") return matmul(s, false);
  if (name == "matmul a b^T") return matmul(s, true);
  if (name == "lse") return lse(s);
  if (name == "llsq") return llsq(s);
  if (name == "kmeans gradient") return kmeans(s);
  if (name == "det") return det(s);
  if (name == "ode") return ode(s);
  if (name == "gmm") return gmm(s);
  if (name == "lstm") return lstm(s);
  if (name == "ba") return ba(s);
  throw std::runtime_error("this function is not written for it");
}

static double now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main() {
  functions measured;
  vector<double> result;
  volatile double kept;
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.rfind("measure ", 0) == 0) {
      size_t tab = line.find('\t');
      std::string name = line.substr(8, tab - 8), path = line.substr(tab + 1);
      try {
        measured = prepare(name, shared(path));
        measured.gradient(result);
        FILE *file = fopen((path + ".result").c_str(), "wb");
        if (!file) throw std::runtime_error("cannot write " + path + ".result");
        fprintf(file, "result %zu\n", result.size());
        fwrite(result.data(), sizeof(double), result.size(), file);
        fclose(file);
        std::cout << "ready" << std::endl;
      } catch (const std::exception &reason) {
        std::cout << "cannot " << reason.what() << std::endl;
      }
      continue;
    }
    double start = now();
    if (line == "primal") kept = measured.primal();
    else measured.gradient(result);
    std::cout << 1e3 * (now() - start) << std::endl;
  }
}

// A neural network of classes with virtual methods that own their weights, held by unique pointers in
// a vector; it is built, run and destroyed inside of the differentiated function.
#include "check.h"

#include <memory>
#include <vector>

using Row = std::vector<double>;

struct Layer {
  virtual Row forward(const Row &in) = 0;
  virtual ~Layer() {}
};

struct Dense : Layer {
  int outputs;
  Row weights, biases;
  Dense(const double *p, int inputs, int outputs)
      : outputs(outputs), weights(p, p + inputs * outputs),
        biases(p + inputs * outputs, p + (inputs + 1) * outputs) {}
  Row forward(const Row &in) override {
    Row out(biases);
    for (int i = 0; i < outputs; i++)
      for (size_t j = 0; j < in.size(); j++) out[i] += weights[i * in.size() + j] * in[j];
    return out;
  }
};

struct Tanh : Layer {
  Row forward(const Row &in) override {
    Row out;
    for (double x : in) out.push_back(tanh(x));
    return out;
  }
};

// It remembers what went through it.
struct Scale : Layer {
  double factor, seen = 0;
  Scale(double factor) : factor(factor) {}
  Row forward(const Row &in) override {
    Row out(in);
    for (double &x : out) {
      x *= factor + 0.1 * seen;
      seen += x;
    }
    return out;
  }
};

static double network(double *p, int n) {
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(std::make_unique<Dense>(p, 2, 3));
  layers.push_back(std::make_unique<Tanh>());
  layers.push_back(std::make_unique<Scale>(p[17]));
  layers.push_back(std::make_unique<Dense>(p + 9, 3, 2));
  double loss = 0;
  for (int sample = 0; sample < 3; sample++) {
    Row values = {0.5 * sample, 1.0 - sample};
    for (auto &layer : layers) values = layer->forward(values);
    for (double y : values) loss += (y - 0.3) * (y - 0.3);
  }
  return loss;
}

int main() {
  double p[18];
  fill(p, 18, -1, 1);
  CHECK_GRADIENT(network, p, 18);
  return finish("layers");
}

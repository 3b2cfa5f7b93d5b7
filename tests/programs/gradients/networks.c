// Small neural networks: a tanh perceptron, an LSTM cell over a sequence, a convolution, attention.
#include "check.h"

static void dense(const double *restrict w, const double *restrict in, double *restrict out, int n, int m) {
  for (int i = 0; i < m; i++) {
    double sum = w[i * (n + 1) + n];
    for (int j = 0; j < n; j++) sum += w[i * (n + 1) + j] * in[j];
    out[i] = tanh(sum);
  }
}

// 3 inputs, 5 hidden, 4 hidden, 1 output: 20 + 24 + 5 weights.
static double perceptron(double *w, int n) {
  double in[3] = {0.5, -0.2, 0.9}, a[5], b[4], c[1];
  dense(w, in, a, 3, 5);
  dense(w + 20, a, b, 5, 4);
  dense(w + 44, b, c, 4, 1);
  return (c[0] - 0.3) * (c[0] - 0.3);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

struct lstm { double h[2], c[2]; };

__attribute__((noinline)) static void cell(struct lstm *state, const double *w, double input) {
  double gates[4][2];
  for (int g = 0; g < 4; g++)
    for (int i = 0; i < 2; i++) {
      const double *row = w + (g * 2 + i) * 4;
      gates[g][i] = row[0] * state->h[0] + row[1] * state->h[1] + row[2] * input + row[3];
    }
  for (int i = 0; i < 2; i++) {
    state->c[i] = sigmoid(gates[0][i]) * state->c[i] + sigmoid(gates[1][i]) * tanh(gates[2][i]);
    state->h[i] = sigmoid(gates[3][i]) * tanh(state->c[i]);
  }
}

static double lstm(double *w, int n) {
  struct lstm state = {{0, 0}, {0, 0}};
  double loss = 0;
  for (int t = 0; t < 5; t++) {
    cell(&state, w, sin(t));
    loss += (state.h[0] - 0.1 * t) * (state.h[0] - 0.1 * t) + state.h[1] * state.c[0];
  }
  return loss;
}

static double convolution(double *x, int n) {
  double (*image)[5] = (double (*)[5])x, *kernel = x + 25, sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double s = 0;
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) s += image[i + a][j + b] * kernel[a * 3 + b];
      sum += s > 0 ? s * s : 0.1 * s;
    }
  return sum;
}

static double attention(double *x, int n) {
  const double *q = x, *k = x + 8, *v = x + 16;
  double out[8] = {0}, sum = 0;
  for (int i = 0; i < 4; i++) {
    double score[4], top = -1e30, total = 0;
    for (int j = 0; j <= i; j++) {
      score[j] = (q[2 * i] * k[2 * j] + q[2 * i + 1] * k[2 * j + 1]) / sqrt(2);
      if (score[j] > top) top = score[j];
    }
    for (int j = 0; j <= i; j++) total += score[j] = exp(score[j] - top);
    for (int j = 0; j <= i; j++)
      for (int c = 0; c < 2; c++) out[2 * i + c] += score[j] / total * v[2 * j + c];
  }
  for (int i = 0; i < 8; i++) sum += out[i] * out[i] * (i + 1);
  return sum;
}

static double layer_norm(double *x, int n) {
  double mean = 0, variance = 0, sum = 0;
  for (int i = 0; i < n; i++) mean += x[i];
  mean /= n;
  for (int i = 0; i < n; i++) variance += (x[i] - mean) * (x[i] - mean);
  double scale = 1 / sqrt(variance / n + 1e-5);
  for (int i = 0; i < n; i++) sum += (x[i] - mean) * scale * (i + 1) * (x[i] - mean) * scale;
  return sum;
}

int main(void) {
  double x[49];
  for (int trial = 1; trial <= 2; trial++) {
    seed(trial);
    fill(x, 49, -1, 1);
    CHECK_GRADIENT(perceptron, x, 49);
    CHECK_GRADIENT(lstm, x, 32);
    CHECK_GRADIENT(convolution, x, 34);
    CHECK_GRADIENT(attention, x, 24);
    CHECK_GRADIENT(layer_norm, x, 9);
  }
  return finish("networks");
}

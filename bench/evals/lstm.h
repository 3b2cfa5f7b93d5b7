// A diagonal LSTM: `layers` layers of width b over a sequence of c characters of b bits each.
#include "request.h"

// Weights and biases of a layer are two rows of 4b numbers: forget, ingate, outgate, change.
// `extra` has three rows: weights of the input, weights and biases of the output. `state` has two
// rows for each layer: hidden, cell.
struct lstm {
  int layers, b, c;
  const double *main, *extra, *state, *sequence;
};

static inline double lstm_sigmoid(double z) { return 1 / (1 + exp(-z)); }

static void lstm_layer(const double *weight, const double *bias, double *hidden, double *cell,
                       const double *input, int b) {
  for (int i = 0; i < b; i++) {
    double forget = lstm_sigmoid(input[i] * weight[i] + bias[i]);
    double ingate = lstm_sigmoid(hidden[i] * weight[b + i] + bias[b + i]);
    double outgate = lstm_sigmoid(input[i] * weight[2 * b + i] + bias[2 * b + i]);
    double change = tanh(hidden[i] * weight[3 * b + i] + bias[3 * b + i]);
    cell[i] = cell[i] * forget + ingate * change;
    hidden[i] = outgate * tanh(cell[i]);
  }
}

static void lstm_predict(const double *main, const double *extra, double *state, const double *bits,
                         double *out, int layers, int b) {
  for (int i = 0; i < b; i++) out[i] = bits[i] * extra[i];
  const double *input = out;
  for (int i = 0; i < layers; i++) {
    double *hidden = state + 2 * i * b;
    lstm_layer(main + 8 * i * b, main + (8 * i + 4) * b, hidden, hidden + b, input, b);
    input = hidden;
  }
  for (int i = 0; i < b; i++) out[i] = input[i] * extra[b + i] + extra[2 * b + i];
}

UNDER_TEST double lstm(const double *main, const double *extra, const double *start,
                       const double *sequence, int layers, int b, int c) {
  double *state = doubles(2 * layers * b), *out = doubles(b), total = 0;
  for (int i = 0; i < 2 * layers * b; i++) state[i] = start[i];
  for (int t = 0; t < c - 1; t++) {
    lstm_predict(main, extra, state, sequence + t * b, out, layers, b);
    double sum = 2;
    for (int i = 0; i < b; i++) sum += exp(out[i]);
    double norm = log(sum);
    for (int i = 0; i < b; i++) total += sequence[(t + 1) * b + i] * (out[i] - norm);
  }
  free(state);
  free(out);
  return -total / (b * (c - 1));
}

UNDER_TEST void lstm_gradient(const struct lstm *p, double *d_main, double *d_extra) {
  set(d_main, 8 * p->layers * p->b, 0);
  set(d_extra, 3 * p->b, 0);
  __enzyme_autodiff((void *)lstm, enzyme_dup, p->main, d_main, enzyme_dup, p->extra, d_extra,
                    enzyme_const, p->state, enzyme_const, p->sequence, enzyme_const, p->layers,
                    enzyme_const, p->b, enzyme_const, p->c);
}

// What the way back needs of a layer at a time: what came in and what was there before, the four
// gates, and tanh of the cell. Each is a row with all bits, so that the way back has vectors.
#define KEPT(name) r[KEPT_##name * b + i]
enum {
  KEPT_INPUT,
  KEPT_HIDDEN,
  KEPT_CELL,
  KEPT_FORGET,
  KEPT_INGATE,
  KEPT_OUTGATE,
  KEPT_CHANGE,
  KEPT_SQUASHED,
  KEPT_COUNT
};

UNDER_TEST void lstm_by_hand(const struct lstm *p, double *restrict d_main,
                             double *restrict d_extra) {
  int layers = p->layers, b = p->b, c = p->c, width = layers * b, step = KEPT_COUNT * width + b;
  const double *restrict main = p->main, *restrict extra = p->extra;
  double *restrict state = doubles(2 * width), *restrict d_state = doubles(2 * width);
  double *restrict kept = doubles((size_t)step * (c - 1)), *restrict u = doubles(b);
  memcpy(state, p->state, 2 * width * sizeof(double));
  set(d_state, 2 * width, 0);
  set(d_main, 8 * width, 0);
  set(d_extra, 3 * b, 0);
  for (int t = 0; t < c - 1; t++) {
    double *restrict record = kept + (size_t)step * t;
    for (int i = 0; i < b; i++) u[i] = p->sequence[t * b + i] * extra[i];
    for (int layer = 0; layer < layers; layer++) {
      const double *restrict weight = main + 8 * layer * b, *restrict bias = weight + 4 * b;
      double *restrict hidden = state + 2 * layer * b, *restrict cell = hidden + b;
      double *restrict r = record + KEPT_COUNT * layer * b;
      for (int i = 0; i < b; i++) {
        KEPT(INPUT) = u[i];
        KEPT(HIDDEN) = hidden[i];
        KEPT(CELL) = cell[i];
        KEPT(FORGET) = lstm_sigmoid(u[i] * weight[i] + bias[i]);
        KEPT(INGATE) = lstm_sigmoid(hidden[i] * weight[b + i] + bias[b + i]);
        KEPT(OUTGATE) = lstm_sigmoid(u[i] * weight[2 * b + i] + bias[2 * b + i]);
        KEPT(CHANGE) = tanh(hidden[i] * weight[3 * b + i] + bias[3 * b + i]);
        cell[i] = cell[i] * KEPT(FORGET) + KEPT(INGATE) * KEPT(CHANGE);
        KEPT(SQUASHED) = tanh(cell[i]);
        u[i] = hidden[i] = KEPT(OUTGATE) * KEPT(SQUASHED);
      }
    }
    double *restrict softmax = record + KEPT_COUNT * width, sum = 2;
    for (int i = 0; i < b; i++) sum += softmax[i] = exp(u[i] * extra[b + i] + extra[2 * b + i]);
    for (int i = 0; i < b; i++) softmax[i] /= sum;
  }
  double scale = -1.0 / (b * (c - 1));
  for (int t = c - 2; t >= 0; t--) {
    const double *restrict record = kept + (size_t)step * t;
    const double *restrict softmax = record + KEPT_COUNT * width;
    const double *restrict target = p->sequence + (t + 1) * b;
    const double *restrict r = record + KEPT_COUNT * (layers - 1) * b;
    double ones = 0;
    for (int i = 0; i < b; i++) ones += target[i];
    for (int i = 0; i < b; i++) {
      double d_out = scale * (target[i] - ones * softmax[i]);
      d_extra[b + i] += d_out * KEPT(OUTGATE) * KEPT(SQUASHED);
      d_extra[2 * b + i] += d_out;
      u[i] = d_out * extra[b + i];
    }
    for (int layer = layers - 1; layer >= 0; layer--) {
      const double *restrict weight = main + 8 * layer * b;
      double *restrict d_weight = d_main + 8 * layer * b, *restrict d_bias = d_weight + 4 * b;
      double *restrict d_hidden = d_state + 2 * layer * b, *restrict d_cell = d_hidden + b;
      const double *restrict r = record + KEPT_COUNT * layer * b;
      for (int i = 0; i < b; i++) {
        double d_h = d_hidden[i] + u[i];
        double d_c = d_cell[i] + d_h * KEPT(OUTGATE) * (1 - KEPT(SQUASHED) * KEPT(SQUASHED));
        double forget = d_c * KEPT(CELL) * KEPT(FORGET) * (1 - KEPT(FORGET));
        double ingate = d_c * KEPT(CHANGE) * KEPT(INGATE) * (1 - KEPT(INGATE));
        double outgate = d_h * KEPT(SQUASHED) * KEPT(OUTGATE) * (1 - KEPT(OUTGATE));
        double change = d_c * KEPT(INGATE) * (1 - KEPT(CHANGE) * KEPT(CHANGE));
        d_weight[i] += forget * KEPT(INPUT);
        d_weight[b + i] += ingate * KEPT(HIDDEN);
        d_weight[2 * b + i] += outgate * KEPT(INPUT);
        d_weight[3 * b + i] += change * KEPT(HIDDEN);
        d_bias[i] += forget;
        d_bias[b + i] += ingate;
        d_bias[2 * b + i] += outgate;
        d_bias[3 * b + i] += change;
        u[i] = forget * weight[i] + outgate * weight[2 * b + i];
        d_hidden[i] = ingate * weight[b + i] + change * weight[3 * b + i];
        d_cell[i] = d_c * KEPT(FORGET);
      }
    }
    for (int i = 0; i < b; i++) d_extra[i] += u[i] * p->sequence[t * b + i];
  }
  free(state);
  free(d_state);
  free(kept);
  free(u);
}

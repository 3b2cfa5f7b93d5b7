// GPT-2 in C: the model, its backward pass written by hand, and the same backward pass written by
// Zymase, side by side in one file so that they can be compared.
//
//     zymase cc -O3 -ffast-math -march=native gpt2.c -lm -o gpt2
//
//     ./gpt2                            trains a small model on a text that is built in
//     ./gpt2 check                      compares the derivatives, prints `ok gpt2`
//     ./gpt2 bench [layers|model]       measures, one JSON object per line
//     ./gpt2 bench memory hand          three steps of the 124M model, and the peak of memory
//     ./gpt2 bench memory synthesized   the same with the gradient of Zymase, or with `array`, with
//                                       that of the model whose activations are one array
//
// Training takes words such as `layers=2` for everything in `struct options`.
//
// -DREAL=double makes all numbers double. -DWITHOUT_ZYMASE leaves out the requests, so that any C
// compiler builds the rest. -DWITHOUT_RESTRICT drops the promise that the arrays of a layer are
// apart.
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>
#include <time.h>

#ifdef WITHOUT_RESTRICT
#define restrict
#endif

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

#ifndef WITHOUT_ZYMASE
extern int enzyme_dup, enzyme_const, enzyme_primal_return;
void __enzyme_autodiff_void(void *, ...);
real __enzyme_autodiff_real(void *, ...);
#endif

// How many rows a block of a matrix product has.
enum { BLOCK = 8 };

// ------------------------------------------------------------------------------------------------
// Layers. Arrays are in C order with the shapes that the comments give. Backward functions add to
// the gradients of inputs and parameters; `d_out` is read only.

// out (B,T,C) = the row of wte (Vp,C) of each token + the row of wpe (maxT,C) of its position.
static void encoder(real *restrict out, const int *restrict tokens, const real *restrict wte,
                    const real *restrict wpe, int B, int T, int C) {
  for (int b = 0; b < B; b++)
    for (int t = 0; t < T; t++) {
      size_t row = (size_t)b * T + t;
      const real *token = wte + (size_t)tokens[row] * C, *position = wpe + (size_t)t * C;
      for (int i = 0; i < C; i++) out[row * C + i] = token[i] + position[i];
    }
}

static void encoder_backward(real *restrict d_wte, real *restrict d_wpe,
                             const real *restrict d_out, const int *restrict tokens, int B, int T,
                             int C) {
  for (int b = 0; b < B; b++)
    for (int t = 0; t < T; t++) {
      size_t row = (size_t)b * T + t;
      const real *d = d_out + row * C;
      real *d_token = d_wte + (size_t)tokens[row] * C, *d_position = d_wpe + (size_t)t * C;
      for (int i = 0; i < C; i++) {
        d_token[i] += d[i];
        d_position[i] += d[i];
      }
    }
}

// out (rows,C) = each row of in (rows,C) with mean 0 and variance 1, times weight (C) plus bias (C).
// Keeps the mean and the reciprocal standard deviation of each row.
static void layer_norm(real *restrict out, real *restrict mean, real *restrict rstd,
                       const real *restrict in, const real *restrict weight,
                       const real *restrict bias, int rows, int C) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    const real *x = in + (size_t)row * C;
    real *y = out + (size_t)row * C;
    real sum = 0;
    for (int i = 0; i < C; i++) sum += x[i];
    real m = sum / C;
    real squares = 0;
    for (int i = 0; i < C; i++) squares += (x[i] - m) * (x[i] - m);
    real r = 1 / sqrt(squares / C + (real)1e-5);
    for (int i = 0; i < C; i++) y[i] = (x[i] - m) * r * weight[i] + bias[i];
    mean[row] = m;
    rstd[row] = r;
  }
}

static void layer_norm_backward(real *restrict d_in, real *restrict d_weight,
                                real *restrict d_bias, const real *restrict d_out,
                                const real *restrict in, const real *restrict weight,
                                const real *restrict mean, const real *restrict rstd, int rows,
                                int C) {
  for (int row = 0; row < rows; row++) {
    const real *x = in + (size_t)row * C, *dy = d_out + (size_t)row * C;
    real *dx = d_in + (size_t)row * C, m = mean[row], r = rstd[row];
    real sum = 0, moment = 0;
    for (int i = 0; i < C; i++) {
      real normal = (x[i] - m) * r, d = weight[i] * dy[i];
      sum += d;
      moment += d * normal;
      d_bias[i] += dy[i];
      d_weight[i] += normal * dy[i];
    }
    sum /= C;
    moment /= C;
    for (int i = 0; i < C; i++) {
      real normal = (x[i] - m) * r;
      dx[i] += (weight[i] * dy[i] - sum - normal * moment) * r;
    }
  }
}

// out (rows,OC) = in (rows,C) times the transpose of weight (OC,C), plus bias (OC) if there is one.
static void matmul_naive(real *restrict out, const real *restrict in, const real *restrict weight,
                         const real *restrict bias, int rows, int C, int OC) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    const real *x = in + (size_t)row * C;
    for (int o = 0; o < OC; o++) {
      const real *w = weight + (size_t)o * C;
      real sum = bias ? bias[o] : 0;
      for (int i = 0; i < C; i++) sum += x[i] * w[i];
      out[(size_t)row * OC + o] = sum;
    }
  }
}

// The same, eight rows at a time if they are a multiple of that: each weight that is read is used for
// all eight.
static void matmul(real *restrict out, const real *restrict in, const real *restrict weight,
                   const real *restrict bias, int rows, int C, int OC) {
  if (rows % BLOCK != 0) {
    matmul_naive(out, in, weight, bias, rows, C, OC);
    return;
  }
#pragma omp parallel for
  for (int row = 0; row < rows; row += BLOCK) {
    const real *x = in + (size_t)row * C;
    for (int o = 0; o < OC; o++) {
      const real *w = weight + (size_t)o * C;
      real sums[BLOCK];
      for (int k = 0; k < BLOCK; k++) sums[k] = bias ? bias[o] : 0;
      for (int i = 0; i < C; i++)
        for (int k = 0; k < BLOCK; k++) sums[k] += x[(size_t)k * C + i] * w[i];
      for (int k = 0; k < BLOCK; k++) out[(size_t)(row + k) * OC + o] = sums[k];
    }
  }
}

// to (n) += the sum of `count` rows of from, which are n numbers long and follow each other, each
// times a factor; the factors are `stride` apart. Eight rows at once are one pass over `to`.
static inline void add_rows(real *restrict to, const real *restrict from,
                            const real *restrict factors, size_t stride, int count, int n) {
  if (count == BLOCK) {
    real f[BLOCK];
    for (int k = 0; k < BLOCK; k++) f[k] = factors[k * stride];
    for (int i = 0; i < n; i++) {
      real sum = 0;
      for (int k = 0; k < BLOCK; k++) sum += f[k] * from[(size_t)k * n + i];
      to[i] += sum;
    }
    return;
  }
  for (int k = 0; k < count; k++)
    for (int i = 0; i < n; i++) to[i] += factors[k * stride] * from[(size_t)k * n + i];
}

static inline int smaller(int a, int b) { return a < b ? a : b; }

#ifdef PLAIN
// Two nests, one for each product, as one writes them down: a row is added to while it stays in the
// cache.
static void matmul_backward(real *restrict d_in, real *restrict d_weight, real *restrict d_bias,
                            const real *restrict d_out, const real *restrict in,
                            const real *restrict weight, int rows, int C, int OC) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++)
    for (int o = 0; o < OC; o++) {
      real d = d_out[(size_t)row * OC + o];
      for (int i = 0; i < C; i++) d_in[(size_t)row * C + i] += weight[(size_t)o * C + i] * d;
    }
#pragma omp parallel for
  for (int o = 0; o < OC; o++)
    for (int row = 0; row < rows; row++) {
      real d = d_out[(size_t)row * OC + o];
      if (d_bias) d_bias[o] += d;
      for (int i = 0; i < C; i++) d_weight[(size_t)o * C + i] += in[(size_t)row * C + i] * d;
    }
}
#else
// Two nests, one for each product, in tiles of eight by eight so that a row which is read is used
// eight times and a row which is added to is written once for eight.
static void matmul_backward(real *restrict d_in, real *restrict d_weight, real *restrict d_bias,
                            const real *restrict d_out, const real *restrict in,
                            const real *restrict weight, int rows, int C, int OC) {
#pragma omp parallel for
  for (int first = 0; first < rows; first += BLOCK)
    for (int o = 0; o < OC; o += BLOCK)
      for (int row = first; row < smaller(first + BLOCK, rows); row++)
        add_rows(d_in + (size_t)row * C, weight + (size_t)o * C, d_out + (size_t)row * OC + o, 1,
                 smaller(BLOCK, OC - o), C);
#pragma omp parallel for
  for (int first = 0; first < OC; first += BLOCK)
    for (int row = 0; row < rows; row += BLOCK)
      for (int o = first; o < smaller(first + BLOCK, OC); o++)
        add_rows(d_weight + (size_t)o * C, in + (size_t)row * C, d_out + (size_t)row * OC + o, OC,
                 smaller(BLOCK, rows - row), C);
  if (d_bias)
    for (int row = 0; row < rows; row++)
      for (int o = 0; o < OC; o++) d_bias[o] += d_out[(size_t)row * OC + o];
}
#endif

// Causal attention with NH heads of `size` channels, C together. qkv (B,T,3C) has query, key and value of each position; scores
// and weights (B,NH,T,T) are written where the second position is not after the first; out (B,T,C).
static void attention(real *restrict out, real *restrict scores, real *restrict weights,
                      const real *restrict qkv, int B, int T, int NH, int size) {
  size_t C = (size_t)NH * size;
  real scale = 1 / sqrt((real)size);
#pragma omp parallel for collapse(2)
  for (int b = 0; b < B; b++)
    for (int h = 0; h < NH; h++)
      for (int t = 0; t < T; t++) {
        const real *query = qkv + ((size_t)b * T + t) * 3 * C + (size_t)h * size;
        const real *keys = qkv + (size_t)b * T * 3 * C + C + (size_t)h * size;
        const real *values = keys + C;
        real *score = scores + (((size_t)b * NH + h) * T + t) * T;
        real *weight = weights + (((size_t)b * NH + h) * T + t) * T;
        real *y = out + ((size_t)b * T + t) * C + (size_t)h * size;

        for (int u = 0; u <= t; u++) {
          const real *key = keys + (size_t)u * 3 * C;
          real sum = 0;
          for (int i = 0; i < size; i++) sum += query[i] * key[i];
          score[u] = sum * scale;
        }
        real most = score[0];
        for (int u = 1; u <= t; u++)
          if (score[u] > most) most = score[u];
        real total = 0;
        for (int u = 0; u <= t; u++) {
          weight[u] = exp(score[u] - most);
          total += weight[u];
        }
        for (int u = 0; u <= t; u++) weight[u] /= total;

        for (int i = 0; i < size; i++) y[i] = 0;
        for (int u = 0; u <= t; u++) {
          const real *value = values + (size_t)u * 3 * C;
          for (int i = 0; i < size; i++) y[i] += weight[u] * value[i];
        }
      }
}

// Needs of the forward pass only the weights; d_weights (B,NH,T) is room for one row of each head.
static void attention_backward(real *restrict d_qkv, real *restrict d_weights,
                               const real *restrict d_out, const real *restrict qkv,
                               const real *restrict weights, int B, int T, int NH,
                               int size) {
  size_t C = (size_t)NH * size;
  real scale = 1 / sqrt((real)size);
#pragma omp parallel for collapse(2)
  for (int b = 0; b < B; b++)
    for (int h = 0; h < NH; h++)
      for (int t = 0; t < T; t++) {
        size_t at_query = ((size_t)b * T + t) * 3 * C + (size_t)h * size;
        size_t at_keys = (size_t)b * T * 3 * C + C + (size_t)h * size;
        const real *query = qkv + at_query, *keys = qkv + at_keys, *values = keys + C;
        real *d_query = d_qkv + at_query, *d_keys = d_qkv + at_keys, *d_values = d_keys + C;
        const real *weight = weights + (((size_t)b * NH + h) * T + t) * T;
        real *d_weight = d_weights + ((size_t)b * NH + h) * T;
        const real *dy = d_out + ((size_t)b * T + t) * C + (size_t)h * size;

        real total = 0;
        for (int u = 0; u <= t; u++) {
          const real *value = values + (size_t)u * 3 * C;
          real *d_value = d_values + (size_t)u * 3 * C;
          real sum = 0;
          for (int i = 0; i < size; i++) {
            sum += value[i] * dy[i];
            d_value[i] += weight[u] * dy[i];
          }
          d_weight[u] = sum;
          total += weight[u] * sum;
        }
        for (int u = 0; u <= t; u++) {
          const real *key = keys + (size_t)u * 3 * C;
          real *d_key = d_keys + (size_t)u * 3 * C;
          real d_score = weight[u] * (d_weight[u] - total) * scale;
          // Two loops, because both write to d_qkv.
          for (int i = 0; i < size; i++) d_query[i] += d_score * key[i];
          for (int i = 0; i < size; i++) d_key[i] += d_score * query[i];
        }
      }
}

// The form of GELU with the hyperbolic tangent; the factor is the square root of 2/pi.
#define GELU_FACTOR ((real)0.79788456080286535588)
#define GELU_CUBIC ((real)0.044715)

static void gelu(real *restrict out, const real *restrict in, size_t n) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) {
    real x = in[i];
    out[i] = (real)0.5 * x * (1 + tanh(GELU_FACTOR * (x + GELU_CUBIC * x * x * x)));
  }
}

static inline real gelu_slope(real x) {
  real bend = tanh(GELU_FACTOR * (x + GELU_CUBIC * x * x * x));
  real inner = GELU_FACTOR * (1 + 3 * GELU_CUBIC * x * x);
  return (real)0.5 * (1 + bend) + (real)0.5 * x * (1 - bend * bend) * inner;
}

static void gelu_backward(real *restrict d_in, const real *restrict d_out,
                          const real *restrict in, size_t n) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) d_in[i] += gelu_slope(in[i]) * d_out[i];
}

// d (n) is the gradient of the output before and that of the input after.
static void gelu_backward_in_place(real *restrict d, const real *restrict in, size_t n) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) d[i] *= gelu_slope(in[i]);
}

static void residual(real *restrict out, const real *restrict a, const real *restrict b, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = a[i] + b[i];
}

#ifndef WITHOUT_ZYMASE
static void residual_backward(real *restrict d_a, real *restrict d_b, const real *restrict d_out,
                              size_t n) {
  for (size_t i = 0; i < n; i++) {
    d_a[i] += d_out[i];
    d_b[i] += d_out[i];
  }
}
#endif

// The largest of n numbers. It is subtracted from exponents so that none is too large, and what is
// computed of them does not depend on it, so it has no derivative.
static real largest(const real *x, int n) {
  real most = x[0];
  for (int i = 1; i < n; i++)
    if (x[i] > most) most = x[i];
  return most;
}
void *__enzyme_inactivefn_largest = (void *)largest;

// exponentials (rows,Vp) of the first V columns of logits (rows,Vp), the others stay as they are;
// losses (rows) = minus the logarithm of the part that the target has in their sum.
static void cross_entropy(real *restrict losses, real *restrict exponentials,
                          const real *restrict logits, const int *restrict targets, int rows, int V,
                          int Vp) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    const real *x = logits + (size_t)row * Vp;
    real *e = exponentials + (size_t)row * Vp;
    real most = largest(x, V), total = 0;
    for (int i = 0; i < V; i++) {
      e[i] = exp(x[i] - most);
      total += e[i];
    }
    losses[row] = log(total) + most - x[targets[row]];
  }
}

// d_losses is one number for all rows, because the loss of the model is a mean.
static void cross_entropy_backward(real *restrict d_logits, real d_losses,
                                   const real *restrict exponentials,
                                   const int *restrict targets, int rows, int V, int Vp) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    real *d = d_logits + (size_t)row * Vp;
    const real *e = exponentials + (size_t)row * Vp;
    real total = 0;
    for (int i = 0; i < V; i++) total += e[i];
    real scale = d_losses / total;
    for (int i = 0; i < V; i++) d[i] += e[i] * scale;
    d[targets[row]] -= d_losses;
  }
}

// The same, for a d_logits that held something else.
static void cross_entropy_backward_fresh(real *restrict d_logits, real d_losses,
                                         const real *restrict exponentials,
                                         const int *restrict targets, int rows, int V, int Vp) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    real *d = d_logits + (size_t)row * Vp;
    const real *e = exponentials + (size_t)row * Vp;
    real total = 0;
    for (int i = 0; i < V; i++) total += e[i];
    real scale = d_losses / total;
    for (int i = 0; i < V; i++) d[i] = e[i] * scale;
    for (int i = V; i < Vp; i++) d[i] = 0;
    d[targets[row]] -= d_losses;
  }
}

// ------------------------------------------------------------------------------------------------
// The model. All parameters are one array, and all activations another.

struct shape {
  int layers, heads, channels, positions, vocabulary, padded_vocabulary;
};

#ifdef TINY
// So that a test can run the measurements in no time; names and shapes that are printed stay the same.
static const struct shape GPT2_124M = {2, 2, 32, 64, 100, 112};
#else
static const struct shape GPT2_124M = {12, 12, 768, 1024, 50257, 50304};
#endif

enum { TENSORS = 16 };
static const char *const tensor_names[TENSORS] = {
    "wte",  "wpe",  "ln1w", "ln1b", "qkvw",    "qkvb",    "attprojw", "attprojb",
    "ln2w", "ln2b", "fcw",  "fcb",  "fcprojw", "fcprojb", "lnfw",     "lnfb"};

// Where each parameter tensor begins, in the order of the array; `end` is where the last one ends.
struct parameters {
  real *wte, *wpe, *ln1w, *ln1b, *qkvw, *qkvb, *attprojw, *attprojb, *ln2w, *ln2b, *fcw, *fcb,
      *fcprojw, *fcprojb, *lnfw, *lnfb, *end;
};

static struct parameters locate_parameters(const struct shape *s, real *start) {
  size_t L = s->layers, C = s->channels;
  struct parameters p;
  p.wte = start;
  p.wpe = p.wte + s->padded_vocabulary * C;
  p.ln1w = p.wpe + s->positions * C;
  p.ln1b = p.ln1w + L * C;
  p.qkvw = p.ln1b + L * C;
  p.qkvb = p.qkvw + L * 3 * C * C;
  p.attprojw = p.qkvb + L * 3 * C;
  p.attprojb = p.attprojw + L * C * C;
  p.ln2w = p.attprojb + L * C;
  p.ln2b = p.ln2w + L * C;
  p.fcw = p.ln2b + L * C;
  p.fcb = p.fcw + L * 4 * C * C;
  p.fcprojw = p.fcb + L * 4 * C;
  p.fcprojb = p.fcprojw + L * C * 4 * C;
  p.lnfw = p.fcprojb + L * C;
  p.lnfb = p.lnfw + C;
  p.end = p.lnfb + C;
  return p;
}

// Where the activations begin. Those before `lnf` have one part per layer; the residual stream has one
// more, which is what the first layer reads.
struct activations {
  real *stream, *ln1, *ln1_mean, *ln1_rstd, *qkv, *scores, *weights, *attended, *projected, *middle,
      *ln2, *ln2_mean, *ln2_rstd, *fc, *fc_gelu, *fcproj, *lnf, *lnf_mean, *lnf_rstd, *logits,
      *exponentials, *losses, *end;
};

static struct activations locate_activations(const struct shape *s, real *start, int B, int T) {
  size_t L = s->layers, C = s->channels, rows = (size_t)B * T, pairs = rows * T * s->heads;
  struct activations a;
  a.stream = start;
  a.ln1 = a.stream + (L + 1) * rows * C;
  a.ln1_mean = a.ln1 + L * rows * C;
  a.ln1_rstd = a.ln1_mean + L * rows;
  a.qkv = a.ln1_rstd + L * rows;
  a.scores = a.qkv + L * rows * 3 * C;
  a.weights = a.scores + L * pairs;
  a.attended = a.weights + L * pairs;
  a.projected = a.attended + L * rows * C;
  a.middle = a.projected + L * rows * C;
  a.ln2 = a.middle + L * rows * C;
  a.ln2_mean = a.ln2 + L * rows * C;
  a.ln2_rstd = a.ln2_mean + L * rows;
  a.fc = a.ln2_rstd + L * rows;
  a.fc_gelu = a.fc + L * rows * 4 * C;
  a.fcproj = a.fc_gelu + L * rows * 4 * C;
  a.lnf = a.fcproj + L * rows * C;
  a.lnf_mean = a.lnf + rows * C;
  a.lnf_rstd = a.lnf_mean + rows;
  a.logits = a.lnf_rstd + rows;
  a.exponentials = a.logits + rows * s->padded_vocabulary;
  a.losses = a.exponentials + rows * s->padded_vocabulary;
  a.end = a.losses + rows;
  return a;
}

// The mean loss of B sequences of T tokens, with all activations left in one array: the backward pass
// by hand reads them.
static real model_loss_in_array(const struct shape *s, real *parameters, real *activations,
                                const int *tokens, const int *targets, int B, int T) {
  struct parameters p = locate_parameters(s, parameters);
  struct activations a = locate_activations(s, activations, B, T);
  int L = s->layers, C = s->channels, NH = s->heads, head = C / NH, rows = B * T;
  int V = s->vocabulary, Vp = s->padded_vocabulary;
  size_t size = (size_t)rows * C, wide = 4 * size, pairs = (size_t)rows * T * NH;

  encoder(a.stream, tokens, p.wte, p.wpe, B, T, C);
  for (int l = 0; l < L; l++) {
    real *stream = a.stream + l * size, *next = stream + size;
    real *ln1 = a.ln1 + l * size, *qkv = a.qkv + l * 3 * size, *attended = a.attended + l * size;
    real *projected = a.projected + l * size, *middle = a.middle + l * size;
    real *ln2 = a.ln2 + l * size, *fc = a.fc + l * wide, *fc_gelu = a.fc_gelu + l * wide;
    real *fcproj = a.fcproj + l * size;

    layer_norm(ln1, a.ln1_mean + (size_t)l * rows, a.ln1_rstd + (size_t)l * rows, stream, p.ln1w + (size_t)l * C,
               p.ln1b + (size_t)l * C, rows, C);
    matmul(qkv, ln1, p.qkvw + (size_t)l * 3 * C * C, p.qkvb + (size_t)l * 3 * C, rows, C, 3 * C);
    attention(attended, a.scores + l * pairs, a.weights + l * pairs, qkv, B, T, NH, head);
    matmul(projected, attended, p.attprojw + (size_t)l * C * C, p.attprojb + (size_t)l * C, rows, C, C);
    residual(middle, stream, projected, size);
    layer_norm(ln2, a.ln2_mean + (size_t)l * rows, a.ln2_rstd + (size_t)l * rows, middle, p.ln2w + (size_t)l * C,
               p.ln2b + (size_t)l * C, rows, C);
    matmul(fc, ln2, p.fcw + (size_t)l * 4 * C * C, p.fcb + (size_t)l * 4 * C, rows, C, 4 * C);
    gelu(fc_gelu, fc, wide);
    matmul(fcproj, fc_gelu, p.fcprojw + (size_t)l * 4 * C * C, p.fcprojb + (size_t)l * C, rows, 4 * C, C);
    residual(next, middle, fcproj, size);
  }
  layer_norm(a.lnf, a.lnf_mean, a.lnf_rstd, a.stream + L * size, p.lnfw, p.lnfb, rows, C);
  matmul(a.logits, a.lnf, p.wte, NULL, rows, C, Vp);
  cross_entropy(a.losses, a.exponentials, a.logits, targets, rows, V, Vp);

  real sum = 0;
  for (int row = 0; row < rows; row++) sum += a.losses[row];
  return sum / rows;
}

// Memory for so many numbers: zeroed, so that nothing depends on what it held before.
static real *take(size_t count) {
  real *memory = calloc(count ? count : 1, sizeof(real));
  if (!memory) {
    fprintf(stderr, "gpt2: there is no memory for %zu numbers\n", count);
    exit(1);
  }
  return memory;
}

// The same loss, as somebody writes it who need not think of a backward pass: memory is given back when
// it is not needed any more. What the gradient needs of it, the compiler keeps.
static real model_loss(const struct shape *s, real *parameters, const int *tokens,
                       const int *targets, int B, int T) {
  struct parameters p = locate_parameters(s, parameters);
  int L = s->layers, C = s->channels, NH = s->heads, head = C / NH, rows = B * T;
  int V = s->vocabulary, Vp = s->padded_vocabulary;
  size_t size = (size_t)rows * C, wide = 4 * size, pairs = (size_t)rows * T * NH;

  real *stream = take(size);
  encoder(stream, tokens, p.wte, p.wpe, B, T, C);
  for (int l = 0; l < L; l++) {
    real *mean = take(rows), *rstd = take(rows), *ln1 = take(size), *qkv = take(3 * size);
    layer_norm(ln1, mean, rstd, stream, p.ln1w + (size_t)l * C, p.ln1b + (size_t)l * C, rows, C);
    matmul(qkv, ln1, p.qkvw + (size_t)l * 3 * C * C, p.qkvb + (size_t)l * 3 * C, rows, C, 3 * C);
    real *scores = take(pairs), *weights = take(pairs), *attended = take(size);
    attention(attended, scores, weights, qkv, B, T, NH, head);
    real *projected = take(size), *middle = take(size);
    matmul(projected, attended, p.attprojw + (size_t)l * C * C, p.attprojb + (size_t)l * C, rows, C,
           C);
    residual(middle, stream, projected, size);
    real *mean2 = take(rows), *rstd2 = take(rows), *ln2 = take(size), *fc = take(wide);
    layer_norm(ln2, mean2, rstd2, middle, p.ln2w + (size_t)l * C, p.ln2b + (size_t)l * C, rows, C);
    matmul(fc, ln2, p.fcw + (size_t)l * 4 * C * C, p.fcb + (size_t)l * 4 * C, rows, C, 4 * C);
    real *fc_gelu = take(wide), *fcproj = take(size), *next = take(size);
    gelu(fc_gelu, fc, wide);
    matmul(fcproj, fc_gelu, p.fcprojw + (size_t)l * 4 * C * C, p.fcprojb + (size_t)l * C, rows, 4 * C,
           C);
    residual(next, middle, fcproj, size);
    free(mean), free(rstd), free(ln1), free(qkv), free(scores), free(weights), free(attended);
    free(projected), free(middle), free(mean2), free(rstd2), free(ln2), free(fc), free(fc_gelu);
    free(fcproj), free(stream);
    stream = next;
  }
  real *mean = take(rows), *rstd = take(rows), *normed = take(size);
  layer_norm(normed, mean, rstd, stream, p.lnfw, p.lnfb, rows, C);
  real *logits = take((size_t)rows * Vp);
  matmul(logits, normed, p.wte, NULL, rows, C, Vp);
  real *exponentials = take(Vp), sum = 0;
  for (int row = 0; row < rows; row++) {
    real loss;
    cross_entropy(&loss, exponentials, logits + (size_t)row * Vp, targets + row, 1, V, Vp);
    sum += loss;
  }
  free(exponentials), free(logits), free(mean), free(rstd), free(normed), free(stream);
  return sum / rows;
}

// How many numbers the backward pass by hand needs room for.
static size_t scratch_size(const struct shape *s, int B, int T) {
  size_t rows = (size_t)B * T;
  return rows * s->channels * (1 + 1 + 4) + rows * s->heads;
}

// Adds the gradient of the loss, whose activations `model_loss_in_array` left, to `gradients`.
//
// The gradient of the residual stream stays in one place from the end to the beginning: a layer
// adds its part to it. Two more buffers hold the gradients within a layer. The logits are not needed
// any more, so their gradient takes their place.
static void model_backward(const struct shape *s, real *parameters, real *gradients,
                           real *activations, real *scratch, const int *tokens, const int *targets,
                           int B, int T) {
  struct parameters p = locate_parameters(s, parameters), d = locate_parameters(s, gradients);
  struct activations a = locate_activations(s, activations, B, T);
  int C = s->channels, NH = s->heads, V = s->vocabulary, Vp = s->padded_vocabulary, rows = B * T;
  size_t size = (size_t)rows * C, pairs = (size_t)rows * T * NH, bytes = size * sizeof(real);
  real *d_stream = scratch, *d_narrow = d_stream + size, *d_wide = d_narrow + size;
  real *d_weights = d_wide + 4 * size, *d_logits = a.logits;

  cross_entropy_backward_fresh(d_logits, (real)1 / rows, a.exponentials, targets, rows, V, Vp);
  memset(d_narrow, 0, bytes);
  matmul_backward(d_narrow, d.wte, NULL, d_logits, a.lnf, p.wte, rows, C, Vp);
  memset(d_stream, 0, bytes);
  layer_norm_backward(d_stream, d.lnfw, d.lnfb, d_narrow, a.stream + s->layers * size, p.lnfw,
                      a.lnf_mean, a.lnf_rstd, rows, C);
  for (size_t l = s->layers; l-- > 0;) {
    memset(d_wide, 0, 4 * bytes);
    matmul_backward(d_wide, d.fcprojw + l * 4 * C * C, d.fcprojb + l * C, d_stream,
                    a.fc_gelu + l * 4 * size, p.fcprojw + l * 4 * C * C, rows, 4 * C, C);
    gelu_backward_in_place(d_wide, a.fc + l * 4 * size, 4 * size);
    memset(d_narrow, 0, bytes);
    matmul_backward(d_narrow, d.fcw + l * 4 * C * C, d.fcb + l * 4 * C, d_wide, a.ln2 + l * size,
                    p.fcw + l * 4 * C * C, rows, C, 4 * C);
    layer_norm_backward(d_stream, d.ln2w + l * C, d.ln2b + l * C, d_narrow, a.middle + l * size,
                        p.ln2w + l * C, a.ln2_mean + l * rows, a.ln2_rstd + l * rows, rows, C);
    memset(d_narrow, 0, bytes);
    matmul_backward(d_narrow, d.attprojw + l * C * C, d.attprojb + l * C, d_stream,
                    a.attended + l * size, p.attprojw + l * C * C, rows, C, C);
    memset(d_wide, 0, 3 * bytes);
    attention_backward(d_wide, d_weights, d_narrow, a.qkv + l * 3 * size, a.weights + l * pairs, B,
                       T, NH, C / NH);
    memset(d_narrow, 0, bytes);
    matmul_backward(d_narrow, d.qkvw + l * 3 * C * C, d.qkvb + l * 3 * C, d_wide, a.ln1 + l * size,
                    p.qkvw + l * 3 * C * C, rows, C, 3 * C);
    layer_norm_backward(d_stream, d.ln1w + l * C, d.ln1b + l * C, d_narrow, a.stream + l * size,
                        p.ln1w + l * C, a.ln1_mean + l * rows, a.ln1_rstd + l * rows, rows, C);
  }
  encoder_backward(d.wte, d.wpe, d_stream, tokens, B, T, C);
}

// ------------------------------------------------------------------------------------------------
// The synthesized gradients: one request for the model, and one for each layer.

#ifndef WITHOUT_ZYMASE
// Adds the gradient of the loss to `gradients` and returns the loss.
static real model_gradient(const struct shape *s, real *parameters, real *gradients,
                           const int *tokens, const int *targets, int B, int T) {
  return __enzyme_autodiff_real((void *)model_loss, enzyme_primal_return, enzyme_const, s,
                                enzyme_dup, parameters, gradients, enzyme_const, tokens,
                                enzyme_const, targets, enzyme_const, B, enzyme_const, T);
}

// The same for the model whose activations are one array. Their gradients must be zero, and are zero
// again afterwards, because the model writes all of its activations that it reads.
static real model_gradient_in_array(const struct shape *s, real *parameters, real *gradients,
                                    real *activations, real *activation_gradients,
                                    const int *tokens, const int *targets, int B, int T) {
  return __enzyme_autodiff_real((void *)model_loss_in_array, enzyme_primal_return, enzyme_const, s,
                                enzyme_dup, parameters, gradients, enzyme_dup, activations,
                                activation_gradients, enzyme_const, tokens, enzyme_const, targets,
                                enzyme_const, B, enzyme_const, T);
}

// Each of these runs its layer and then adds the gradients; d_out is zero afterwards, as are the
// gradients of whatever else the layer writes.
static void encoder_gradient(real *out, real *d_out, const int *tokens, const real *wte,
                             real *d_wte, const real *wpe, real *d_wpe, int B, int T, int C) {
  __enzyme_autodiff_void((void *)encoder, enzyme_dup, out, d_out, enzyme_const, tokens, enzyme_dup,
                         wte, d_wte, enzyme_dup, wpe, d_wpe, enzyme_const, B, enzyme_const, T,
                         enzyme_const, C);
}

static void layer_norm_gradient(real *out, real *d_out, real *mean, real *d_mean, real *rstd,
                                real *d_rstd, const real *in, real *d_in, const real *weight,
                                real *d_weight, const real *bias, real *d_bias, int rows, int C) {
  __enzyme_autodiff_void((void *)layer_norm, enzyme_dup, out, d_out, enzyme_dup, mean, d_mean,
                         enzyme_dup, rstd, d_rstd, enzyme_dup, in, d_in, enzyme_dup, weight,
                         d_weight, enzyme_dup, bias, d_bias, enzyme_const, rows, enzyme_const, C);
}

static void matmul_naive_gradient(real *out, real *d_out, const real *in, real *d_in,
                                  const real *weight, real *d_weight, const real *bias,
                                  real *d_bias, int rows, int C, int OC) {
  __enzyme_autodiff_void((void *)matmul_naive, enzyme_dup, out, d_out, enzyme_dup, in, d_in,
                         enzyme_dup, weight, d_weight, enzyme_dup, bias, d_bias, enzyme_const, rows,
                         enzyme_const, C, enzyme_const, OC);
}

static void matmul_gradient(real *out, real *d_out, const real *in, real *d_in, const real *weight,
                            real *d_weight, const real *bias, real *d_bias, int rows, int C,
                            int OC) {
  __enzyme_autodiff_void((void *)matmul, enzyme_dup, out, d_out, enzyme_dup, in, d_in, enzyme_dup,
                         weight, d_weight, enzyme_dup, bias, d_bias, enzyme_const, rows,
                         enzyme_const, C, enzyme_const, OC);
}

static void attention_gradient(real *out, real *d_out, real *scores, real *d_scores, real *weights,
                               real *d_weights, const real *qkv, real *d_qkv, int B, int T, int NH,
                               int size) {
  __enzyme_autodiff_void((void *)attention, enzyme_dup, out, d_out, enzyme_dup, scores, d_scores,
                         enzyme_dup, weights, d_weights, enzyme_dup, qkv, d_qkv, enzyme_const, B,
                         enzyme_const, T, enzyme_const, NH, enzyme_const, size);
}

static void gelu_gradient(real *out, real *d_out, const real *in, real *d_in, size_t n) {
  __enzyme_autodiff_void((void *)gelu, enzyme_dup, out, d_out, enzyme_dup, in, d_in, enzyme_const,
                         n);
}

static void residual_gradient(real *out, real *d_out, const real *a, real *d_a, const real *b,
                              real *d_b, size_t n) {
  __enzyme_autodiff_void((void *)residual, enzyme_dup, out, d_out, enzyme_dup, a, d_a, enzyme_dup,
                         b, d_b, enzyme_const, n);
}

static void cross_entropy_gradient(real *losses, real *d_losses, real *exponentials,
                                   real *d_exponentials, const real *logits, real *d_logits,
                                   const int *targets, int rows, int V, int Vp) {
  __enzyme_autodiff_void((void *)cross_entropy, enzyme_dup, losses, d_losses, enzyme_dup,
                         exponentials, d_exponentials, enzyme_dup, logits, d_logits, enzyme_const,
                         targets, enzyme_const, rows, enzyme_const, V, enzyme_const, Vp);
}
#endif

// ------------------------------------------------------------------------------------------------
// A model in memory, and its training.

__attribute__((noreturn)) static void fail(const char *message) {
  fprintf(stderr, "gpt2: %s\n", message);
  exit(1);
}

// What others may read, for all that the compiler knows: otherwise it leaves out of a measurement
// what nobody reads afterwards.
static void *volatile seen;

static real *allocate(size_t count) {
  real *memory = take(count);
  seen = memory;
  return memory;
}

// The synthesized gradient is that of the model with memory of its own, or of the one whose
// activations are in one array.
enum method { BY_HAND, SYNTHESIZED, SYNTHESIZED_IN_ARRAY, METHODS };
static const char *const method_names[METHODS] = {"hand", "synthesized", "synthesized in one array"};
#ifdef WITHOUT_ZYMASE
static const enum method best_method = BY_HAND;
#else
static const enum method best_method = SYNTHESIZED;
#endif

struct model {
  struct shape shape;
  int B, T, steps;
  size_t parameter_count, activation_count;
  real *parameters, *gradients, *activations;
  // The moments of AdamW.
  real *first, *second;
  // For the gradient by hand, and for the synthesized one in one array; null where it is not used.
  real *scratch, *activation_gradients;
};

// Refuses shapes that make no model, before anything is computed from them.
static void check_shape(const struct shape *s, int B, int T) {
  if (s->layers < 0 || s->heads < 1 || s->channels < 1 || s->positions < 1 || s->vocabulary < 1 ||
      B < 1 || T < 1)
    fail("every part of a shape must be at least 1, the number of layers at least 0");
  if (s->channels % s->heads != 0) {
    fprintf(stderr, "gpt2: %d channels do not divide by %d heads\n", s->channels, s->heads);
    exit(1);
  }
  if (s->padded_vocabulary < s->vocabulary) {
    fprintf(stderr, "gpt2: a vocabulary of %d does not fit into a padded one of %d\n",
            s->vocabulary, s->padded_vocabulary);
    exit(1);
  }
  if (T > s->positions) {
    fprintf(stderr, "gpt2: sequences of %d tokens are longer than the %d positions of the model\n",
            T, s->positions);
    exit(1);
  }
  // Sizes of memory are counted in size_t and rows in int; these are far below where either ends.
  double C = s->channels, rows = (double)B * T, limit = (double)(SIZE_MAX / 64);
  double parameters = C * ((double)s->padded_vocabulary + s->positions + s->layers * (12 * C + 13));
  double activations = rows * (C * (2 + 18.0 * s->layers) + 2.0 * s->layers * s->heads * T +
                               2.0 * s->padded_vocabulary);
  if (parameters > limit || activations > limit || rows > INT_MAX / 16 || C > INT_MAX / 16)
    fail("the shape is too large");
}

// All methods have their memory in a model with `all`, otherwise only the one that is asked for.
static struct model make_model(struct shape shape, int B, int T, enum method method, int all) {
  check_shape(&shape, B, T);
  struct model m = {.shape = shape, .B = B, .T = T};
  // The distance from a null pointer is no number in C, so sizes come from a place of their own.
  static real start[1];
  m.parameter_count =
      ((size_t)locate_parameters(&shape, start).end - (size_t)start) / sizeof(real);
  m.activation_count =
      ((size_t)locate_activations(&shape, start, B, T).end - (size_t)start) / sizeof(real);
  m.parameters = allocate(m.parameter_count);
  m.gradients = allocate(m.parameter_count);
  if (all || method != SYNTHESIZED) m.activations = allocate(m.activation_count);
  m.first = allocate(m.parameter_count);
  m.second = allocate(m.parameter_count);
  if (all || method == BY_HAND) m.scratch = allocate(scratch_size(&shape, B, T));
  if (all || method == SYNTHESIZED_IN_ARRAY)
    m.activation_gradients = allocate(m.activation_count);
  return m;
}

static void free_model(struct model *m) {
  free(m->parameters), free(m->gradients), free(m->activations);
  free(m->first), free(m->second), free(m->scratch), free(m->activation_gradients);
}

static unsigned long long random_state;

// A number from 0 to 1.
static double uniform(void) {
  random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
  return (double)(random_state >> 11) * 0x1p-53;
}

static void fill(real *x, size_t n, double scale, double offset) {
  for (size_t i = 0; i < n; i++) x[i] = (real)((2 * uniform() - 1) * scale + offset);
}

static real *random_numbers(size_t n) {
  real *x = allocate(n);
  fill(x, n, 1, 0);
  return x;
}

static int *random_tokens(int n, int vocabulary) {
  int *tokens = malloc(n * sizeof *tokens);
  if (!tokens) fail("there is no memory for tokens");
  for (int i = 0; i < n; i++) tokens[i] = (int)(uniform() * vocabulary);
  return tokens;
}

// The numbers of a tensor, and where it begins.
static size_t tensor(const struct model *m, int index, real *arena, real **start) {
  struct parameters p = locate_parameters(&m->shape, arena);
  real *starts[TENSORS + 1] = {p.wte,  p.wpe,  p.ln1w, p.ln1b, p.qkvw,    p.qkvb,
                               p.attprojw, p.attprojb, p.ln2w, p.ln2b, p.fcw, p.fcb,
                               p.fcprojw, p.fcprojb, p.lnfw, p.lnfb, p.end};
  *start = starts[index];
  return (size_t)(starts[index + 1] - starts[index]);
}

static int is_named(int index, const char *end) {
  size_t length = strlen(tensor_names[index]), tail = strlen(end);
  return length >= tail && strcmp(tensor_names[index] + length - tail, end) == 0;
}

// As GPT-2 begins: small weights, smaller where they lead into the residual stream.
static void initialize(struct model *m) {
  for (int index = 0; index < TENSORS; index++) {
    real *start;
    size_t n = tensor(m, index, m->parameters, &start);
    int is_norm = strncmp(tensor_names[index], "ln", 2) == 0;
    double scale = 0.02 * sqrt(3.0);
    if (is_named(index, "projw")) scale /= sqrt(2.0 * (m->shape.layers ? m->shape.layers : 1));
    if (is_norm || is_named(index, "b")) scale = 0;
    fill(start, n, scale, is_norm && is_named(index, "w") ? 1 : 0);
  }
}

// Every parameter is of use, so that an error in any gradient shows.
static void initialize_for_check(struct model *m) {
  for (int index = 0; index < TENSORS; index++) {
    real *start;
    size_t n = tensor(m, index, m->parameters, &start);
    fill(start, n, 0.5, strncmp(tensor_names[index], "ln", 2) == 0 && is_named(index, "w") ? 1 : 0);
  }
}

static real forward(struct model *m, const int *tokens, const int *targets) {
  return model_loss(&m->shape, m->parameters, tokens, targets, m->B, m->T);
}

// The same, and leaves what the backward pass by hand needs.
static real forward_in_array(struct model *m, const int *tokens, const int *targets) {
  return model_loss_in_array(&m->shape, m->parameters, m->activations, tokens, targets, m->B, m->T);
}

static void zero_gradients(struct model *m) {
  memset(m->gradients, 0, m->parameter_count * sizeof(real));
}

// Adds the gradient to m->gradients, and returns the loss.
static real gradient(struct model *m, enum method method, const int *tokens, const int *targets) {
#ifndef WITHOUT_ZYMASE
  if (method == SYNTHESIZED)
    return model_gradient(&m->shape, m->parameters, m->gradients, tokens, targets, m->B, m->T);
  if (method == SYNTHESIZED_IN_ARRAY)
    return model_gradient_in_array(&m->shape, m->parameters, m->gradients, m->activations,
                                   m->activation_gradients, tokens, targets, m->B, m->T);
#endif
  (void)method;
  real loss = forward_in_array(m, tokens, targets);
  model_backward(&m->shape, m->parameters, m->gradients, m->activations, m->scratch, tokens,
                 targets, m->B, m->T);
  return loss;
}

// One step of AdamW. Weights decay in matrices only.
static void update(struct model *m, double rate, double decay) {
  const real beta1 = (real)0.9, beta2 = (real)0.999, epsilon = (real)1e-8;
  m->steps++;
  real correction1 = (real)(1 / (1 - pow((double)beta1, (double)m->steps)));
  real correction2 = (real)(1 / (1 - pow((double)beta2, (double)m->steps)));
  for (int index = 0; index < TENSORS; index++) {
    real *start;
    size_t n = tensor(m, index, m->parameters, &start), offset = (size_t)(start - m->parameters);
    int is_matrix = index < 2 || (strncmp(tensor_names[index], "ln", 2) && is_named(index, "w"));
    real speed = (real)rate, shrink = is_matrix ? (real)decay : 0;
    real *restrict p = start, *restrict first = m->first + offset;
    real *restrict second = m->second + offset;
    const real *restrict g = m->gradients + offset;
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
      real a = beta1 * first[i] + (1 - beta1) * g[i];
      real b = beta2 * second[i] + (1 - beta2) * g[i] * g[i];
      first[i] = a;
      second[i] = b;
      p[i] -= speed * (a * correction1 / (sqrt(b * correction2) + epsilon) + shrink * p[i]);
    }
  }
}

static real step(struct model *m, enum method method, const int *tokens, const int *targets,
                 double rate, double decay) {
  zero_gradients(m);
  real loss = gradient(m, method, tokens, targets);
  update(m, rate, decay);
  return loss;
}

// ------------------------------------------------------------------------------------------------
// Training on a text that is built in. A token is a byte.

static const char text[] =
    "The derivative of a program is a program. It runs the first one forward and keeps what it\n"
    "will need, and then it walks back over every step that was taken, the last one first, and\n"
    "asks of each how much it mattered. A sum hands its share to all of its terms. A product hands\n"
    "to each factor what the others were. A branch goes back the way it came. What was copied is\n"
    "added up; what was overwritten is found again or was kept. At the beginning stand the\n"
    "parameters, and each of them has learned in which direction it should have been different.\n";

struct options {
  int layers, heads, channels, positions, vocabulary, padded, batch, time, steps;
  long seed;
};

static void read_option(struct options *o, const char *word) {
  struct { const char *name; int *value; } names[] = {
      {"layers", &o->layers},         {"heads", &o->heads},   {"channels", &o->channels},
      {"positions", &o->positions},   {"batch", &o->batch},   {"time", &o->time},
      {"vocabulary", &o->vocabulary}, {"padded", &o->padded}, {"steps", &o->steps}};
  const char *equals = strchr(word, '=');
  char *end = NULL;
  long value = equals ? strtol(equals + 1, &end, 10) : 0;
  if (equals && end != equals + 1 && *end == 0 && value >= INT_MIN && value <= INT_MAX) {
    size_t length = (size_t)(equals - word);
    if (length == 4 && strncmp(word, "seed", 4) == 0) {
      o->seed = value;
      return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      if (strlen(names[i].name) == length && strncmp(word, names[i].name, length) == 0) {
        *names[i].value = (int)value;
        return;
      }
  }
  fprintf(stderr, "gpt2: the word `%s` is unknown\n", word);
  exit(1);
}

static int train(int count, char **words) {
  struct options o = {.layers = 2, .heads = 4, .channels = 64, .positions = 32, .vocabulary = 128,
                      .padded = 128, .batch = 4, .time = 32, .steps = 500, .seed = 1};
  for (int i = 0; i < count; i++) read_option(&o, words[i]);
  struct shape shape = {o.layers, o.heads, o.channels, o.positions, o.vocabulary, o.padded};
  random_state = (unsigned long long)o.seed;
  struct model m = make_model(shape, o.batch, o.time, best_method, 0);
  int length = (int)sizeof text - 1, rows = o.batch * o.time;
  if (o.time >= length) fail("the text that is built in is shorter than one sequence");
  for (int i = 0; i < length; i++)
    if (text[i] >= o.vocabulary) fail("the text that is built in has tokens beyond the vocabulary");
  initialize(&m);

  int *tokens = random_tokens(rows, o.vocabulary), *targets = random_tokens(rows, o.vocabulary);
  int at = 0;
  for (int i = 1; i <= o.steps; i++) {
    for (int b = 0; b < o.batch; b++) {
      for (int t = 0; t < o.time; t++) {
        tokens[b * o.time + t] = text[(at + t) % length];
        targets[b * o.time + t] = text[(at + t + 1) % length];
      }
      at = (at + o.time) % length;
    }
    real loss = step(&m, best_method, tokens, targets, 1e-3, 0);
    if (i == 1 || i % 50 == 0 || i == o.steps) printf("step %d: loss %.4f\n", i, (double)loss);
  }
  free(tokens), free(targets);
  free_model(&m);
  return 0;
}

// ------------------------------------------------------------------------------------------------
// Checks.

static int failures;

#ifndef WITHOUT_ZYMASE
// Relative to the largest number of the tensor, because rounding errors are.
static void compare(const char *what, const char *name, const real *got, const real *expected,
                    size_t n, double tolerance) {
  double difference = 0, largest = 0;
  int is_number = 1;
  for (size_t i = 0; i < n; i++) {
    double by = fabs((double)got[i] - (double)expected[i]), size = fabs((double)expected[i]);
    // Fast mathematics may take any comparison with NaN for true, but not the bits for others.
    real zero = got[i] - got[i];
    is_number &= memcmp(&zero, &(real){0}, sizeof zero) == 0;
    difference = by > difference ? by : difference;
    largest = size > largest ? size : largest;
  }
  double relative = largest > 0 ? difference / largest : difference;
  if (is_number && relative <= tolerance) return;
  printf("%s: %s differs by %.3g of its largest number\n", what, name, relative);
  failures++;
}

static double rounding(void) { return sizeof(real) == sizeof(float) ? 2e-5 : 1e-12; }

static void compare_zero(const char *what, const char *name, const real *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0) {
      printf("%s: the gradient of %s is %g afterwards, not 0\n", what, name, (double)x[i]);
      failures++;
      return;
    }
}

static real *copy(const real *x, size_t n) {
  real *y = allocate(n);
  memcpy(y, x, n * sizeof *x);
  return y;
}

// The gradients of inputs begin with random numbers, so that adding shows.
static void check_encoder(int B, int T, int C) {
  int Vp = 11, rows = B * T, *tokens = random_tokens(rows, Vp);
  size_t n = (size_t)rows * C, n_wte = (size_t)Vp * C, n_wpe = (size_t)T * C;
  real *wte = random_numbers(n_wte), *wpe = random_numbers(n_wpe), *out = allocate(n);
  real *seed = random_numbers(n), *d_out = copy(seed, n);
  real *d_wte = random_numbers(n_wte), *d_wpe = random_numbers(n_wpe);
  real *e_wte = copy(d_wte, n_wte), *e_wpe = copy(d_wpe, n_wpe);
  encoder_gradient(out, d_out, tokens, wte, d_wte, wpe, d_wpe, B, T, C);
  encoder_backward(e_wte, e_wpe, seed, tokens, B, T, C);
  compare("encoder", "wte", d_wte, e_wte, n_wte, rounding());
  compare("encoder", "wpe", d_wpe, e_wpe, n_wpe, rounding());
  compare_zero("encoder", "out", d_out, n);
  free(tokens), free(wte), free(wpe), free(out), free(seed), free(d_out);
  free(d_wte), free(d_wpe), free(e_wte), free(e_wpe);
}

static void check_layer_norm(int rows, int C) {
  size_t n = (size_t)rows * C;
  real *in = random_numbers(n), *weight = random_numbers(C), *bias = random_numbers(C);
  real *out = allocate(n), *mean = allocate(rows), *rstd = allocate(rows);
  real *seed = random_numbers(n), *d_out = copy(seed, n);
  real *d_mean = allocate(rows), *d_rstd = allocate(rows);
  real *d_in = random_numbers(n), *d_weight = random_numbers(C), *d_bias = random_numbers(C);
  real *e_in = copy(d_in, n), *e_weight = copy(d_weight, C), *e_bias = copy(d_bias, C);
  layer_norm_gradient(out, d_out, mean, d_mean, rstd, d_rstd, in, d_in, weight, d_weight, bias,
                      d_bias, rows, C);
  layer_norm_backward(e_in, e_weight, e_bias, seed, in, weight, mean, rstd, rows, C);
  compare("layer norm", "in", d_in, e_in, n, rounding());
  compare("layer norm", "weight", d_weight, e_weight, C, rounding());
  compare("layer norm", "bias", d_bias, e_bias, C, rounding());
  compare_zero("layer norm", "out", d_out, n);
  free(in), free(weight), free(bias), free(out), free(mean), free(rstd), free(seed), free(d_out);
  free(d_mean), free(d_rstd), free(d_in), free(d_weight), free(d_bias);
  free(e_in), free(e_weight), free(e_bias);
}

static void check_matmul(int rows, int C, int OC, int is_blocked, int has_bias) {
  const char *what = is_blocked ? "blocked matrix product" : "naive matrix product";
  size_t n = (size_t)rows * C, n_out = (size_t)rows * OC, n_weight = (size_t)OC * C;
  real *in = random_numbers(n), *weight = random_numbers(n_weight);
  real *bias = has_bias ? random_numbers(OC) : NULL, *d_bias = has_bias ? random_numbers(OC) : NULL;
  real *e_bias = has_bias ? copy(d_bias, OC) : NULL;
  real *out = allocate(n_out), *e_out = allocate(n_out);
  real *seed = random_numbers(n_out), *d_out = copy(seed, n_out);
  real *d_in = random_numbers(n), *d_weight = random_numbers(n_weight);
  real *e_in = copy(d_in, n), *e_weight = copy(d_weight, n_weight);
  (is_blocked ? matmul_naive : matmul)(e_out, in, weight, bias, rows, C, OC);
  (is_blocked ? matmul_gradient : matmul_naive_gradient)(out, d_out, in, d_in, weight, d_weight,
                                                         bias, d_bias, rows, C, OC);
  matmul_backward(e_in, e_weight, e_bias, seed, in, weight, rows, C, OC);
  compare(what, "out", out, e_out, n_out, rounding());
  compare(what, "in", d_in, e_in, n, rounding());
  compare(what, "weight", d_weight, e_weight, n_weight, rounding());
  if (has_bias) compare(what, "bias", d_bias, e_bias, OC, rounding());
  compare_zero(what, "out", d_out, n_out);
  free(in), free(weight), free(bias), free(d_bias), free(e_bias), free(out), free(e_out);
  free(seed), free(d_out), free(d_in), free(d_weight), free(e_in), free(e_weight);
}

static void check_attention(int B, int T, int NH, int size) {
  size_t n = (size_t)B * T * NH * size, pairs = (size_t)B * NH * T * T;
  real *qkv = random_numbers(3 * n), *out = allocate(n);
  real *scores = allocate(pairs), *weights = allocate(pairs), *row = allocate((size_t)B * NH * T);
  real *seed = random_numbers(n), *d_out = copy(seed, n);
  real *d_scores = allocate(pairs), *d_weights = allocate(pairs);
  real *d_qkv = random_numbers(3 * n), *e_qkv = copy(d_qkv, 3 * n);
  attention_gradient(out, d_out, scores, d_scores, weights, d_weights, qkv, d_qkv, B, T, NH, size);
  attention_backward(e_qkv, row, seed, qkv, weights, B, T, NH, size);
  compare("attention", "qkv", d_qkv, e_qkv, 3 * n, rounding());
  compare_zero("attention", "out", d_out, n);
  compare_zero("attention", "scores", d_scores, pairs);
  compare_zero("attention", "weights", d_weights, pairs);
  free(qkv), free(out), free(scores), free(weights), free(row), free(seed), free(d_out);
  free(d_scores), free(d_weights), free(d_qkv), free(e_qkv);
}

static void check_pointwise(size_t n) {
  real *a = random_numbers(n), *b = random_numbers(n), *out = allocate(n);
  real *seed = random_numbers(n), *d_out = copy(seed, n);
  real *d_a = random_numbers(n), *d_b = random_numbers(n), *e_a = copy(d_a, n), *e_b = copy(d_b, n);
  for (size_t i = 0; i < n; i++) a[i] *= 5;
  gelu_gradient(out, d_out, a, d_a, n);
  gelu_backward(e_a, seed, a, n);
  compare("gelu", "in", d_a, e_a, n, rounding());
  compare_zero("gelu", "out", d_out, n);
  memcpy(d_out, seed, n * sizeof *seed);
  gelu_backward_in_place(d_out, a, n);
  memset(e_a, 0, n * sizeof *e_a);
  gelu_backward(e_a, seed, a, n);
  compare("gelu in place", "in", d_out, e_a, n, rounding());
  memcpy(d_out, seed, n * sizeof *seed);
  memcpy(e_a, d_a, n * sizeof *d_a);
  residual_gradient(out, d_out, a, d_a, b, d_b, n);
  residual_backward(e_a, e_b, seed, n);
  compare("residual", "a", d_a, e_a, n, rounding());
  compare("residual", "b", d_b, e_b, n, rounding());
  compare_zero("residual", "out", d_out, n);
  free(a), free(b), free(out), free(seed), free(d_out), free(d_a), free(d_b), free(e_a), free(e_b);
}

static void check_cross_entropy(int rows, int V, int Vp) {
  size_t n = (size_t)rows * Vp;
  int *targets = random_tokens(rows, V);
  real *logits = random_numbers(n), *exponentials = allocate(n), *losses = allocate(rows);
  real *d_losses = allocate(rows), *d_exponentials = allocate(n);
  real *d_logits = random_numbers(n), *e_logits = copy(d_logits, n);
  for (int i = 0; i < rows; i++) d_losses[i] = (real)0.7;
  cross_entropy_gradient(losses, d_losses, exponentials, d_exponentials, logits, d_logits, targets,
                         rows, V, Vp);
  cross_entropy_backward(e_logits, (real)0.7, exponentials, targets, rows, V, Vp);
  compare("cross-entropy", "logits", d_logits, e_logits, n, rounding());
  compare_zero("cross-entropy", "losses", d_losses, rows);
  compare_zero("cross-entropy", "exponentials", d_exponentials, n);
  free(targets), free(logits), free(exponentials), free(losses), free(d_losses);
  free(d_exponentials), free(d_logits), free(e_logits);
}

static void check_layers(void) {
  check_encoder(3, 5, 7);
  check_encoder(2, 1, 16);
  check_layer_norm(6, 17);
  check_layer_norm(1, 32);
  for (int is_blocked = 0; is_blocked < 2; is_blocked++)
    for (int has_bias = 0; has_bias < 2; has_bias++) {
      check_matmul(16, 12, 9, is_blocked, has_bias);
      check_matmul(13, 5, 24, is_blocked, has_bias);
      check_matmul(3, 33, 1, is_blocked, has_bias);
    }
  check_attention(2, 7, 3, 4);
  check_attention(1, 1, 1, 8);
  check_attention(3, 16, 4, 8);
  check_pointwise(101);
  check_cross_entropy(5, 13, 16);
  check_cross_entropy(1, 40, 40);
}
#endif

// Central differences along a random direction in one tensor at a time.
static void check_differences(struct model *m, const int *tokens, const int *targets) {
  int is_float = sizeof(real) == sizeof(float);
  double h = is_float ? 5e-3 : 1e-5, tolerance = is_float ? 2e-2 : 1e-7;
  zero_gradients(m);
  gradient(m, best_method, tokens, targets);
  for (int index = 0; index < TENSORS; index++) {
    real *x, *g;
    size_t n = tensor(m, index, m->parameters, &x);
    tensor(m, index, m->gradients, &g);
    real *before = allocate(n), *direction = random_numbers(n);
    memcpy(before, x, n * sizeof *x);
    // A random part and the gradient itself, about as long as each other: the derivative along
    // their sum is not lost in rounding errors.
    double along = 0, size = 0;
    for (size_t i = 0; i < n; i++) size += (double)g[i] * g[i];
    for (size_t i = 0; i < n; i++) {
      direction[i] /= sqrt((real)n);
      if (size > 0) direction[i] += g[i] / (real)sqrt(size);
      along += (double)g[i] * direction[i];
    }
    double values[2];
    for (int side = 0; side < 2; side++) {
      for (size_t i = 0; i < n; i++) x[i] = before[i] + (real)(side ? -h : h) * direction[i];
      values[side] = (double)forward(m, tokens, targets);
    }
    memcpy(x, before, n * sizeof *x);
    double difference = (values[0] - values[1]) / (2 * h);
    if (!(fabs(difference - along) <= tolerance * (fabs(along) + (is_float ? 0.05 : 1e-3)))) {
      printf("finite differences: along %s %.9g, the gradient says %.9g\n", tensor_names[index],
             difference, along);
      failures++;
    }
    free(before), free(direction);
  }
}

static void check_model(struct shape shape, int B, int T) {
  struct model m = make_model(shape, B, T, best_method, 1);
  int rows = B * T, *tokens = random_tokens(rows, shape.vocabulary);
  int *targets = random_tokens(rows, shape.vocabulary);
  initialize_for_check(&m);
#ifndef WITHOUT_ZYMASE
  fill(m.gradients, m.parameter_count, 0.01, 0);
  real *expected = copy(m.gradients, m.parameter_count);
  for (enum method method = SYNTHESIZED; method < METHODS; method++) {
    // Twice: the first leaves everything as the second needs it.
    real loss = 0;
    for (int i = 0; i < 2; i++) {
      memcpy(m.gradients, expected, m.parameter_count * sizeof(real));
      loss = gradient(&m, method, tokens, targets);
      compare_zero("model", "activations", m.activation_gradients, m.activation_count);
    }
    real *got = copy(m.gradients, m.parameter_count);
    memcpy(m.gradients, expected, m.parameter_count * sizeof(real));
    real loss_by_hand = gradient(&m, BY_HAND, tokens, targets);
    compare(method_names[method], "loss", &loss, &loss_by_hand, 1, rounding());
    for (int index = 0; index < TENSORS; index++) {
      real *a, *b;
      size_t n = tensor(&m, index, got, &a);
      tensor(&m, index, m.gradients, &b);
      compare(method_names[method], tensor_names[index], a, b, n, 10 * rounding());
    }
    free(got);
  }
  free(expected);
#endif
  check_differences(&m, tokens, targets);
  free(tokens), free(targets);
  free_model(&m);
}

// A model that sees one batch again and again knows it by heart.
static void check_overfit(void) {
  struct shape shape = {2, 2, 32, 16, 27, 32};
  struct model m = make_model(shape, 2, 16, best_method, 0);
  int *tokens = random_tokens(32, 27), *targets = random_tokens(32, 27);
  initialize(&m);
  real first = step(&m, best_method, tokens, targets, 1e-2, 0), last = first;
  for (int i = 0; i < 120; i++) last = step(&m, best_method, tokens, targets, 1e-2, 0);
  if (!(first > 2 && last < 0.05)) {
    printf("over-fitting one batch: the loss went from %g to %g\n", (double)first, (double)last);
    failures++;
  }
  free(tokens), free(targets);
  free_model(&m);
}

#ifndef WITHOUT_ZYMASE
// Forty steps by each gradient. Rounding errors grow from step to step.
static void check_training(void) {
  struct shape shape = {2, 2, 16, 12, 27, 32};
  double tolerance = sizeof(real) == sizeof(float) ? 2e-3 : 1e-9, losses[METHODS][40];
  unsigned long long before = random_state;
  for (enum method method = BY_HAND; method < METHODS; method++) {
    random_state = before;
    struct model m = make_model(shape, 3, 12, method, 0);
    initialize(&m);
    for (int i = 0; i < 40; i++) {
      int *tokens = random_tokens(36, 27), *targets = random_tokens(36, 27);
      losses[method][i] = (double)step(&m, method, tokens, targets, 1e-3, 0.01);
      free(tokens), free(targets);
    }
    free_model(&m);
  }
  for (enum method method = SYNTHESIZED; method < METHODS; method++)
    for (int i = 0; i < 40; i++) {
      double by_hand = losses[BY_HAND][i], synthesized = losses[method][i];
      if (fabs(by_hand - synthesized) <= tolerance * by_hand) continue;
      printf("training: at step %d the loss is %.9g by hand and %.9g %s\n", i + 1, by_hand,
             synthesized, method_names[method]);
      failures++;
      return;
    }
}
#endif

static int check(int count, char **words) {
  struct options o = {.seed = 1};
  for (int i = 0; i < count; i++) read_option(&o, words[i]);
  random_state = (unsigned long long)o.seed;
  printf("seed %ld\n", o.seed);
#ifndef WITHOUT_ZYMASE
  check_layers();
#endif
  check_model((struct shape){2, 2, 16, 12, 27, 32}, 2, 9);
  check_model((struct shape){1, 1, 8, 4, 5, 5}, 1, 1);
  check_model((struct shape){3, 4, 24, 8, 40, 48}, 3, 8);
  check_model((struct shape){0, 1, 8, 4, 9, 10}, 2, 4);
  check_overfit();
#ifndef WITHOUT_ZYMASE
  check_training();
#endif
  if (failures) {
    printf("gpt2: %d disagreements (seed %ld)\n", failures, o.seed);
    return 1;
  }
  printf("ok gpt2\n");
  return 0;
}

// ------------------------------------------------------------------------------------------------
// Measurements.

// Time of the processor, because other processes do not count; with threads, the time that passes.
static double milliseconds(void) {
  struct timespec now;
#ifdef _OPENMP
  clock_gettime(CLOCK_MONOTONIC, &now);
#else
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
#endif
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

// Adds to `best` what a statement takes, if it is the fastest so far.
#define TIME(best, statement)                                                                      \
  do {                                                                                             \
    double start = milliseconds();                                                                 \
    statement;                                                                                     \
    __asm__ volatile("" ::: "memory");                                                             \
    double taken = milliseconds() - start;                                                         \
    if (taken < (best)) (best) = taken;                                                            \
  } while (0)

struct times {
  double forward, hand_backward, hand_gradient, synthesized_gradient;
};
static const struct times untimed = {1e30, 1e30, 1e30, 1e30};

static void print_times(const char *name, const char *shape, const struct times *t) {
  printf("{\"name\": \"%s\", \"shape\": \"%s\", \"forward_ms\": %.4f, \"hand_backward_ms\": %.4f, "
         "\"hand_gradient_ms\": %.4f",
         name, shape, t->forward, t->hand_backward, t->hand_gradient);
#ifndef WITHOUT_ZYMASE
  // The synthesized gradient runs the layer too, so its backward pass is what is beyond that.
  double backward = t->synthesized_gradient - t->forward;
  printf(", \"synthesized_backward_ms\": %.4f, \"synthesized_gradient_ms\": %.4f, "
         "\"backward_ratio\": %.3f, \"gradient_ratio\": %.3f",
         backward, t->synthesized_gradient, backward / t->hand_backward,
         t->synthesized_gradient / t->hand_gradient);
#endif
  printf("}\n");
  fflush(stdout);
}

#ifdef WITHOUT_ZYMASE
#define TIME_SYNTHESIZED(best, statement)
#else
#define TIME_SYNTHESIZED(best, statement) TIME(best, statement)
#endif

// Forward, backward by hand, both, and the synthesized gradient by turns. `seed` runs before each of
// them, outside of the measured time.
#define MEASURE(name, shape, repetitions, seed, forward_pass, hand, synthesized)                   \
  do {                                                                                             \
    struct times times = untimed;                                                                  \
    for (int repetition = 0; repetition < (repetitions); repetition++) {                           \
      seed;                                                                                        \
      TIME(times.forward, forward_pass);                                                           \
      TIME(times.hand_backward, hand);                                                             \
      seed;                                                                                        \
      TIME(times.hand_gradient, (forward_pass, hand));                                             \
      seed;                                                                                        \
      TIME_SYNTHESIZED(times.synthesized_gradient, synthesized);                                   \
    }                                                                                              \
    print_times(name, shape, &times);                                                              \
  } while (0)

// A number that the compiler does not know, so that no function is made for this number alone.
static int unknown(int number) {
  volatile int hidden = number;
  return hidden;
}

static void bench_layers(int repetitions) {
  int B = unknown(4), T = unknown(64), C = unknown(GPT2_124M.channels), OC = C, rows = B * T;
  int NH = unknown(GPT2_124M.heads);
  random_state = 1;
  {
    size_t n = (size_t)rows * C, pairs = (size_t)B * NH * T * T;
    real *qkv = random_numbers(3 * n), *d_qkv = allocate(3 * n), *out = allocate(n);
    real *scores = allocate(pairs), *weights = allocate(pairs), *row = allocate((size_t)B * NH * T);
    real *d_scores = allocate(pairs), *d_weights = allocate(pairs);
    real *seed = random_numbers(n), *d_out = allocate(n);
    MEASURE("attention", "B=4 T=64 C=768 NH=12", repetitions,
            memcpy(d_out, seed, n * sizeof *seed),
            attention(out, scores, weights, qkv, B, T, NH, C / NH),
            attention_backward(d_qkv, row, d_out, qkv, weights, B, T, NH, C / NH),
            attention_gradient(out, d_out, scores, d_scores, weights, d_weights, qkv, d_qkv, B, T,
                               NH, C / NH));
    free(qkv), free(d_qkv), free(out), free(scores), free(weights), free(row), free(d_scores);
    free(d_weights), free(seed), free(d_out);
  }
  {
    size_t n = (size_t)rows * C, n_out = (size_t)rows * OC, n_weight = (size_t)OC * C;
    real *in = random_numbers(n), *weight = random_numbers(n_weight), *bias = random_numbers(OC);
    real *d_in = allocate(n), *d_weight = allocate(n_weight), *d_bias = allocate(OC);
    real *out = allocate(n_out), *d_out = allocate(n_out), *seed = random_numbers(n_out);
    MEASURE("matmul naive", "B=4 T=64 C=768 OC=768", repetitions,
            memcpy(d_out, seed, n_out * sizeof *seed),
            matmul_naive(out, in, weight, bias, rows, C, OC),
            matmul_backward(d_in, d_weight, d_bias, d_out, in, weight, rows, C, OC),
            matmul_naive_gradient(out, d_out, in, d_in, weight, d_weight, bias, d_bias, rows, C,
                                  OC));
    MEASURE("matmul blocked", "B=4 T=64 C=768 OC=768", repetitions,
            memcpy(d_out, seed, n_out * sizeof *seed), matmul(out, in, weight, bias, rows, C, OC),
            matmul_backward(d_in, d_weight, d_bias, d_out, in, weight, rows, C, OC),
            matmul_gradient(out, d_out, in, d_in, weight, d_weight, bias, d_bias, rows, C, OC));
    free(in), free(weight), free(bias), free(d_in), free(d_weight), free(d_bias), free(out);
    free(d_out), free(seed);
  }
  {
    size_t n = (size_t)rows * C;
    real *in = random_numbers(n), *weight = random_numbers(C), *bias = random_numbers(C);
    real *d_in = allocate(n), *d_weight = allocate(C), *d_bias = allocate(C);
    real *out = allocate(n), *d_out = allocate(n), *seed = random_numbers(n);
    real *mean = allocate(rows), *rstd = allocate(rows);
    real *d_mean = allocate(rows), *d_rstd = allocate(rows);
    MEASURE("layer norm", "B=4 T=64 C=768", repetitions, memcpy(d_out, seed, n * sizeof *seed),
            layer_norm(out, mean, rstd, in, weight, bias, rows, C),
            layer_norm_backward(d_in, d_weight, d_bias, d_out, in, weight, mean, rstd, rows, C),
            layer_norm_gradient(out, d_out, mean, d_mean, rstd, d_rstd, in, d_in, weight, d_weight,
                                bias, d_bias, rows, C));
    free(in), free(weight), free(bias), free(d_in), free(d_weight), free(d_bias), free(out);
    free(d_out), free(seed), free(mean), free(rstd), free(d_mean), free(d_rstd);
  }
  {
    int V = GPT2_124M.vocabulary, Vp = GPT2_124M.padded_vocabulary;
    size_t n = (size_t)rows * Vp;
    int *targets = random_tokens(rows, V);
    real *logits = random_numbers(n), *exponentials = allocate(n), *losses = allocate(rows);
    real *d_logits = allocate(n), *d_exponentials = allocate(n), *d_losses = allocate(rows);
    MEASURE("cross-entropy", "B=4 T=64 Vp=50304", repetitions,
            for (int i = 0; i < rows; i++) d_losses[i] = (real)1 / rows,
            cross_entropy(losses, exponentials, logits, targets, rows, V, Vp),
            cross_entropy_backward(d_logits, (real)1 / rows, exponentials, targets, rows, V, Vp),
            cross_entropy_gradient(losses, d_losses, exponentials, d_exponentials, logits,
                                   d_logits, targets, rows, V, Vp));
    free(targets), free(logits), free(exponentials), free(losses), free(d_logits);
    free(d_exponentials), free(d_losses);
  }
  {
    size_t n = (size_t)rows * 4 * C;
    real *in = random_numbers(n), *d_in = allocate(n), *out = allocate(n), *d_out = allocate(n);
    real *seed = random_numbers(n);
    MEASURE("gelu", "n=786432", repetitions, memcpy(d_out, seed, n * sizeof *seed),
            gelu(out, in, n), gelu_backward(d_in, d_out, in, n),
            gelu_gradient(out, d_out, in, d_in, n));
    free(in), free(d_in), free(out), free(d_out), free(seed);
  }
}

// The whole model, with everything that either method needs in memory.
static void bench_model(int repetitions) {
  enum { B = 4, T = 64 };
  random_state = 1;
  struct model m = make_model(GPT2_124M, B, T, best_method, 1);
  initialize(&m);
  int *tokens = random_tokens(B * T, GPT2_124M.vocabulary);
  int *targets = random_tokens(B * T, GPT2_124M.vocabulary);
  // Memory is touched for the first time outside of what is measured.
  step(&m, BY_HAND, tokens, targets, 1e-4, 0);
  step(&m, best_method, tokens, targets, 1e-4, 0);
  MEASURE("gpt2 124M", "B=4 T=64", repetitions, zero_gradients(&m),
          forward_in_array(&m, tokens, targets),
          model_backward(&m.shape, m.parameters, m.gradients, m.activations, m.scratch, tokens,
                         targets, B, T),
          gradient(&m, SYNTHESIZED, tokens, targets));
  double hand = 1e30, synthesized = 1e30;
  for (int i = 0; i < repetitions; i++) {
    TIME(hand, step(&m, BY_HAND, tokens, targets, 1e-4, 0));
    TIME_SYNTHESIZED(synthesized, step(&m, SYNTHESIZED, tokens, targets, 1e-4, 0));
  }
  printf("{\"name\": \"gpt2 124M step\", \"shape\": \"B=4 T=64\", \"hand_ms\": %.4f", hand);
#ifndef WITHOUT_ZYMASE
  printf(", \"synthesized_ms\": %.4f, \"ratio\": %.3f", synthesized, synthesized / hand);
#else
  (void)synthesized;
#endif
  printf("}\n");
  free(tokens), free(targets);
  free_model(&m);
}

// The peak of a process is known only to itself, so each method is measured in one of its own. After the
// first step, the moments of AdamW are in memory when the gradient is computed.
static void bench_memory(enum method method) {
  enum { B = 4, T = 64 };
  random_state = 1;
  struct model m = make_model(GPT2_124M, B, T, method, 0);
  initialize(&m);
  int *tokens = random_tokens(B * T, GPT2_124M.vocabulary);
  int *targets = random_tokens(B * T, GPT2_124M.vocabulary);
  for (int i = 0; i < 3; i++) step(&m, method, tokens, targets, 1e-4, 0);
  char line[256];
  long kilobytes = -1;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &kilobytes);
  if (status) fclose(status);
  if (kilobytes < 0) fail("/proc/self/status does not say how much memory was used");
  printf("{\"name\": \"gpt2 124M memory\", \"method\": \"%s\", \"peak_kb\": %ld}\n",
         method_names[method], kilobytes);
  free(tokens), free(targets);
  free_model(&m);
}

static int bench(int count, char **words) {
  const char *what = count > 0 ? words[0] : "";
  if (strcmp(what, "memory") == 0) {
    if (count == 2 && strcmp(words[1], "hand") == 0) return bench_memory(BY_HAND), 0;
#ifndef WITHOUT_ZYMASE
    if (count == 2 && strcmp(words[1], "synthesized") == 0) return bench_memory(SYNTHESIZED), 0;
    if (count == 2 && strcmp(words[1], "array") == 0) return bench_memory(SYNTHESIZED_IN_ARRAY), 0;
#endif
    fail("`bench memory` takes `hand` or, in a build with requests, `synthesized` or `array`");
  }
  if (count > 1 || (count && strcmp(what, "layers") && strcmp(what, "model")))
    fail("`bench` takes `layers`, `model` or `memory`");
  if (strcmp(what, "model") != 0) bench_layers(20);
  if (strcmp(what, "layers") != 0) bench_model(3);
  return 0;
}

int main(int count, char **words) {
  if (count > 1 && strcmp(words[1], "check") == 0) return check(count - 2, words + 2);
  if (count > 1 && strcmp(words[1], "bench") == 0) return bench(count - 2, words + 2);
  return train(count - 1, words + 1);
}

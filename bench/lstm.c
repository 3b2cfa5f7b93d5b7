// A diagonal LSTM.
#include "bench.h"
#include "data.h"
#include "evals/lstm.h"

static void check_example(void) {
  double main[] = {0.1,  0.2,  0.3,  0.4,  0.5,  0.6,  0.7,  0.8,
                   0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75};
  double extra[] = {0.9, 0.8, 0.7, 0.6, 0.5, 0.4}, state[] = {0.3, -0.1, 0.2, 0.6};
  double sequence[] = {1, 0, 0, 1, 1, 1, 1, 0}, d[22];
  double first[] = {-0.004586375299195809, 0.0008597880820716124, -0.003815672207449286,
                    0.0010216545835611771};
  double last[] = {-0.04890473201066085, -0.040076345117044235, -0.10021189507317985,
                   -0.11640118689324018};
  struct lstm p = {1, 2, 4, main, extra, state, sequence};
  agree_number("example of lstm", lstm(main, extra, state, sequence, 1, 2, 4), 0.7270573824346829);
  lstm_gradient(&p, d, d + 16);
  agree("start of the gradient of the example of lstm", d, first, 4);
  agree("end of the gradient of the example of lstm", d + 18, last, 4);
}

// From a file of ADBench, where there is one.
static struct lstm problem(int layers, int c) {
  char name[80];
  snprintf(name, sizeof name, "lstm/lstm_l%d_c%d.txt", layers, c);
  FILE *file = data_file(name);
  int b = 14;
  if (file) {
    if (data_number(file) != layers || data_number(file) != c) exit(1);
    b = (int)data_number(file);
  }
  double *main = uniforms(8 * layers * b), *extra = uniforms(3 * b);
  double *state = uniforms(2 * layers * b), *sequence = uniforms((size_t)c * b);
  for (int i = 0; i < c * b; i++) sequence[i] = sequence[i] < 0.5;
  if (file) {
    data_numbers(file, main, 8 * layers * b);
    data_numbers(file, extra, 3 * b);
    data_numbers(file, state, 2 * layers * b);
    data_numbers(file, sequence, (size_t)c * b);
    fclose(file);
  }
  at("l=%d c=%d%s", layers, c, file ? " file" : "");
  struct lstm p = {layers, b, c, main, extra, state, sequence};
  return p;
}

int main(int count, char **words) {
  arguments(count, words);
  check_example();
  const int sizes[][2] = {{2, 1024}, {4, 1024}, {2, 4096}, {4, 4096}, {6, 8192}};
  for (int s = 0; s < (tiny ? 1 : 5); s++) {
    struct lstm p = problem(sizes[s][0], tiny ? 20 : sizes[s][1]);
    int size = 8 * p.layers * p.b, total = size + 3 * p.b;
    double *g = zeros(total), *by_hand = zeros(total);
    lstm_gradient(&p, g, g + size);
    lstm_by_hand(&p, by_hand, by_hand + size);
    agree("lstm", g, by_hand, total);
    share_number("layers", p.layers), share_number("b", p.b), share_number("c", p.c);
    share("main", p.main, size), share("extra", p.extra, 3 * p.b);
    share("state", p.state, 2 * p.layers * p.b), share("sequence", p.sequence, p.c * p.b);
    share("result", g, total);
    COMPARE("lstm", , keep(lstm(p.main, p.extra, p.state, p.sequence, p.layers, p.b, p.c)),
            lstm_gradient(&p, g, g + size), lstm_by_hand(&p, by_hand, by_hand + size));
  }
}

// Function pointers: tables, callbacks, returned functions, and a list of handlers.
#include <stdio.h>
typedef double (*unary)(double);
static double twice(double x) { return 2 * x; }
static double square(double x) { return x * x; }
static double negate(double x) { return -x; }
static unary table[] = {twice, square, negate};
static double compose(unary f, unary g, double x) { return f(g(x)); }
static unary choose(int i) { return table[i % 3]; }
static double integrate(unary f, double a, double b, int n) { double s = 0, h = (b - a) / n; for (int i = 0; i < n; i++) s += f(a + (i + 0.5) * h); return s * h; }
struct handler { void (*run)(struct handler *, int); struct handler *next; int state; };
static void count(struct handler *h, int x) { h->state += x; }
static void keep(struct handler *h, int x) { if (x > h->state) h->state = x; }
int main(void) {
  for (int i = 0; i < 9; i++) printf("%g ", compose(choose(i), choose(i / 3), 3)); puts("");
  printf("%.6f %.6f\n", integrate(square, 0, 1, 100), integrate(twice, -1, 2, 10));
  struct handler b = {keep, NULL, 0}, a = {count, &b, 0};
  for (int i = 0; i < 10; i++) for (struct handler *h = &a; h; h = h->next) h->run(h, i * 7 % 10);
  printf("%d %d\n", a.state, b.state);
}

// Calls through pointers: tables of callbacks, callbacks with a context, objects with methods, an
// interpreter of op-codes; what stands in the shadow in place of code pointers does not matter.
#include "check.h"

struct two { double a, b; };
extern struct two __enzyme_fwddiff_two(void *, ...);
typedef double (*unary)(double);
typedef double (*binary)(double, double);

static double cube(double x) { return x * x * x; }
static double wave(double x) { return x * sin(x); }
static double slow(double x) {
  for (int i = 0; i < 4; i++) x = x * 0.9 + sin(x) / (i + 2);
  return x;
}

// A constant table of the program's functions and the library's.
static unary const constant[] = {sin, cube, exp, wave, slow, tanh};

static double table(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += constant[(i * 5 + 1) % 6](x[i] + 0.1 * sum);
  return sum;
}

// A table that changes, and one of the frame.
unary changing[3] = {cos, wave, cube};

static double changed(double *x, int n) {
  unary local[3] = {slow, changing[1], n > 100 ? sin : atan};
  double value = x[0];
  for (int i = 0; i < n; i++) {
    value = changing[i % 3](value) + local[(i + 1) % 3](x[i]);
    x[i] = value;
  }
  return value * x[0];
}

// A callback as an argument, with a context behind a void pointer.
struct context { double scale, shift; int calls; };
typedef double (*callback)(double, void *);

static double line(double x, void *data) {
  struct context *c = data;
  c->calls++;
  c->shift *= 1.1;
  return c->scale * x + c->shift;
}

static double curve(double x, void *data) {
  struct context *c = data;
  return x * x * c->scale * c->shift;
}

__attribute__((noinline)) static double integrate(callback f, void *data, double *x, int n) {
  double sum = 0;
  for (int i = 0; i + 1 < n; i++) sum += (x[i + 1] - x[i]) * (f(x[i], data) + f(x[i + 1], data));
  return sum / 2;
}

static double contexts(double *x, int n) {
  struct context c = {x[0], x[1], 0};
  return integrate(line, &c, x, n) + integrate(curve, &c, x, n) * c.calls;
}

// The pointer itself is an argument of the function that is differentiated.
static double applied(callback f, double *x, int n) {
  struct context c = {x[0], x[1], 0};
  return integrate(f, &c, x, n);
}

static void check_applied(callback f, double *x, int n) {
  double dx[16] = {0}, wide[2][16] = {{0}};
  __enzyme_autodiff((void *)applied, enzyme_const, f, enzyme_dup, x, dx, enzyme_const, n);
  for (int i = 0; i < n; i++) {
    double h = 1e-6, old = x[i], want, tangent[16] = {0};
    x[i] = old + h, want = applied(f, x, n);
    x[i] = old - h, want -= applied(f, x, n);
    x[i] = old, want /= 2 * h;
    tangent[i] = 1;
    check_close("reverse applied", i, dx[i], want, 1e-6);
    check_close("forward applied", i,
                __enzyme_fwddiff((void *)applied, enzyme_const, f, enzyme_dup, x, tangent, enzyme_const, n),
                want, 1e-6);
    // The pointer may be dup, too; its shadow is nobody's.
    double again[16] = {0};
    __enzyme_autodiff((void *)applied, enzyme_dup, f, (void *)0, enzyme_dup, x, again, enzyme_const, n);
    check_close("dup pointer", i, again[i], dx[i], 1e-12);
  }
  // Two derivatives at once.
  __enzyme_autodiff((void *)applied, enzyme_width, 2, enzyme_const, f, enzyme_dup, x, wide[0], wide[1],
                    enzyme_const, n);
  for (int i = 0; i < n; i++) {
    check_close("wide", i, wide[0][i], dx[i], 1e-12);
    check_close("wide", i, wide[1][i], dx[i], 1e-12);
  }
  double first[16] = {1}, second[16] = {0, 1};
  struct two both = __enzyme_fwddiff_two((void *)applied, enzyme_width, 2, enzyme_const, f, enzyme_dup, x,
                                         first, second, enzyme_const, n);
  check_close("wide forward", 0, both.a, dx[0], 1e-12);
  check_close("wide forward", 1, both.b, dx[1], 1e-12);
}

// An object with a pointer to its methods; the shadow has none.
struct shape;
struct methods {
  void (*grow)(struct shape *, double);
  double (*area)(const struct shape *);
  void (*log)(const char *);
};
struct shape { const struct methods *methods; double a, b; };

static int logged;
static void count(const char *text) { logged += text[0] != 0; }
static void grow_box(struct shape *s, double by) { s->a *= by, s->b += by; }
static double box(const struct shape *s) { return s->a * s->b; }
static void grow_disc(struct shape *s, double by) { s->a += by * s->a; }
static double disc(const struct shape *s) { return 3 * s->a * s->a; }
const struct methods boxes = {grow_box, box, count}, discs = {grow_disc, disc, count};

static double areas(struct shape *s, double by, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    s[i].methods->grow(&s[i], by);
    s[i].methods->log("grown");
    sum += s[i].methods->area(&s[i]) * (i + 1);
  }
  return sum;
}

static void check_areas(const struct methods *in_shadow) {
  struct shape s[3] = {{&boxes, 1.5, 2}, {&discs, 0.7, 0}, {&boxes, 0.3, 0.4}};
  struct shape ds[3] = {{in_shadow, 0, 0}, {in_shadow, 0, 0}, {in_shadow, 0, 0}};
  struct shape p[3];
  struct shape copy[3];
  memcpy(copy, s, sizeof s);
  double dby = __enzyme_autodiff((void *)areas, enzyme_dup, copy, ds, enzyme_out, 1.2, enzyme_const, 3);
  double h = 1e-6, want;
  memcpy(p, s, sizeof s), want = areas(p, 1.2 + h, 3);
  memcpy(p, s, sizeof s), want -= areas(p, 1.2 - h, 3);
  check_close("areas by", 0, dby, want / (2 * h), 1e-6);
  for (int i = 0; i < 6; i++) {
    struct shape t[3] = {{in_shadow, 0, 0}, {in_shadow, 0, 0}, {in_shadow, 0, 0}};
    double *at = i % 2 ? &p[i / 2].b : &p[i / 2].a;
    memcpy(p, s, sizeof s), *at += h, want = areas(p, 1.2, 3);
    memcpy(p, s, sizeof s), *at -= h, want -= areas(p, 1.2, 3);
    want /= 2 * h;
    check_close("reverse areas", i, i % 2 ? ds[i / 2].b : ds[i / 2].a, want, 1e-6);
    *(i % 2 ? &t[i / 2].b : &t[i / 2].a) = 1;
    memcpy(copy, s, sizeof s);
    check_close("forward areas", i,
                __enzyme_fwddiff((void *)areas, enzyme_dup, copy, t, enzyme_dup, 1.2, 0.0, enzyme_const, 3),
                want, 1e-6);
  }
}

// An interpreter: op-codes call functions through a table; they work on a stack in memory.
struct machine { double stack[16]; int top; const double *input; };
typedef void (*operation)(struct machine *, int);

static void push(struct machine *m, int k) { m->stack[m->top++] = m->input[k]; }
static void plus(struct machine *m, int k) { m->top--, m->stack[m->top - 1] += m->stack[m->top] * k; }
static void times(struct machine *m, int k) { m->top--, m->stack[m->top - 1] *= m->stack[m->top] + k; }
static void sine(struct machine *m, int k) { m->stack[m->top - 1] = sin(m->stack[m->top - 1] + k); }
static void again(struct machine *m, int k) { m->stack[m->top] = m->stack[m->top - 1 - k], m->top++; }
operation const operations[] = {push, plus, times, sine, again};
static const unsigned char program[] = {0, 0, 0, 1, 2, 0, 4, 0, 2, 1, 3, 0, 0, 2, 2, 0,
                                        0, 3, 1, 2, 4, 0, 3, 1, 2, 3, 4, 0, 1, 1};

static double interpret(double *x, int n) {
  struct machine m = {{0}, 0, x};
  for (unsigned i = 0; i + 1 < sizeof program; i += 2) operations[program[i]](&m, program[i + 1]);
  return m.stack[m.top - 1] + 0 * n;
}

// A tree whose nodes call each other through pointers.
struct node { binary combine; struct node *left, *right; double value; };
static double add(double a, double b) { return a + b; }
static double multiply(double a, double b) { return a * b; }

__attribute__((noinline)) static double evaluate(const struct node *n) {
  return n->combine ? n->combine(evaluate(n->left), evaluate(n->right)) : n->value;
}

static double tree(double *x, int n) {
  struct node leaf[4], inner[3];
  for (int i = 0; i < 4; i++) leaf[i] = (struct node){0, 0, 0, x[i % n]};
  inner[0] = (struct node){multiply, &leaf[0], &leaf[1], 0};
  inner[1] = (struct node){add, &leaf[2], &leaf[3], 0};
  inner[2] = (struct node){x[0] > 0 ? multiply : pow, &inner[0], &inner[1], 0};
  return evaluate(&inner[2]);
}

// Second order: forward over reverse and reverse over reverse.
binary several[] = {multiply, add, pow};
static double through(double x) {
  for (int i = 0; i < 3; i++) x = several[i](x, x * x + 0.5);
  return x;
}
static double slope(double x) { return __enzyme_autodiff((void *)through, enzyme_out, x); }
static double tangent(double x) { return __enzyme_fwddiff((void *)through, enzyme_dup, x, 1.0); }

// A pointer that is compared.
static double compared(double *x, int n) {
  return n > 1 && changing[1] == wave ? wave(x[0]) * x[1] : changing[0](x[0]);
}

// Objects on the heap that are used and destroyed through a table of functions.
struct object;
struct lifecycle {
  double (*value)(const struct object *, double);
  void (*destroy)(struct object *);
};
struct object {
  const struct lifecycle *class;
  double k, *more;
};

static double plain_value(const struct object *o, double x) { return o->k * x * x; }
static void plain_destroy(struct object *o) { free(o); }
static double rich_value(const struct object *o, double x) { return sin(o->more[0] * x) + o->more[1]; }
static void rich_destroy(struct object *o) {
  free(o->more);
  free(o);
}
static const struct lifecycle plain = {plain_value, plain_destroy};
static const struct lifecycle rich = {rich_value, rich_destroy};

static struct object *make_object(double x, int is_rich) {
  struct object *o = malloc(sizeof *o);
  o->class = is_rich ? &rich : &plain;
  o->k = x;
  o->more = NULL;
  if (is_rich) {
    o->more = malloc(2 * sizeof *o->more);
    o->more[0] = x;
    o->more[1] = x * x;
  }
  return o;
}

static double objects(double *x, int n) {
  struct object **all = NULL;
  for (int i = 0; i < n; i++) {
    all = realloc(all, (i + 1) * sizeof *all);
    all[i] = make_object(x[i], i % 2);
  }
  double product = 1;
  for (int i = 0; i < n; i++) product *= all[i]->class->value(all[i], x[0]) + 1;
  for (int i = 0; i < n; i++) all[i]->class->destroy(all[i]);
  free(all);
  return product;
}

// The shadow of a code pointer: as Enzyme wants it, its pair, or anything.
extern void *__enzyme_virtualreverse(void *);
struct scaled { unary f; double factor; };
static double apply_scaled(struct scaled *s, double *x) { return s->f(*x) * s->factor; }
static void check_shadows_of_code(void) {
  static void *pair[2];
  unary shadows[] = {(unary)__enzyme_virtualreverse((void *)cube), (unary)(void *)pair, cube, 0};
  for (int i = 0; i < 4; i++) {
    struct scaled s = {cube, 2}, d = {shadows[i], 0};
    double x = 3, dx = 0;
    __enzyme_autodiff((void *)apply_scaled, enzyme_dup, &s, &d, enzyme_dup, &x, &dx);
    check_close("shadow of code", 2 * i, dx, 2 * 3 * 9, 1e-12);
    check_close("shadow of code", 2 * i + 1, d.factor, 27, 1e-12);
  }
}

int main(void) {
  double x[6];
  fill(x, 6, 0.2, 1.4);
  CHECK_GRADIENT(table, x, 6);
  CHECK_GRADIENT(changed, x, 6);
  CHECK_GRADIENT(contexts, x, 5);
  check_applied(line, x, 5);
  check_applied(curve, x, 5);
  check_areas(&boxes);
  check_areas(&discs);
  check_areas(0);
  check_close("logged", 0, logged > 0, 1, 0);
  CHECK_GRADIENT(interpret, x, 4);
  CHECK_GRADIENT(tree, x, 4);
  CHECK_SCALAR(slope, 0.8);
  CHECK_SCALAR(tangent, 0.8);
  CHECK_GRADIENT(compared, x, 2);
  CHECK_GRADIENT(objects, x, 5);
  check_shadows_of_code();
  return finish("callbacks");
}

// Structs by value and by pointer, arrays of them with integers beside floats, nested ones, lists
// linked on the stack, unions, pointers to pointers.
#include "check.h"

struct point { double x, y, z; };
struct particle { int id; double mass; struct point at; char tag; float charge; };
struct node { double value; struct node *next; int weight; };

static struct point cross(struct point a, struct point b) {
  return (struct point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

__attribute__((noinline)) static struct point scaled(struct point p, double s) {
  p.x *= s;
  p.y *= s;
  p.z *= s;
  return p;
}

__attribute__((noinline)) static void shift(struct point *p, const struct point *by) {
  p->x += by->x;
  p->y += by->y * p->x;
  p->z += by->z * p->y;
}

static double by_value(double *x, int n) {
  struct point a = {x[0], x[1], x[2]}, b = {x[3], x[4], x[5]};
  struct point c = scaled(cross(a, b), x[0]);
  return c.x + 2 * c.y * c.z;
}

static double by_pointer(double *x, int n) {
  struct point a = {x[0], x[1], x[2]}, b = {x[3], x[4], x[5]}, c = a;
  shift(&a, &b);
  shift(&b, &a);
  shift(&b, &c);
  return a.z * b.z + b.y;
}

static double mixed(double *x, int n) {
  struct particle p[6];
  double energy = 0;
  for (int i = 0; i < n; i++) {
    p[i].id = i % 3;
    p[i].mass = 1 + x[i] * x[i];
    p[i].at = (struct point){x[i], x[i] * 2, i};
    p[i].tag = 'a' + i;
    p[i].charge = (float)(0.5 * i);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      if (p[i].id != p[j].id) {
        double dx = p[i].at.x - p[j].at.x, dy = p[i].at.y - p[j].at.y, dz = p[i].at.z - p[j].at.z;
        energy += p[i].mass * p[j].mass / (1 + dx * dx + dy * dy + dz * dz) * (p[i].tag - 'a' + 1) +
                  p[i].charge * p[j].charge;
      }
  return energy;
}

static double linked(double *x, int n) {
  struct node nodes[6], *head = 0;
  for (int i = 0; i < n; i++) {
    nodes[i].value = x[i];
    nodes[i].weight = i + 1;
    nodes[i].next = head;
    head = &nodes[i];
  }
  double product = 1;
  for (struct node *p = head; p; p = p->next) product *= 1 + p->value * p->weight;
  for (struct node *p = head; p; p = p->next) p->value *= product;
  return head->value + head->next->value;
}

union number { double d; float f[2]; long long bits; };

static double through_union(double x) {
  union number u, v;
  u.d = x * x;
  v = u;
  return v.d * u.d + x;
}

static double floats_in_union(double x) {
  union number u;
  u.f[0] = (float)x;
  u.f[1] = (float)(x * 0.5);
  return (double)u.f[0] * u.f[1];
}

static double indirect(double *x, int n) {
  double *rows[6], **p = rows, sum = 0;
  for (int i = 0; i < n; i++) rows[i] = x + (i * 5) % n;
  for (int i = 0; i + 1 < n; i++) {
    double *t = p[i];
    p[i] = p[i + 1];
    p[i + 1] = t;
    sum += *p[i] * *p[i + 1] * *x;
  }
  return sum;
}

__attribute__((noinline)) static void pick(double **out, double *a, double *b, int which) {
  *out = which ? a : b;
}

static double picked(double *x, int n) {
  double *p, sum = 0;
  for (int i = 0; i + 1 < n; i++) {
    pick(&p, x + i, x + i + 1, x[i] > 0);
    sum += *p * *p;
    *p = sum;
  }
  return sum;
}

static double copied(double *x, int n) {
  struct particle a = {1, x[0], {x[1], x[2], x[3]}, 'c', 2.0f}, b = a, *p = &b, c;
  p->at.x *= a.mass;
  c = *p;
  memcpy(&a, &c, sizeof a);
  return a.at.x * b.at.y + c.mass * a.charge;
}

struct model { int n; double *weights; double bias; };

__attribute__((noinline)) static double predict(const struct model *m, const double *x) {
  double sum = m->bias;
  for (int i = 0; i < m->n; i++) sum += m->weights[i] * x[i];
  return tanh(sum);
}

static double model_by_pointer(double *x, int n) {
  struct model m = {n - 1, x + 1, x[0]};
  static const double data[6] = {0.1, -0.4, 0.3, 0.8, -0.2, 0.5};
  return predict(&m, data);
}

// The struct itself is the argument, its shadow a struct of the same layout.
static double loss(struct model *m, const double *x) {
  double y = predict(m, x);
  return y * y + m->bias;
}

int main(void) {
  double x[6];
  for (int trial = 1; trial <= 3; trial++) {
    seed(trial);
    fill(x, 6, -1, 1);
    CHECK_GRADIENT(by_value, x, 6);
    CHECK_GRADIENT(by_pointer, x, 6);
    CHECK_GRADIENT(mixed, x, 6);
    CHECK_GRADIENT(linked, x, 6);
    CHECK_GRADIENT(indirect, x, 6);
    CHECK_GRADIENT(picked, x, 6);
    CHECK_GRADIENT(copied, x, 6);
    CHECK_GRADIENT(model_by_pointer, x, 6);
  }
  CHECK_SCALAR(through_union, 0.7);
  CHECK_SCALAR_IS(floats_in_union, 0.5, 0.5);

  double weights[3] = {0.3, -0.2, 0.9}, slopes[3] = {0}, data[3] = {1, 2, 3};
  struct model m = {3, weights, 0.1}, dm = {0, slopes, 0};
  __enzyme_autodiff((void *)loss, enzyme_dup, &m, &dm, enzyme_const, data);
  double y = predict(&m, data), dy = 2 * y * (1 - y * y);
  for (int i = 0; i < 3; i++) check_close("weights", i, slopes[i], dy * data[i], 1e-12);
  check_close("bias", 0, dm.bias, dy + 1, 1e-12);
  return finish("structs");
}

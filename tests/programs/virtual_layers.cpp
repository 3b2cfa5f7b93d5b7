// A network of classes with virtual methods, in both modes; what the shadows of the objects have in
// place of pointers to virtual tables does not matter.
#include <cmath>
#include <cstdio>
#include <cstring>
extern int enzyme_dup, enzyme_const, enzyme_out, enzyme_width;
template <class R, class... A> R __enzyme_autodiff(void *, A...);
template <class R, class... A> R __enzyme_fwddiff(void *, A...);

struct Layer {
  double w, b;
  Layer(double w, double b) : w(w), b(b) {}
  virtual double forward(double x) const = 0;
  virtual void update(double by) { w += by * b; }
  virtual ~Layer() {}
};
struct Linear : Layer {
  using Layer::Layer;
  double forward(double x) const override { return w * x + b; }
};
struct Sine : Layer {
  using Layer::Layer;
  double forward(double x) const override { return std::sin(w * x) * b; }
  void update(double by) override { b *= 1 + by; }
};
struct Twice : Layer {
  Layer *inner;
  Twice(Layer *inner) : Layer(0.5, 0.25), inner(inner) {}
  double forward(double x) const override { return w * inner->forward(inner->forward(x)) + b; }
};

double network(Layer **layers, int n, double x) {
  for (int i = 0; i < n; i++) {
    layers[i]->update(x * 0.1);
    x = layers[i]->forward(x);
  }
  return x;
}


int failures;
void close(const char *what, double got, double want) {
  if (std::fabs(got - want) <= 1e-6 * std::fmax(1, std::fabs(want))) return;
  std::printf("%s: got %.10g, expected %.10g\n", what, got, want);
  failures++;
}

double run(const double *p, double x) {
  Linear a(p[0], p[1]); Sine b(p[2], p[3]); Twice c(&b); Linear d(p[4], p[5]);
  Layer *layers[] = {&a, &b, &c, &d};
  return network(layers, 4, x);
}

int main() {
  double p[6] = {0.5, 0.3, 1.1, 0.7, -0.4, 0.9}, x = 0.8, h = 1e-6;
  for (int zero = 0; zero < 2; zero++) {
    Linear a(p[0], p[1]); Sine b(p[2], p[3]); Twice c(&b); Linear d(p[4], p[5]);
    Linear da(0, 0); Sine db(0, 0); Twice dc(&db); Linear dd(0, 0);
    dc.w = dc.b = 0;
    Layer *layers[] = {&a, &b, &c, &d}, *shadows[] = {&da, &db, &dc, &dd};
    if (zero) for (Layer *s : shadows) std::memset((void *)s, 0, sizeof(void *));
    double dx = __enzyme_autodiff<double>((void *)network, enzyme_dup, layers, shadows, enzyme_const, 4, enzyme_out, x);
    close("dx", dx, (run(p, x + h) - run(p, x - h)) / (2 * h));
    double got[6] = {da.w, da.b, db.w, db.b, dd.w, dd.b};
    for (int i = 0; i < 6; i++) {
      double q[6];
      std::memcpy(q, p, sizeof p); q[i] += h; double want = run(q, x);
      std::memcpy(q, p, sizeof p); q[i] -= h; want -= run(q, x);
      close("network", got[i], want / (2 * h));
    }
    // One direction in forward mode.
    Linear a2(p[0], p[1]); Sine b2(p[2], p[3]); Twice c2(&b2); Linear d2(p[4], p[5]);
    Linear ta(0, 0); Sine tb(1, 0); Twice tc(&tb); Linear td(0, 0);
    tc.w = tc.b = 0;
    Layer *layers2[] = {&a2, &b2, &c2, &d2}, *tangents[] = {&ta, &tb, &tc, &td};
    if (zero) for (Layer *s : tangents) std::memset((void *)s, 0, sizeof(void *));
    double t = __enzyme_fwddiff<double>((void *)network, enzyme_dup, layers2, tangents, enzyme_const, 4, enzyme_dup, x, 0.0);
    close("forward", t, got[2]);
  }
  std::printf(failures ? "bad\n" : "ok virtual_layers\n");
  return failures;
}

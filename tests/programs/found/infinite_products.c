#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double x; long n; double *p; float a, b; } Record;
typedef struct { double a; long n; double b; } Value;
typedef struct { double first, second; } Doubles;
typedef double Vector __attribute__((vector_size(16)));
typedef long Integers __attribute__((vector_size(16)));

double g[8] = {0.5, 1.5, -0.5, 0.25, 0.75, -1.0, 1.0, 0.125};

static double above(double x) { return x * x + 1.0 + 0.125; }
static double aside(double x) { return x * x + 0.2371; }
static double safe_quotient(double x, double y) { return x / (y * y + 1.0); }
static double guarded_quotient(double x, double y) {
  double quotient = x / y;
  return floor(y) > 0.0371 ? quotient : 0.5;
}
static double difference(Doubles d) { return d.first - d.second; }
static unsigned long bits(double x) { unsigned long b; memcpy(&b, &x, 8); return b; }
static double float_of(unsigned long b) { double x; memcpy(&x, &b, 8); return x; }
static unsigned single_bits(float x) { unsigned b; memcpy(&b, &x, 4); return b; }
static float single_of(unsigned b) { float x; memcpy(&x, &b, 4); return x; }
static unsigned long set_half(unsigned long pair, int half, float x) {
  unsigned long wide = single_bits(x);
  return half ? (pair & 0xfffffffful) | wide << 32 : (pair & 0xffffffff00000000ul) | wide;
}
static float half_of(unsigned long pair, int half) { return single_of((unsigned)(half ? pair >> 32 : pair)); }
static Vector load_vector(const double *p) { Vector v; memcpy(&v, p, 16); return v; }
static void store_vector(double *p, Vector v) { memcpy(p, &v, 16); }
static double through_vector(double x, long i) {
  Vector v = {1.5, 2.5};
  v[i] = x;
  v = __builtin_shufflevector(v, v, 1, 2);
  return v[i ^ 1];
}
static double through_structure(double x) {
  struct { int i; double a, b; } one = {7, 1.5, x}, two = one;
  two.a = x, two.b = 0.5;
  return two.a;
}
static double through_array(double x) { double a[3] = {0, x, x}; return a[1]; }
static double through_wide(double x) {
  unsigned __int128 wide = bits(x);
  return float_of((unsigned long)((wide << 64 | wide) >> 64));
}
static double through_integers(double x) {
  Integers i = {0, 0};
  i[1] = (long)bits(x);
  return ((Vector)i)[1];
}
static void move_bits(double *to, const double *from) { unsigned long b; memcpy(&b, from, 8), memcpy(to, &b, 8); }
static void move_double(double *to, const double *from) { *to = *from; }
static void swap_doubles(double *to, const double *from) {
  Vector v = load_vector(from);
  store_vector(to, __builtin_shufflevector(v, v, 1, 0));
}
static void swap_integers(double *to, const double *from) {
  unsigned long b[2];
  memcpy(b, from, 16);
  unsigned long first = b[0];
  b[0] = b[1], b[1] = first;
  memcpy(to, b, 16);
}
static void move_array(double *to, const double *from) { double a = from[0], b = from[1]; to[0] = a, to[1] = b; }
static void move_wide(double *to, const double *from) { unsigned __int128 w; memcpy(&w, from, 16), memcpy(to, &w, 16); }
static Record scaled(Record r) { r.x *= 0.75; return r; }

static double f(double *p, double *q, double *c, double u, double w, long n) {
  double frame[8] = {0};
  memmove(frame, p, 4 * sizeof(double));
  double *heap = malloc(8 * sizeof(double));
  memmove(heap, q, 4 * sizeof(double));
  memmove(heap + 4, p, 4 * sizeof(double));
  float singles[8] = {(float)u};
  double s0 = u + 0.0;
  double s1 = w * u;
  double s2 = p[0];
  double s3 = 0.25 + 0.5;
  double s4 = c[0];
  double s5 = 1.25 + 0.1;
  long s6 = n + 1;
  long s7 = 2;
  double * s8 = p;
  double * s9 = p + 2;
  float s10 = (float)u;
  Vector s11 = load_vector(p);
  Value s12 = {0.5, 3, u};
  unsigned long s13 = bits(u);
  unsigned long s14 = set_half(0x3f00000000000000ul, 0, (float)u);
  { long limit1 = s6 & 3;
  long i1 = 0;
  do {
  { long limit2 = 4;
  long i2 = 0;
  do {
  s3 = tanh(s2);
  g[(s7 & 7)] = atan(expm1((q[((-3l) & 7)] * s1)));
  if ((long)((unsigned long)s12.n + (unsigned long)s6) != (3)) {
  s0 = tanh((sin(frame[((long)(sin(s2) * 3.3) & 7)]) - s2));
  s0 = atan(safe_quotient((g[(s12.n & 7)] * *(q + 7)), (s3 + s1)));
  s2 = sin(((fma(s1, ((double)(s7 & 7) * 0.25), 0.375) >= 0.14657131102722193) ? s1 : (s3 * (double)s10)));
  singles[0] = (float)(atan(((((0.25)) >= 0.18009573848315846) ? s0 : (((unsigned long)s7 < 3ul) ? s9[((long)((unsigned long)s12.n * (unsigned long)s7) & 3)] : (1.25)))));
  } else {
  s0 = tanh((pow(sin((1.25)) + 1.5, tanh(p[(s12.n & 7)])) * (*(heap + 7) * frame[(s7 & 7)])));
  s3 = sin(s3);
  s2 = atan(sin((double)(float)((0.75))));
  s2 = atan((s3 * *(g + 5)));
  }
  continue2:;
  } while ((++i2 < limit2));
  break2:; }
  s10 = sinf(s10 * (float)(tanh(((s12.a * s0) * (s0 - s0)))));
  s2 = ((through_array(s0) - (((s3 - s2) < -0.0652377037320197) ? *(s9 + 3) : *(p + 7))) * (0.5));
  s12.b = tanh(s2);
  continue1:;
  } while ((++i1 < limit1));
  break1:; }
  { long limit3 = 1;
  long i3 = 0;
  do {
  s8 = (s2 < 0.9542258709136158) ? g : g;
  { long limit4 = 2;
  long i4 = 0;
  do {
  s0 = atan(((((double)((-2l) & 7) * 0.25) * *(frame + 1)) * (s12.a + s2)));
  s9 = ((s1 - s12.a) > -0.6110325821832256) ? heap : q;
  continue4:;
  } while ((++i4 < limit4));
  break4:; }
  continue3:;
  } while ((++i3 < limit3));
  break3:; }
  s2 = tanh((((double)singles[1] * s0) * (*(heap + 6) - frame[(s6 & 7)])));
  move_wide((p + 5), (q + 2));
  s0 = ((*(s9 + 1) * (s0 * (double)s10)) * (0.5));
  s1 = (fmod((*(heap + 1) * *(q + 4)), aside(guarded_quotient(s0, s0)) + 1.0) * (0.5));
  { double result = safe_quotient(s2, (p[(s12.n & 7)] - *(q + 4)));
  free(heap);
  return result; }
}

#define RESULT(x) (x)

extern int enzyme_dup, enzyme_const, enzyme_out;
extern Doubles __enzyme_autodiff(void *, ...);
extern double __enzyme_fwddiff(void *, ...);

static int failures;
static void compare(const char *what, int i, double found, double expected, double tolerance) {
  if (fabs(found - expected) <= tolerance || (isnan(found) && isnan(expected))) return;
  printf("%s %d: %.17g, expected %.17g\n", what, i, found, expected);
  failures++;
}

// Three arrays with numbers around each that nobody may touch.
typedef struct { double before[2], p[8], between[2], q[8], among[2], c[8], after[2]; } Memory;
static void reset(Memory *m, const double *in) {
  static const double first[8] = {0.5, 1.5, -0.5, 0.25, 0.75, -1.0, 1.0, 0.125};
  double *all = (double *)m;
  for (int i = 0; i < (int)(sizeof *m / sizeof *all); i++) all[i] = 1234.5;
  memcpy(g, first, sizeof g);
  if (in) memcpy(m->p, in, 64), memcpy(m->q, in + 8, 64), memcpy(m->c, in + 16, 64);
}
static void around(const char *what, const Memory *m) {
  for (int i = 0; i < 2; i++)
    compare(what, i, m->before[i] + m->between[i] + m->among[i] + m->after[i], 4 * 1234.5, 0);
}
static void unchanged(const char *what, const Memory *m, const double *arrays) {
  around(what, m);
  for (int i = 0; i < 8; i++) {
    compare(what, i, m->p[i], arrays[i], 1e-9 * (1 + fabs(arrays[i])));
    compare(what, 8 + i, m->q[i], arrays[8 + i], 1e-9 * (1 + fabs(arrays[8 + i])));
    compare(what, 16 + i, m->c[i], arrays[16 + i], 1e-9 * (1 + fabs(arrays[16 + i])));
  }
}
static double weight(int i) { return 0.5 + 0.25 * (i * 7 % 5); }

__attribute__((noinline)) static void check(const double *in, long n, const double *arrays,
                                            const double *gradient, double tolerance) {
  Memory m, d;
  reset(&m, in);
  f(m.p, m.q, m.c, in[24], in[25], n);
  Memory plain = m;
  unchanged("primal", &m, arrays);

  reset(&d, 0), reset(&m, in);
  for (int i = 0; i < 8; i++) d.p[i] = weight(i), d.q[i] = weight(8 + i);
  Doubles by = __enzyme_autodiff((void *)f, enzyme_dup, m.p, d.p, enzyme_dup, m.q, d.q, enzyme_const, m.c,
                                 enzyme_out, in[24], enzyme_out, in[25], enzyme_const, n);
  unchanged("primal of reverse", &m, arrays), around("shadow", &d);
  for (int i = 0; i < 8; i++)
    compare("reverse", i, d.p[i], gradient[i], tolerance), compare("reverse", 8 + i, d.q[i], gradient[8 + i], tolerance);
  compare("reverse", 16, by.first, gradient[16], tolerance);
  compare("reverse", 17, by.second, gradient[17], tolerance);

  for (int k = 0; k < 18; k++) {
    double du = k == 16, dw = k == 17;
    reset(&d, 0), reset(&m, in);
    for (int i = 0; i < 8; i++) d.p[i] = i == k, d.q[i] = 8 + i == k;
    double sum = RESULT(__enzyme_fwddiff((void *)f, enzyme_dup, m.p, d.p, enzyme_dup, m.q, d.q, enzyme_const,
                                         m.c, enzyme_dup, in[24], du, enzyme_dup, in[25], dw, enzyme_const, n));
    unchanged("primal of forward", &m, arrays), around("tangent", &d);
    for (int i = 0; i < 8; i++) sum += weight(i) * d.p[i] + weight(8 + i) * d.q[i];
    compare("forward", k, sum, gradient[k], tolerance);
  }
}
int main(void) {
  { static const double in[] = {-1.1269172465204311, 1.2688666415750414, 0.6990053881215406, 0.4755738234726139, -0.5525894608948522, -0.12750758748696756, -1.4735307889783118, -1.498566213734064, 0.6959086001392689, -0.3121593227973902, 0.18307237399763876, -0.6829834333256214, -0.26372302187959096, 1.141907905948991, 0.9978811992331396, 0.40498971882914736, -1.2081279591326457, -1.1233110137279356, -1.0944934161113165, -1.4062704231216794, 1.3633764688445045, -0.9116473444508831, -0.9478815067057637, -1.0854387539681858, -0.7903242346374926, -0.8230427736206174}, arrays[] = {-1.1269172465204311, 1.2688666415750414, 0.6990053881215406, 0.4755738234726139, -0.5525894608948522, 0.18307237399763876, -0.6829834333256214, -1.498566213734064, 0.6959086001392689, -0.3121593227973902, 0.18307237399763876, -0.6829834333256214, -0.26372302187959096, 1.141907905948991, 0.9978811992331396, 0.40498971882914736, -1.2081279591326457, -1.1233110137279356, -1.0944934161113165, -1.4062704231216794, 1.3633764688445045, -0.9116473444508831, -0.9478815067057637, -1.0854387539681858}, gradient[] = {0.5, 1.0, 1.5, 0.75, 1.25, 0.0, 0.0, 1.5, 0.75, 1.25, 1.0, 2.0, 1.5, 0.75, 1.25, 0.5, 0.0, 0.0};
  check(in, 2, arrays, gradient, 0.00030000000000000003); }
  { static const double in[] = {0.3007731549336996, 0.4237980170364186, -0.7037509382013021, -0.13889846640654446, -1.221672298227061, -0.7273882276393651, -0.0852821513791102, 0.32584952209715357, 0.34155138670166996, -0.2624142587522458, 0.3380797397891848, 0.6617358328240088, 0.015419317509321363, 1.0055351576771219, -1.1537908586244814, 1.2008003574037789, -1.4934092024872805, 1.205611552462037, -1.424905234574009, 0.8790110480291904, 1.4261786534182035, -0.38247101631992453, -0.544302653265017, -0.8726648947777058, 0.9910710742608682, -0.20304937607772122}, arrays[] = {0.3007731549336996, 0.4237980170364186, -0.7037509382013021, -0.13889846640654446, -1.221672298227061, 0.3380797397891848, 0.6617358328240088, 0.32584952209715357, 0.34155138670166996, -0.2624142587522458, 0.3380797397891848, 0.6617358328240088, 0.015419317509321363, 1.0055351576771219, -1.1537908586244814, 1.2008003574037789, -1.4934092024872805, 1.205611552462037, -1.424905234574009, 0.8790110480291904, 1.4261786534182035, -0.38247101631992453, -0.544302653265017, -0.8726648947777058}, gradient[] = {0.5, 1.0, 1.5, 0.75, 1.25, 0.0, 0.0, 1.5, 0.75, 1.25, 1.0, 2.0, 1.5, 0.75, 1.25, 0.5, 0.0, 0.0};
  check(in, 1, arrays, gradient, 0.00030000000000000003); }
  if (!failures) puts("ok");
  return failures != 0;
}

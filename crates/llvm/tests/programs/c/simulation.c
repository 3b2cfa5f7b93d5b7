// Loops over arrays of floats that vectorizers like: stencils, reductions, conditionals.
#include <math.h>
#include <stdio.h>
#define N 512
static float a[N], b[N]; static double c[N]; static int k[N]; static unsigned char img[N];
static void diffuse(float *restrict out, const float *restrict in, int n) { for (int i = 1; i < n - 1; i++) out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1]; }
static double norm(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i]; return sqrt(s); }
static int clamp_count(const int *x, int n, int lo, int hi) { int count = 0; for (int i = 0; i < n; i++) count += x[i] >= lo && x[i] <= hi; return count; }
static int best(const int *x, int n) { int m = x[0]; for (int i = 1; i < n; i++) m = x[i] > m ? x[i] : m; return m; }
static void threshold(unsigned char *p, int n) { for (int i = 0; i < n; i++) p[i] = p[i] > 100 ? 255 : (unsigned char)(p[i] * 2); }
static void strided(double *x, int n) { for (int i = 0; i < n / 2; i++) { double t = x[2 * i]; x[2 * i] = x[2 * i + 1] + 1; x[2 * i + 1] = t - 1; } }
int main(void) { for (int i = 0; i < N; i++) { a[i] = (float)(i % 17); c[i] = i % 9 - 4; k[i] = i * 7919 % 1009; img[i] = (unsigned char)(i * 3); } for (int t = 0; t < 10; t++) { diffuse(b, a, N); diffuse(a, b, N); } float s = 0; for (int i = 0; i < N; i++) s += a[i]; strided(c, N); threshold(img, N); unsigned h = 0; for (int i = 0; i < N; i++) h = h * 31 + img[i]; long w = 0; for (int i = 0; i < N; i += 3) w += (long)k[i] << (i & 7); printf("%.4f %.10f %d %d %u %ld\n", s, norm(c, N), clamp_count(k, N, 100, 500), best(k, N), h, w); }

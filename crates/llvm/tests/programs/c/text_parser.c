// A recursive-descent calculator.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char *p; static int failed; static double expression(void);
static void skip(void) { while (isspace((unsigned char)*p)) p++; }
static double atom(void) { skip(); if (*p == '(') { p++; double v = expression(); skip(); if (*p == ')') p++; else failed = 1; return v; } if (*p == '-') { p++; return -atom(); } if (isalpha((unsigned char)*p)) { char name[8]; int n = 0; while (isalpha((unsigned char)*p) && n < 7) name[n++] = *p++; name[n] = 0; double x = atom(); if (!strcmp(name, "sin")) return sin(x); if (!strcmp(name, "sqrt")) return sqrt(x); if (!strcmp(name, "ln")) return log(x); failed = 1; return 0; } char *end; double v = strtod(p, &end); if (end == p) failed = 1; p = end; return v; }
static double factor(void) { double b = atom(); skip(); if (*p == '^') { p++; return pow(b, factor()); } return b; }
static double term(void) { double v = factor(); for (;;) { skip(); if (*p == '*') { p++; v *= factor(); } else if (*p == '/') { p++; v /= factor(); } else return v; } }
static double expression(void) { double v = term(); for (;;) { skip(); if (*p == '+') { p++; v += term(); } else if (*p == '-') { p++; v -= term(); } else return v; } }
int main(void) { const char *tests[] = {"1 + 2 * 3", "(1+2)*3 - 4/8", "2^3^2", "-sqrt(16) + sin(0)", "ln(2.718281828459045)", "2 * (3 + ", "foo(1)"}; for (int i = 0; i < 7; i++) { p = tests[i]; failed = 0; double v = expression(); if (failed || *p) printf("error at %d\n", (int)(p - tests[i])); else printf("%.12g\n", v); } }

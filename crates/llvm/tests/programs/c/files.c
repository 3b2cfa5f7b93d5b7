// Buffered input and output, through a temporary file.
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <string.h>
struct record { int id; double value; char tag[12]; };
int main(void) { FILE *f = tmpfile(); if (!f) return 1; for (int i = 0; i < 10; i++) { struct record r = {i, i * 1.5, ""}; snprintf(r.tag, sizeof r.tag, "tag%d", i * i); fwrite(&r, sizeof r, 1, f); } struct record r; double sum = 0; for (int i = 9; i >= 0; i -= 3) { fseek(f, i * (long)sizeof r, SEEK_SET); if (fread(&r, sizeof r, 1, f) != 1) return 2; sum += r.value; printf("%d %s ", r.id, r.tag); } printf("%g %ld\n", sum, ftell(f)); rewind(f); fprintf(f, "%d %lf %s", 5, 2.5, "word"); rewind(f); int a; double b; char w[16]; printf("%d ", fscanf(f, "%d %lf %4s", &a, &b, w)); printf("%d %g %s\n", a, b, w); fclose(f); errno = 0; if (!fopen("/no/such/file", "r")) printf("%s\n", strerror(errno)); }

// Strings: reversing, words, numbers to text and back.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void reverse(char *s) { for (size_t i = 0, j = strlen(s); i + 1 < j; i++) { char t = s[i]; s[i] = s[--j]; s[j] = t; } }
static int words(const char *s) { int n = 0, in = 0; for (; *s; s++) { if (isspace((unsigned char)*s)) in = 0; else if (!in) { in = 1; n++; } } return n; }
static int palindrome(const char *s) { const char *e = s + strlen(s); while (s < e) if (*s++ != *--e) return 0; return 1; }
static void caesar(char *s, int k) { for (; *s; s++) if (*s >= 'a' && *s <= 'z') *s = 'a' + (*s - 'a' + k) % 26; else if (*s >= 'A' && *s <= 'Z') *s = 'A' + (*s - 'A' + k) % 26; }
int main(void) {
  char text[] = "The quick brown fox jumps over the lazy dog";
  printf("%d words\n", words(text));
  caesar(text, 13); puts(text); caesar(text, 13); reverse(text); puts(text);
  printf("%d %d\n", palindrome("rotator"), palindrome("rotates"));
  char *copy = strdup("alpha,beta,,gamma"); char *rest = copy, *field;
  while ((field = strsep(&rest, ","))) printf("[%s]", field);
  free(copy); puts("");
  char buffer[64]; snprintf(buffer, sizeof buffer, "%05d|%-6s|%+.3e", 42, "ab", 12345.678); puts(buffer);
  printf("%ld %g %s\n", strtol("-77x", NULL, 10), atof("2.5"), strstr("haystack with needle in it", "needle"));
  int counts[26] = {0}; for (const char *p = "mississippi"; *p; p++) counts[*p - 'a']++;
  for (int i = 0; i < 26; i++) if (counts[i]) printf("%c%d ", 'a' + i, counts[i]);
  puts("");
}

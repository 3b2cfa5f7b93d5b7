#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *text_room(struct text *t, size_t more) {
  if (t->room - t->length <= more) {
    size_t room = 2 * t->room + more + 64;
    char *at = realloc(t->at, room);
    if (!at) {
      fprintf(stderr, "zymase-gradbench: not enough memory for an answer\n");
      exit(1);
    }
    t->at = at;
    t->room = room;
  }
  return t->at + t->length;
}

void text_add(struct text *t, const char *characters, size_t length) {
  memcpy(text_room(t, length), characters, length);
  t->length += length;
}

void text_say(struct text *t, const char *words) { text_add(t, words, strlen(words)); }

void text_format(struct text *t, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int length = vsnprintf(NULL, 0, format, values);
  va_end(values);
  va_start(values, format);
  vsnprintf(text_room(t, length), length + 1, format, values);
  va_end(values);
  t->length += length;
}

void text_quote(struct text *t, const char *characters, size_t length) {
  text_say(t, "\"");
  for (size_t i = 0; i < length; i++) {
    unsigned char c = characters[i];
    if (c < 0x20)
      text_format(t, "\\u%04x", c);
    else if (c == '"' || c == '\\')
      text_format(t, "\\%c", c);
    else
      text_add(t, characters + i, 1);
  }
  text_say(t, "\"");
}

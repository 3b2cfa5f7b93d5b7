// Text that grows.
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

struct text {
  char *at;
  size_t length, room;
};

// Makes room for so many characters more, and one, and gives where they go.
char *text_room(struct text *t, size_t more);

// Adds characters.
void text_add(struct text *t, const char *characters, size_t length);
void text_say(struct text *t, const char *words);
__attribute__((format(printf, 2, 3))) void text_format(struct text *t, const char *format, ...);

// Adds characters as a string of JSON.
void text_quote(struct text *t, const char *characters, size_t length);

#endif

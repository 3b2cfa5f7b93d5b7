// JSON that is read.
//
// A text becomes one array of nodes, in the order of the text: a value is followed by what is in it.
// So a million numbers are an array, not a million allocations.
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
  enum json_kind kind;
  // Of a number the characters, of a string those it stands for.
  const char *text;
  // Of a number or string how many characters, of an array how many values, of an object how many
  // names with values.
  size_t length;
  union {
    double number;
    // How many nodes an array or object is, with all that is in it.
    size_t size;
  };
};

struct json_text {
  struct json *nodes;
  size_t count, room;
};

// Reads one value, and gives what is wrong with it, or null. The text ends with a zero at `length`. It
// is changed: strings are written over, and must stay as long as the nodes are used.
const char *json_read(struct json_text *j, char *text, size_t length);

// The value after this one.
const struct json *json_next(const struct json *value);

// The value with this name in an object. It is null if there is none, or if there is more than one,
// which `count` tells.
const struct json *json_field(const struct json *object, const char *name, int *count);

// Whether a value is this string.
int json_is(const struct json *value, const char *text);

#endif

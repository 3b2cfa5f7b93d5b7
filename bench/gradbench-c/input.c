// What an eval reads of its input.
#include <limits.h>
#include <stdlib.h>

#include "evaluation.h"

// Null if there is no such field.
static const struct json *field(struct request *r, const struct json *object, const char *name) {
  int count = 0;
  const struct json *found = object ? json_field(object, name, &count) : NULL;
  if (!object)
    return NULL;
  else if (object->kind != JSON_OBJECT)
    fail(r, "cannot read input: there is no object with a field `%s`", name);
  else if (count == 0)
    fail(r, "cannot read input: missing field `%s`", name);
  else if (count > 1)
    fail(r, "cannot read input: duplicate field `%s`", name);
  return found;
}

static int count_in(struct request *r, double number) {
  if (number >= 0 && number <= INT_MAX && number == (int)number) return (int)number;
  if (number > INT_MAX)
    fail(r, "cannot read input: %.17g is too large", number);
  else
    fail(r, "cannot read input: %.17g is not a number of things", number);
  return 0;
}

double number_of(struct request *r, const struct json *object, const char *name) {
  const struct json *value = field(r, object, name);
  if (value && value->kind != JSON_NUMBER) fail(r, "cannot read input: `%s` is not a number", name);
  return value && value->kind == JSON_NUMBER ? value->number : 0;
}

int count_of(struct request *r, const struct json *object, const char *name) {
  return count_in(r, number_of(r, object, name));
}

int truth_of(struct request *r, const struct json *object, const char *name) {
  const struct json *value = field(r, object, name);
  if (value && value->kind != JSON_TRUE && value->kind != JSON_FALSE)
    fail(r, "cannot read input: `%s` is neither true nor false", name);
  return value && value->kind == JSON_TRUE;
}

const struct json *object_of(struct request *r, const struct json *object, const char *name) {
  const struct json *value = field(r, object, name);
  if (value && value->kind != JSON_OBJECT) {
    fail(r, "cannot read input: `%s` is not an object", name);
    return NULL;
  }
  return value;
}

// Checks that an array has arrays of these sizes in it, and those numbers, so many times as there are
// dimensions. Sizes that are not known are found out.
static int has_shape(struct request *r, const struct json *value, const char *name, int dimensions,
                     int *sizes) {
  if (value->kind != JSON_ARRAY || value->length > INT_MAX) {
    fail(r, "cannot read input: `%s` is not an array, or not of arrays", name);
    return 0;
  }
  if (sizes[0] < 0) sizes[0] = (int)value->length;
  if ((size_t)sizes[0] != value->length) {
    fail(r, "bad input: a row of %s has not %d numbers", name, sizes[0]);
    return 0;
  }
  const struct json *row = value + 1;
  for (size_t i = 0; i < value->length; i++, row = json_next(row)) {
    if (dimensions > 1 && !has_shape(r, row, name, dimensions - 1, sizes + 1)) return 0;
    if (dimensions == 1 && row->kind != JSON_NUMBER) {
      fail(r, "cannot read input: `%s` has something else than numbers", name);
      return 0;
    }
  }
  // Of no rows at all, the width is zero.
  for (int i = 1; i < dimensions; i++)
    if (sizes[i] < 0) sizes[i] = 0;
  return 1;
}

double *numbers_of(struct request *r, const struct json *object, const char *name, int dimensions,
                   int *sizes) {
  const struct json *value = field(r, object, name);
  size_t count = 0;
  double *numbers = NULL;
  if (value && has_shape(r, value, name, dimensions, sizes)) {
    count = 1;
    for (int i = 0; i < dimensions; i++) count *= sizes[i];
    require(r, count <= INT_MAX, "there are too many numbers");
    numbers = room(r, count, sizeof *numbers);
  }
  if (!numbers) {
    for (int i = 0; i < dimensions; i++) sizes[i] = 0;
    return NULL;
  }
  // What is no array is a number, whatever row it is in.
  const struct json *at = value;
  for (size_t i = 0; i < count; at++)
    if (at->kind != JSON_ARRAY) numbers[i++] = at->number;
  return numbers;
}

int *indices_of(struct request *r, const struct json *object, const char *name, int dimensions,
                int *sizes) {
  double *numbers = numbers_of(r, object, name, dimensions, sizes);
  size_t count = 1;
  for (int i = 0; i < dimensions; i++) count *= sizes[i];
  int *indices = room(r, count, sizeof *indices);
  for (size_t i = 0; indices && i < count; i++) indices[i] = count_in(r, numbers[i]);
  return indices;
}

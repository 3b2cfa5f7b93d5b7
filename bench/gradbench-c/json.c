#include "json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

// Deeper values are refused, so that they cannot use up the stack.
enum { MOST_DEPTH = 128 };

struct reader {
  char *at;
  struct json_text *out;
  const char *wrong;
};

// Notes what is wrong first.
static int wrong(struct reader *r, const char *what) {
  if (!r->wrong) r->wrong = what;
  return 0;
}

static void skip_space(struct reader *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

// Passes over a character, if it is the next after space.
static int take(struct reader *r, char c) {
  skip_space(r);
  if (*r->at != c) return 0;
  r->at++;
  return 1;
}

static int add(struct reader *r, enum json_kind kind, const char *text, size_t length) {
  struct json_text *out = r->out;
  if (out->count == out->room) {
    size_t room = 2 * out->room + 64;
    struct json *nodes = realloc(out->nodes, room * sizeof *nodes);
    if (!nodes) return wrong(r, "it needs more memory than there is");
    out->nodes = nodes;
    out->room = room;
  }
  out->nodes[out->count++] = (struct json){.kind = kind, .text = text, .length = length};
  return 1;
}

static int read_word(struct reader *r, enum json_kind kind, const char *word) {
  size_t length = strlen(word);
  if (strncmp(r->at, word, length) != 0) return wrong(r, "it has a word that is none of JSON");
  r->at += length;
  return add(r, kind, word, length);
}

static int read_number(struct reader *r) {
  double number;
  const char *end = number_read(r->at, &number);
  if (!end) return wrong(r, "it has no number where one should be, or one that is too large");
  if (!add(r, JSON_NUMBER, r->at, end - r->at)) return 0;
  r->out->nodes[r->out->count - 1].number = number;
  r->at += end - r->at;
  return 1;
}

// Four digits in base sixteen; -1 if they are not there.
static int32_t read_code(const char *at) {
  int32_t code = 0;
  for (int i = 0; i < 4; i++) {
    char c = at[i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

static char *utf8(char *out, int32_t code) {
  if (code < 0x80) {
    *out++ = (char)code;
  } else if (code < 0x800) {
    *out++ = (char)(0xc0 | code >> 6);
    *out++ = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out++ = (char)(0xe0 | code >> 12);
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
  } else {
    *out++ = (char)(0xf0 | code >> 18);
    *out++ = (char)(0x80 | (code >> 12 & 0x3f));
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
  }
  return out;
}

// What stands after a backslash, as a character; null if it stands for none.
static char *read_escape(struct reader *r, char *out) {
  static const char names[] = "\"\\/bfnrt", characters[] = "\"\\/\b\f\n\r\t";
  char c = *r->at++;
  const char *known = c ? strchr(names, c) : NULL;
  if (known) {
    *out++ = characters[known - names];
    return out;
  }
  if (c != 'u') return NULL;
  int32_t code = read_code(r->at);
  if (code < 0 || (code >= 0xdc00 && code < 0xe000)) return NULL;
  r->at += 4;
  if (code >= 0xd800 && code < 0xdc00) {
    int32_t second = r->at[0] == '\\' && r->at[1] == 'u' ? read_code(r->at + 2) : -1;
    if (second < 0xdc00 || second >= 0xe000) return NULL;
    r->at += 6;
    code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
  }
  return utf8(out, code);
}

// How many bytes the character at `at` has, which is not ASCII; zero if it is not UTF-8.
static int utf8_length(const unsigned char *at) {
  int length = at[0] >= 0xc2 && at[0] < 0xe0 ? 2 : (at[0] & 0xf0) == 0xe0 ? 3 : 4;
  if (at[0] < 0xc2 || at[0] > 0xf4) return 0;
  for (int i = 1; i < length; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  // Too long for what it says, half of a pair, or beyond the last character.
  int bad = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0) ||
            (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] >= 0x90);
  return bad ? 0 : length;
}

static int read_string(struct reader *r) {
  if (!take(r, '"')) return wrong(r, "it has no string where one should be");
  char *text = r->at, *out = r->at;
  for (;;) {
    unsigned char c = *r->at;
    if (c == '"') {
      r->at++;
      return add(r, JSON_STRING, text, out - text);
    }
    if (c < 0x20) return wrong(r, "a string does not end");
    if (c == '\\') {
      r->at++;
      out = read_escape(r, out);
      if (!out) return wrong(r, "a string has a backslash before nothing that is known");
    } else {
      int length = c < 0x80 ? 1 : utf8_length((unsigned char *)r->at);
      if (length == 0) return wrong(r, "a string is not UTF-8");
      while (length-- > 0) *out++ = *r->at++;
    }
  }
}

static int read_value(struct reader *r, int depth);

// The inside of an array or object, up to the character that ends it.
static int read_values(struct reader *r, enum json_kind kind, char end, int depth) {
  size_t self = r->out->count, length = 0;
  if (depth == MOST_DEPTH) return wrong(r, "it is too deep");
  if (!add(r, kind, NULL, 0)) return 0;
  if (!take(r, end)) {
    do {
      if (kind == JSON_OBJECT) {
        if (!read_string(r)) return 0;
        if (!take(r, ':')) return wrong(r, "it has no colon where one should be");
      }
      if (!read_value(r, depth + 1)) return 0;
      length++;
    } while (take(r, ','));
    if (!take(r, end)) return wrong(r, "an array or object does not end");
  }
  r->out->nodes[self].length = length;
  r->out->nodes[self].size = r->out->count - self;
  return 1;
}

static int read_value(struct reader *r, int depth) {
  skip_space(r);
  switch (*r->at) {
    case 'n': return read_word(r, JSON_NULL, "null");
    case 'f': return read_word(r, JSON_FALSE, "false");
    case 't': return read_word(r, JSON_TRUE, "true");
    case '"': return read_string(r);
    case '[': r->at++; return read_values(r, JSON_ARRAY, ']', depth);
    case '{': r->at++; return read_values(r, JSON_OBJECT, '}', depth);
    default: return read_number(r);
  }
}

const char *json_read(struct json_text *j, char *text, size_t length) {
  struct reader r = {.at = text, .out = j};
  j->count = 0;
  if (read_value(&r, 0)) {
    skip_space(&r);
    if (r.at != text + length) wrong(&r, "something follows it");
  }
  return r.wrong;
}

const struct json *json_next(const struct json *value) {
  return value + (value->kind == JSON_ARRAY || value->kind == JSON_OBJECT ? value->size : 1);
}

int json_is(const struct json *value, const char *text) {
  return value->kind == JSON_STRING && value->length == strlen(text) &&
         memcmp(value->text, text, value->length) == 0;
}

const struct json *json_field(const struct json *object, const char *name, int *count) {
  const struct json *found = NULL, *at = object + 1;
  *count = 0;
  if (object->kind != JSON_OBJECT) return NULL;
  for (size_t i = 0; i < object->length; i++) {
    if (json_is(at, name)) {
      ++*count;
      found = at + 1;
    }
    at = json_next(at + 1);
  }
  return *count == 1 ? found : NULL;
}

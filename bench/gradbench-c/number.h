// Numbers of JSON: read and written fast, and without losing a bit.
#ifndef NUMBER_H
#define NUMBER_H

// What is left free for `number_write`.
enum { NUMBER_LENGTH = 32 };

// Reads the number that begins at `text`, and gives where it ends; null if there is none, or it is too
// large for a double. The text ends with a character that is part of no number.
const char *number_read(const char *text, double *number);

// Writes a finite number so that reading gives the same one, and gives where it ends.
char *number_write(char *at, double number);

#endif

// Nobody needs this member of the library, and nobody has what it needs.
double nowhere(double);
double unused(double value) { return nowhere(value); }

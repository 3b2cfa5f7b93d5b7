#include "../rod.h"

double flux(double left, double right, double conductivity) {
  return conductivity * (right - left);
}

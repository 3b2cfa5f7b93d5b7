// Exceptions, destructors on the way, rethrowing, and what is thrown by value and by class.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
struct Guard { const char *name; ~Guard() { std::printf("~%s ", name); } };
struct Failure : std::runtime_error { int code; Failure(int c) : std::runtime_error("failure " + std::to_string(c)), code(c) {} };
__attribute__((noinline)) int risky(int x) { Guard g{"risky"}; if (x == 1) throw Failure(x * 7); if (x == 2) throw 42; if (x == 3) throw std::string("text"); if (x == 4) return std::vector<int>(3).at(5); return x * 2; }
__attribute__((noinline)) int middle(int x) { Guard g{"middle"}; try { return risky(x) + 1; } catch (const Failure &f) { if (f.code == 7) throw; return -1; } }
__attribute__((noinline)) int safe(int x) noexcept { try { return middle(x); } catch (int i) { return i; } catch (const std::string &s) { return (int)s.size(); } catch (const std::out_of_range &) { return -2; } catch (std::exception &e) { std::printf("[%s] ", e.what()); return -3; } }
int main() { for (int i = 0; i < 6; i++) std::printf("%d\n", safe(i)); try { try { throw 1.5; } catch (...) { Guard g{"inner"}; throw; } } catch (double d) { std::printf("%g\n", d); } }

// SPDX-License-Identifier: Apache-2.0
/* classes.cc - C++: classes that are passed by reference, bases, templates, overloads.
 * golden.py compares the output of args with golden/. */
#include <cstdint>
#define USE(x) __asm__ volatile("" :: "r"(&x) : "memory")
namespace space {
enum class color : uint8_t { red, green = 200 };
struct base { long id; };
struct other { int extra; };
class derived : public base, protected other { public: int own; static int shared; void method(int k, const derived &from); derived(int k) : own(k) {} };
struct owner { int *p; ~owner() { USE(p); } };
struct virt { virtual int run(int); int v; };
struct pair { long a, b; };
template <typename T> struct box { T value; box *next; };
void derived::method(int k, const derived &from) { USE(k); USE(from); }
int virt::run(int n) { USE(n); return v; }
owner make(owner o, pair p, int n) { USE(o); USE(p); USE(n); return owner{nullptr}; }
int over(int a) { USE(a); return a; }
int over(double d, int a) { USE(d); USE(a); return a; }
pair both(color c, box<int> b, box<pair> *bp, int &&r, long pair::*m, bool ok) { USE(c); USE(b); USE(bp); USE(r); USE(m); USE(ok); return {}; }
}
int main() {
	using namespace space;
	derived d(1); d.method(2, d); virt v; int k = 1;
	make(owner{&k}, pair{1, 2}, 3);
	over(1); over(1.0, 2);
	both(color::green, box<int>{1}, nullptr, 4, &pair::b, true);
	return v.run(3);
}

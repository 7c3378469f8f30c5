// SPDX-License-Identifier: Apache-2.0
/* classes.cc - C++: classes that go by reference, bases, templates, overloads.
 * golden.py compares what follows the marks with what args prints, of this program compiled so. */
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

//x86_64 _ZN5space7derived6methodEiRKS0_(derived* const this at r0, int k at r1, const derived& from at r2) -> -, inlined at 1 places
//x86_64 _ZN5space4virt3runEi(struct virt* const this at r0, int n at r1) -> int32, inlined at 1 places
//x86_64 _ZN5space4makeENS_5ownerENS_4pairEi(struct owner o at *r1, struct pair p at r2,r3, int n at r4) -> -, inlined at 1 places
//x86_64 _ZN5space4overEi(int a at r0) -> int32, inlined at 1 places
//x86_64 _ZN5space4overEdi(double d at none: it is in a floating-point register, int a at r0) -> int32, inlined at 1 places
//x86_64 _ZN5space4bothENS_5colorENS_3boxIiEEPNS1_INS_4pairEEEOiMS3_lb(enum color c at r0, struct box<int> b at r1,r2, struct box<space::pair>* bp at r3, int&& r at r4, long int pair::* m at r5, bool ok at sp+8) -> -, inlined at 1 places

//aarch64 _ZN5space7derived6methodEiRKS0_(derived* const this at r0, int k at r1, const derived& from at r2) -> -, inlined at 1 places
//aarch64 _ZN5space4virt3runEi(struct virt* const this at r0, int n at r1) -> int32, inlined at 1 places
//aarch64 _ZN5space4makeENS_5ownerENS_4pairEi(struct owner o at *r0, struct pair p at r1,r2, int n at r3) -> -, inlined at 1 places
//aarch64 _ZN5space4overEi(int a at r0) -> int32, inlined at 1 places
//aarch64 _ZN5space4overEdi(double d at none: it is in a floating-point register, int a at r0) -> int32, inlined at 1 places
//aarch64 _ZN5space4bothENS_5colorENS_3boxIiEEPNS1_INS_4pairEEEOiMS3_lb(enum color c at r0, struct box<int> b at r1,r2, struct box<space::pair>* bp at r3, int&& r at r4, long int pair::* m at r5, bool ok at r6) -> -, inlined at 1 places

//members _ZN5space7derived6methodEiRKS0_(derived* const this at r0, int k at r1, const derived& from at r2) -> -, inlined at 1 places
//members     struct derived: 16 bytes
//members       0 struct base 
//members         struct base: 8 bytes
//members           0 int64 id
//members       8 struct other 
//members         struct other: 4 bytes
//members           0 int32 extra
//members       12 int32 own
//members     struct derived: 16 bytes
//members       0 struct base 
//members         struct base: 8 bytes
//members           0 int64 id
//members       8 struct other 
//members         struct other: 4 bytes
//members           0 int32 extra
//members       12 int32 own
//members _ZN5space4bothENS_5colorENS_3boxIiEEPNS1_INS_4pairEEEOiMS3_lb(enum color c at r0, struct box<int> b at r1,r2, struct box<space::pair>* bp at r3, int&& r at r4, long int pair::* m at r5, bool ok at sp+8) -> -, inlined at 1 places
//members     red = 0
//members     green = 200
//members     struct box<int>: 16 bytes
//members       0 int32 value
//members       8 struct box<int> * next
//members         struct box<int>: 16 bytes
//members           0 int32 value
//members           8 struct box<int> * next
//members             struct box<int>: 16 bytes
//members               0 int32 value
//members               8 struct box<int> * next
//members     struct box<space::pair>: 0 bytes, declared

// SPDX-License-Identifier: Apache-2.0
/* live.cc - a C++ program, built without frame pointers, that always runs below outer(): in
 * templates, the library's algorithms, libc's qsort(), and the handling of exceptions. */
#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

static unsigned state = 1;

static unsigned draw()
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

struct shape {
	virtual ~shape() = default;
	virtual int work(int n) = 0;
};

static int compare(const void *a, const void *b)
{
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

struct sorts : shape {
	NOINLINE int work(int n) override
	{
		std::vector<int> v(n);

		std::generate(v.begin(), v.end(), [] { return draw() % 10000; });
		qsort(v.data(), v.size(), sizeof(int), compare);
		return v[n / 2];
	}
};

struct counts : shape {
	NOINLINE int work(int n) override
	{
		std::map<std::string, int> words;

		while (n--)
			words[std::to_string(draw() % 500)]++;
		return words.size();
	}
};

struct throws : shape {
	NOINLINE int fails(int n)
	{
		char room[200];

		if (!n)
			throw std::runtime_error(std::string(room, 0) + "done");
		return fails(n - 1) + 1;
	}

	NOINLINE int work(int n) override
	{
		try {
			return fails(n % 20);
		} catch (const std::exception &e) {
			return e.what()[0];
		}
	}
};

extern "C" NOINLINE int outer(int n)
{
	sorts a;
	counts b;
	throws c;
	shape *all[] = {&a, &b, &c};
	int sum = 0;

	for (shape *s : all)
		sum += s->work(n);
	return sum + 1;
}

int main()
{
	volatile int sink;

	for (;;)
		sink = outer(1000);
}

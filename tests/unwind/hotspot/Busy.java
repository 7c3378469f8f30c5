// SPDX-License-Identifier: Apache-2.0
/* Busy.java - a program whose chains of calls are known: busy.py has the callers of each method.
 *
 *     Busy SECONDS */
import java.util.Arrays;
import java.util.HashMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;

public class Busy {
	static volatile long sink;

	static long leaf(int n) {
		long s = 0;

		for (int i = 0; i < n; i++)
			s += i * 31 ^ s;
		return s;
	}

	static long a(int n) {
		return leaf(n) + 1;
	}

	static long b(int n) {
		return a(n) + 1;
	}

	static long lambdas(int n) {
		Supplier<Long> s = () -> b(n);

		return s.get();
	}

	static long streams(int n) {
		return IntStream.range(0, 8).mapToLong(i -> b(n)).sum();
	}

	static long sorts() {
		Integer[] x = new Integer[64];

		for (int i = 0; i < x.length; i++)
			x[i] = i * 7919 % 64;
		Arrays.sort(x, (p, q) -> {
			sink += leaf(8);
			return p - q;
		});
		return x[0];
	}

	static long reflects(int n) throws Exception {
		return (Long) Busy.class.getDeclaredMethod("b", int.class).invoke(null, n);
	}

	static long strings(int n) {
		StringBuilder s = new StringBuilder();

		for (int i = 0; i < n; i++)
			s.append(i);
		return s.toString().hashCode();
	}

	static void thrower(int n) {
		if (n <= 0)
			throw new IllegalStateException("x");
		thrower(n - 1);
	}

	static long exceptions(int n) {
		try {
			thrower(n);
		} catch (IllegalStateException e) {
			return e.getStackTrace().length;
		}
		return 0;
	}

	static synchronized long synchronises(int n) {
		return b(n);
	}

	static long maps(int n) {
		HashMap<String, Integer> m = new HashMap<>();

		for (int i = 0; i < n; i++)
			m.merge("k" + i % 50, 1, Integer::sum);
		return m.size();
	}

	static long recurses(int n) {
		return n == 0 ? leaf(50) : recurses(n - 1) + 1;
	}

	public static void main(String[] args) throws Exception {
		long end = System.currentTimeMillis() + 1000L * Integer.parseInt(args[0]);

		while (System.currentTimeMillis() < end)
			sink += lambdas(300) + streams(100) + sorts() + reflects(300) + strings(200) + exceptions(15) +
				synchronises(300) + maps(200) + recurses(40);
	}
}

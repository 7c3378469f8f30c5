// SPDX-License-Identifier: Apache-2.0
/* Throws.java - exceptions that pass compiled methods.
 *
 *     Throws SECONDS */
public class Throws {
	static int passed;

	static class Light extends RuntimeException {
		Light() {
			super(null, null, false, false);
		}
	}

	static int thrower(int n) {
		if (n == 0)
			throw new Light();
		try {
			return thrower(n - 1) + 1;
		} finally {
			passed++;
		}
	}

	static int exceptions(int n) {
		try {
			return thrower(n);
		} catch (Light e) {
			return 1;
		}
	}

	public static void main(String[] args) {
		long end = System.currentTimeMillis() + 1000L * Integer.parseInt(args[0]);
		int sum = 0;

		while (System.currentTimeMillis() < end)
			for (int i = 0; i < 100; i++)
				sum += exceptions(3);
		System.out.println(sum);
	}
}

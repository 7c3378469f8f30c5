// SPDX-License-Identifier: Apache-2.0
/* Deep.java - a method that calls itself, then yields its CPU again and again, or reads more memory than caches hold.
 *
 *     Deep DEPTH yields|spins */
public class Deep {
	static int[] memory = new int[1 << 20];

	static int deep(int n, boolean yields) {
		if (n > 0)
			return deep(n - 1, yields) + 1;
		for (int at = 1;; at = at * 69069 + 12345) {
			if (yields)
				Thread.yield();
			else
				memory[at >>> 12]++;
		}
	}

	public static void main(String[] args) {
		deep(Integer.parseInt(args[0]), args[1].equals("yields"));
	}
}

// SPDX-License-Identifier: Apache-2.0
/* Unload.java - classes that are loaded, compiled, and unloaded again and again: copies of Work0000, whose names have
 * another number. unload.py knows that all numbers in a stack are equal.
 *
 *     Unload SECONDS */
import java.io.InputStream;

public class Unload {
	public static class Work0000 implements Runnable {
		static int sum;

		static int inner0000(int n) {
			int s = n;

			for (int i = 0; i < 200; i++)
				s = s * 31 + (i ^ s);
			return s;
		}

		static int work0000(int n) {
			return n == 0 ? 0 : inner0000(n) + work0000(n - 1);
		}

		public void run() {
			for (int i = 0; i < 600; i++)
				sum += work0000(20);
		}
	}

	static class Loader extends ClassLoader {
		Class<?> copy(byte[] bytes) {
			return defineClass(null, bytes, 0, bytes.length);
		}
	}

	static byte[] original() throws Exception {
		byte[] bytes = new byte[20000];
		int n = 0;

		try (InputStream in = Unload.class.getResourceAsStream("Unload$Work0000.class")) {
			for (int more; (more = in.read(bytes, n, bytes.length - n)) > 0;)
				n += more;
		}
		return java.util.Arrays.copyOf(bytes, n);
	}

	/* Names have the same length. */
	static byte[] numbered(byte[] from, int number) {
		byte[] bytes = from.clone(), digits = String.format("%04d", number % 10000).getBytes();

		for (int i = 4; i + 4 <= bytes.length; i++)
			if (from[i] == '0' && from[i + 1] == '0' && from[i + 2] == '0' && from[i + 3] == '0' &&
				(from[i - 1] == 'k' || from[i - 1] == 'r'))
				System.arraycopy(digits, 0, bytes, i, 4);
		return bytes;
	}

	static void copies(byte[] from, int number, long end) {
		try {
			for (; System.currentTimeMillis() < end; number += 2) {
				((Runnable) new Loader().copy(numbered(from, number)).getConstructor().newInstance()).run();
				if (number % 40 < 2)
					System.gc();
			}
		} catch (ReflectiveOperationException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		long end = System.currentTimeMillis() + 1000L * Integer.parseInt(args[0]);
		byte[] from = original();
		Thread other = new Thread(() -> copies(from, 1, end));

		other.start();
		copies(from, 2, end);
		other.join();
	}
}

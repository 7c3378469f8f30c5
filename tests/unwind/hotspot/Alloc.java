// SPDX-License-Identifier: Apache-2.0
/* Alloc.java - threads that allocate small and large arrays while they hold a lock; in streams, through a lambda.
 *
 *     Alloc SECONDS */
import java.util.function.Supplier;

public class Alloc {
	static class Lock {
	}

	static final Lock lock = new Lock();
	static volatile Object object;
	static volatile boolean ends;

	static void small() {
		for (int i = 0; i < 100000; i++)
			object = new int[20];
	}

	static void large() {
		for (int i = 0; i < 10; i++)
			object = new byte[8 << 20];
	}

	static int turns(Supplier<Integer> s) {
		return s.get();
	}

	static int holds() {
		synchronized (lock) {
			small();
			large();
			return 1;
		}
	}

	public static void main(String[] args) throws Exception {
		Thread[] threads = new Thread[3];

		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> {
				while (!ends)
					turns(() -> holds());
			});
			threads[i].start();
		}
		Thread.sleep(1000L * Integer.parseInt(args[0]));
		ends = true;
		for (Thread t : threads)
			t.join();
	}
}

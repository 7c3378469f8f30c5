// SPDX-License-Identifier: Apache-2.0
/* Virtual.java - virtual threads that park and continue, again and again: from then on their older frames are in the
 * heap. spin() is called by deep(), which calls itself 20 times, by turns(), by run().
 *
 *     Virtual SECONDS */
import java.util.concurrent.locks.LockSupport;

public class Virtual implements Runnable {
	static volatile long sink;
	static long end;

	static void spin() {
		for (int i = 0; i < 20000; i++)
			sink += i ^ sink;
	}

	static void deep(int n) {
		if (n > 0) {
			deep(n - 1);
			return;
		}
		for (int i = 0; i < 3; i++) {
			spin();
			LockSupport.parkNanos(1000);
			spin();
		}
	}

	static void turns() {
		while (System.currentTimeMillis() < end)
			deep(20);
	}

	@Override
	public void run() {
		turns();
	}

	public static void main(String[] args) throws Exception {
		Thread[] threads = new Thread[1000];

		end = System.currentTimeMillis() + 1000L * Integer.parseInt(args[0]);
		for (int i = 0; i < threads.length; i++) /* classes are compiled for JDK 8, too */
			threads[i] = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, new Virtual());
		for (Thread t : threads)
			t.join();
	}
}

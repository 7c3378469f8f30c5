// SPDX-License-Identifier: Apache-2.0
/* Core.java - threads that stay where they are until the process is killed, each in another kind of code. For each of
 * them the program prints a line: its kind, its thread id, and the stack that Java knows, innermost first; then a line
 * "there":
 *
 *     Core ROUNDS      each thread runs its code this often before it stays, so that it is compiled
 *
 * A loop that is interrupted anywhere is on one line. */
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.function.IntUnaryOperator;

public class Core implements Runnable {
	static volatile long limit = 20; /* rounds of each loop */
	static volatile long nanos = 1;
	static volatile int sink;
	static int rounds;
	static CountDownLatch warm, go = new CountDownLatch(1);

	/* ---- a loop, inlined into its callers ---- */

	static int leaf(int x) {
		for (long i = 0; i < limit; i++) x = x * 31 + (int) i;
		return x;
	}

	static int inner(int x) {
		return leaf(x + 1) ^ x;
	}

	static int middle(int x) {
		int n = inner(x);

		return n + 2;
	}

	static int spin(int x) {
		return 1 +
			middle(x);
	}

	/* ---- calls: no method calls itself ---- */

	static int even(int n) {
		return n <= 0 ? 1 : odd(n - 1) * 3 + n;
	}

	static int odd(int n) {
		return n <= 0 ? 2 : even(n - 1) * 5 - n;
	}

	static int turns(int x) {
		for (long i = 0; i < limit; i++) x += even((int) (i & 15));
		return x;
	}

	/* ---- virtual calls ---- */

	interface Shape {
		int area(int n);
	}

	static class Square implements Shape {
		public int area(int n) {
			return n * n + 1;
		}
	}

	static class Line extends Square {
		@Override
		public int area(int n) {
			return super.area(n) + 1;
		}
	}

	static int add(int n) {
		IntSupplier s = () -> n * 3;

		return s.getAsInt() + 1;
	}

	static final Shape[] all = { new Square(), new Line(), n -> add(n), new Square() };

	static int shapes(int x) {
		for (long i = 0; i < limit; i++) x += all[(int) (i & 3)].area(x);
		return x;
	}

	/* ---- HotSpot's own code: copies, texts, calls of C++ ---- */

	static final int[] from = new int[512], to = new int[512];

	static int copies(int x) {
		for (long i = 0; i < limit; i++) System.arraycopy(from, (int) (i & 3), to, 1, 500 - (int) (i & 255));
		return x;
	}

	static int clock(int x) {
		for (long i = 0; i < limit; i++) x += (int) System.nanoTime();
		return x;
	}

	static int texts(int x) {
		for (long i = 0; i < limit; i++) x += ("a text of " + i).indexOf("f 3") + String.valueOf(i).hashCode();
		return x;
	}

	/* ---- threads that wait ---- */

	static synchronized int sorted(int x) {
		Integer[] numbers = { x, 1 };

		Arrays.sort(numbers, (a, b) -> {
			LockSupport.parkNanos(nanos);
			return a - b;
		});
		return numbers[0];
	}

	static InputStream in;
	static Method method;

	public static int reflected() throws Exception {
		return in.read();
	}

	static int reflect() {
		try {
			return (Integer) method.invoke(null);
		} catch (Exception e) {
			throw new RuntimeException(e);
		}
	}

	@SuppressWarnings("removal")
	static int reads(int x) {
		return x + AccessController.doPrivileged((PrivilegedAction<Integer>) () -> reflect());
	}

	/* ---- compiled code that becomes invalid: the only class that overrides the method is loaded later ---- */

	static class Base {
		int hook(int n) {
			LockSupport.parkNanos(nanos);
			return n;
		}
	}

	static class Derived extends Base {
		@Override
		int hook(int n) {
			return n + 1;
		}
	}

	static Base base = new Base();

	static int invalid(int x) {
		int n = base.hook(x);

		return n + 1;
	}

	/* ---- the threads ---- */

	final String kind;
	final IntUnaryOperator code;
	final Thread thread;
	volatile String tid;

	Core(String kind, IntUnaryOperator code) {
		this.kind = kind;
		this.code = code;
		this.thread = new Thread(this, kind);
		thread.start();
	}

	@Override
	public void run() {
		try {
			tid = Files.readSymbolicLink(Paths.get("/proc/thread-self")).getFileName().toString();
			for (int i = 0; i < rounds; i++)
				sink += code.applyAsInt(i);
			warm.countDown();
			go.await();
		} catch (Exception e) {
			throw new RuntimeException(e);
		}
		sink += code.applyAsInt(1);
	}

	void print() {
		StringBuilder line = new StringBuilder(kind).append('\t').append(tid);

		for (StackTraceElement e : thread.getStackTrace())
			line.append('\t').append(e.getClassName()).append('.').append(e.getMethodName()).append(' ')
				.append(e.getFileName()).append(':').append(e.getLineNumber());
		System.out.println(line);
	}

	public static void main(String[] args) throws Exception {
		rounds = Integer.parseInt(args[0]);
		in = new FileInputStream("/dev/zero");
		method = Core.class.getMethod("reflected");
		warm = new CountDownLatch(9);
		Core[] threads = { new Core("spin", Core::spin), new Core("turns", Core::turns), new Core("shapes", Core::shapes),
			new Core("copies", Core::copies), new Core("clock", Core::clock), new Core("texts", Core::texts),
			new Core("sorted", Core::sorted), new Core("reads", Core::reads), new Core("invalid", Core::invalid) };

		warm.await();
		in = new FileInputStream(FileDescriptor.in);
		nanos = Long.MAX_VALUE;
		limit = Long.MAX_VALUE;
		go.countDown();
		Thread.sleep(4000);
		Class.forName("Core$Derived");
		for (Core c : threads)
			c.print();
		System.out.println("there");
		Thread.sleep(1000000);
	}
}

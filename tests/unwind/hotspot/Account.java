// SPDX-License-Identifier: Apache-2.0
/* Account.java - a program that keeps an account of its own stacks: mark() prints the stack that Java knows, then asks
 * for a file whose name is the number of the account; account.py compares it with the stack that strata saw there.
 *
 *     Account NUMBER      begins at a byte of its input, and ends at another after so many accounts */
import java.io.File;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Arrays;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;

public class Account {
	static int calls, marks, wanted;
	static int every = 1;
	static volatile int sink;
	static final StringBuilder out = new StringBuilder();

	/* The account is of the callers of this method. */
	public static int mark() {
		StackTraceElement[] stack = new Throwable().getStackTrace();
		StringBuilder line = new StringBuilder("account-").append(marks);

		for (int i = 1; i < stack.length; i++)
			line.append('\t').append(stack[i].getClassName()).append('.').append(stack[i].getMethodName())
				.append(' ').append(stack[i].getFileName()).append(':').append(stack[i].getLineNumber());
		new File("/account-" + marks++).exists();
		out.append(line).append('\n');
		return 1;
	}

	static int maybe() {
		if (++calls % every == 0)
			return mark();
		return 0;
	}

	/* ---- small methods, which are inlined ---- */

	static int three() {
		return maybe() + 1;
	}

	static int two() {
		int n = three();

		return n + 1;
	}

	static int one() {
		return 1 +
			two();
	}

	int field = 3;

	int instance(int n) {
		if (n <= 0)
			return field + one();
		return instance(n - 1) +
			field;
	}

	static int loop(int n) { /* replaced while it runs */
		int sum = 0;

		for (int i = 0; i < n; i++) {
			sum += i ^ sum;
			if (i % 997 == 0)
				sum += maybe();
		}
		return sum;
	}

	/* ---- virtual calls ---- */

	interface Shape {
		int area();
	}

	static class Square implements Shape {
		public int area() {
			return maybe() + 4;
		}
	}

	static class Circle implements Shape {
		public int area() {
			return 3 * one();
		}
	}

	static class Line extends Square {
		@Override
		public int area() {
			return super.area() + 1;
		}
	}

	static final Shape[] shapes = { new Square(), new Circle(), new Line() };

	static int virtual() {
		int sum = 0;

		for (Shape s : shapes)
			sum += s.area();
		return sum;
	}

	/* ---- exceptions, monitors ---- */

	static int thrower(int n) {
		if (n == 0)
			throw new IllegalStateException("n");
		return thrower(n - 1) + 1;
	}

	static int exceptional() {
		try {
			return thrower(3);
		} catch (IllegalStateException e) {
			return maybe();
		} finally {
			sink += maybe();
		}
	}

	static final Object lock = new Object();

	static synchronized int synchronised() {
		synchronized (lock) {
			return one();
		}
	}

	/* ---- lambdas, streams, comparators ---- */

	static int lambda(int n) {
		IntSupplier s = () -> one() + n;
		IntSupplier t = Account::two;

		return s.getAsInt() + t.getAsInt();
	}

	static int stream() {
		return IntStream.range(0, 4).map(i -> i + maybe()).filter(i -> i > 1).sum();
	}

	static int sort() {
		Integer[] all = new Integer[40];
		TreeMap<Integer, Integer> map = new TreeMap<>((a, b) -> a - b + 0 * maybe());

		for (int i = 0; i < all.length; i++)
			all[i] = i * 7919 % 40;
		Arrays.sort(all, (a, b) -> {
			sink += maybe();
			return a - b;
		});
		for (int i = 0; i < 8; i++)
			map.put(all[i], i);
		return map.size();
	}

	/* ---- C++ below: reflection, privileged actions, class initialisers ---- */

	public static int reflected() {
		return one();
	}

	static Method method;

	static int reflect() throws Exception {
		if (calls % 64 == 0)
			method = Account.class.getMethod("reflected");
		return (Integer) method.invoke(null);
	}

	@SuppressWarnings("removal")
	static int privileged() {
		return AccessController.doPrivileged((PrivilegedAction<Integer>) () -> two());
	}

	public static class Initialised {
		static final int value = Account.mark();
	}

	static class Loader extends ClassLoader {
		Class<?> again() throws Exception {
			java.io.InputStream in = Account.class.getResourceAsStream("Account$Initialised.class");
			byte[] b = new byte[10000];
			int n = in.read(b);

			in.close();
			return defineClass("Account$Initialised", b, 0, n);
		}

		@Override
		protected Class<?> findClass(String name) throws ClassNotFoundException {
			throw new ClassNotFoundException(name);
		}
	}

	static int initialise() throws Exception {
		Class<?> c = new Loader().again();

		return Class.forName(c.getName(), true, c.getClassLoader()).hashCode();
	}

	static void round(int i) throws Exception {
		sink += one() + new Account().instance(5) + virtual() + exceptional() + synchronised() + lambda(i) + stream() +
			sort() + reflect() + privileged();
		if (i % 50 == 0)
			sink += loop(20000);
		if (i % 200 == 0)
			sink += initialise();
	}

	public static void main(String[] args) throws Exception {
		wanted = Integer.parseInt(args[0]);
		method = Account.class.getMethod("reflected");
		System.in.read();
		/* First each call, then fewer and fewer: when the methods are compiled, many calls come between two accounts. */
		for (int i = 0; marks < wanted; i++) {
			every = marks < wanted / 3 ? 7 : marks < wanted * 2 / 3 ? 61 : 509;
			round(i);
		}
		PrintStream to = new PrintStream(System.out, false, "UTF-8");
		to.print(out);
		to.println("end");
		to.flush();
		System.in.read(); /* strata reads lines while the process lives */
	}
}

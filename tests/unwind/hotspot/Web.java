// SPDX-License-Identifier: Apache-2.0
/* Web.java - Tomcat under load: two threads ask its servlet for pages, as fast as they can, for so many seconds.
 *
 *     Web DIRECTORY SECONDS      prints "begun" when the first page has come */
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.Map;
import java.util.TreeMap;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

public class Web {
	static class Page extends HttpServlet {
		@Override
		protected void doGet(HttpServletRequest request, HttpServletResponse response) throws java.io.IOException {
			Map<String, Integer> words = new TreeMap<>();
			PrintWriter out;

			response.setContentType("text/html; charset=UTF-8");
			out = response.getWriter();
			for (int i = 0; i < 200; i++)
				words.merge(request.getParameter("word") + i % 40, i, Integer::sum);
			for (Map.Entry<String, Integer> e : words.entrySet())
				out.printf("<p>%s: %d</p>%n", e.getKey(), e.getValue());
		}
	}

	static void asks(String url, long end) {
		byte[] page = new byte[1 << 16];

		try {
			do {
				HttpURLConnection c = (HttpURLConnection) new URL(url).openConnection();

				try (InputStream in = c.getInputStream()) {
					while (in.read(page) > 0)
						continue;
				}
			} while (System.currentTimeMillis() < end);
		} catch (java.io.IOException e) {
			throw new java.io.UncheckedIOException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		Tomcat tomcat = new Tomcat();
		Context context;
		long end = System.currentTimeMillis() + 1000L * Integer.parseInt(args[1]);
		Thread[] threads = new Thread[2];

		tomcat.setBaseDir(args[0]);
		tomcat.setPort(0);
		context = tomcat.addContext("", args[0]);
		Tomcat.addServlet(context, "page", new Page());
		context.addServletMappingDecoded("/page", "page");
		tomcat.start();
		String url = "http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/page?word=w";

		tomcat.getConnector();
		asks(url, 0);
		System.out.println("begun");
		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> asks(url, end), "asks");
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		Runtime.getRuntime().exit(0);
	}
}

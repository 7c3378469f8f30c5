// SPDX-License-Identifier: Apache-2.0
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.TreeMap;
import java.util.concurrent.Executors;

class Server {
	static byte[] page() {
		var words = new TreeMap<String, Integer>();
		for (int i = 0; i < 2000; i++)
			words.merge("word " + i % 300, 1, Integer::sum);
		return words.toString().getBytes();
	}

	public static void main(String[] args) throws Exception {
		var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
		server.createContext("/", exchange -> {
			byte[] page = page();
			exchange.sendResponseHeaders(200, page.length);
			exchange.getResponseBody().write(page);
			exchange.close();
		});
		server.setExecutor(Executors.newFixedThreadPool(4));
		server.start();
	}
}

// SPDX-License-Identifier: Apache-2.0
// Prices of goods. Fault: all goods of a shop have the same hash code.
import java.util.HashMap;
import java.util.Map;

public class Prices {
	static class Good {
		final int shop, number;

		Good(int shop, int number) {
			this.shop = shop;
			this.number = number;
		}

		@Override
		public int hashCode() {
			return shop;
		}

		@Override
		public boolean equals(Object other) {
			return other instanceof Good && ((Good) other).shop == shop && ((Good) other).number == number;
		}
	}

	static final Map<Good, Integer> prices = new HashMap<>();

	static int price(int shop, int number) {
		return prices.get(new Good(shop, number));
	}

	static int bill() {
		int sum = 0;

		for (int number = 0; number < 1000; number++)
			sum += price(number % 4, number);
		return sum;
	}

	public static void main(String[] args) {
		for (int number = 0; number < 1000; number++)
			prices.put(new Good(number % 4, number), number);
		while (bill() > 0)
			;
	}
}

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>

int main(int argc, char **argv)
{
	std::map<std::string, std::vector<int>> seen;
	std::regex word("[a-z]+|([0-9]+)");

	for (int i = 0; i < argc; i++)
		for (std::cregex_iterator it(argv[i], argv[i] + 3, word), end; it != end; ++it)
			seen[it->str()].push_back(i);
	for (auto &[text, at] : seen)
		std::sort(at.begin(), at.end(), [](int a, int b) { return a > b; });
	std::cout << seen.size();
}

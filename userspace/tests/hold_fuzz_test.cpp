// SPDX-License-Identifier: GPL-2.0
// The fuzz target over a few thousand inputs that are always the same: it
// compiles, and holds what it asks for.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace
{

void feed(const std::string &text)
{
	LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
}

TEST(HoldFuzz, HoldsForMutations)
{
	const std::string seeds[] = {
		"",
		"wsfs-hold 1\nlist\n",
		"wsfs-hold 1\nhold\nname=db\nstreams=2\ngroup=7\nkeep=1\n",
		"wsfs-hold 1\ntake\nname=db\n",
		"wsfs-hold 1\nok\nheld=db 7 nvme0n1 2 0,1\nheld=x - - 1 -\n",
		"wsfs-hold 1\nerror\nerrno=2\npath=db\ncall=c\nwhy=w\nadvice=a\n",
		"wsfs-hold 1\nerror\nerrno=0\npath=db\ncall=\nwhy=w\nadvice=\n",
		"db/7/0/2/nvme0n1",
		"db/-/1/2/",
	};
	constexpr int rounds = 2000;
	constexpr unsigned characters = 256;
	std::mt19937 random(1);

	for (const std::string &seed : seeds) {
		feed(seed);
		for (int i = 0; i < rounds; i++) {
			std::string text = seed;

			for (unsigned changes = random() % 4; changes > 0; changes--) {
				const std::size_t at = text.empty() ? 0 : random() % text.size();
				const char c = static_cast<char>(random() % characters);

				switch (random() % 3) {
				case 0:
					text.insert(at, 1, c);
					break;
				case 1:
					text.erase(at, random() % 8);
					break;
				default:
					if (!text.empty())
						text[at] = c;
				}
			}
			feed(text);
		}
	}
}

} // namespace

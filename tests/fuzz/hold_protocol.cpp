// SPDX-License-Identifier: GPL-2.0
// libFuzzer target: what wsfs-holdd and its clients read from each other, and
// the names that the broker reads from the service manager's store. What is
// accepted has to come back as it was, and no request of somebody who is not
// root may be granted anything.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <hold/protocol.h>
#include <hold/table.h>

#include "fuzz.hpp"

namespace
{

// Knows no ioctl, so that nothing can be reserved.
class NoKernel final : public ws::Kernel
{
public:
	int ioctl(int /*fd*/, unsigned long /*request*/, void * /*argument*/) noexcept override
	{
		return -25; // ENOTTY
	}
	std::optional<std::uint64_t> mount_id(int /*fd*/) noexcept override { return std::nullopt; }
};

class NoStore final : public hold::Store
{
public:
	void keep(const std::string & /*name*/, int /*fd*/) noexcept override { std::abort(); }
	void drop(const std::string & /*name*/) noexcept override {}
};

void try_request(std::string_view text)
{
	try {
		const hold::Request request = hold::parse_request(text);

		require(hold::parse_request(hold::encode(request)) == request);
	} catch (const ws::Error &) {
		// Refused, as it may be.
	}
}

void try_reply(std::string_view text)
{
	try {
		const hold::Reply reply = hold::parse_reply(text);
		const hold::Reply back = hold::parse_reply(hold::encode(reply));

		require(back.held == reply.held &&
			back.error.has_value() == reply.error.has_value());
	} catch (const ws::Error &) {
		// Refused, as it may be.
	}
}

void try_table(std::string_view text)
{
	NoKernel kernel;
	NoStore store;
	hold::Table table(ws::Host{.kernel = kernel}, store);
	const hold::Packet packet{.text = std::string(text), .fds = {}};

	for (const uid_t uid : {0U, 1000U}) {
		const hold::Answer answer = table.answer({.uid = uid, .groups = {uid}}, packet);

		// Whatever is answered can be read.
		hold::parse_reply(hold::encode(answer.reply));
		require(answer.fds.empty() && table.empty());
	}
}

void try_stored_name(std::string_view text)
{
	const auto stored = hold::parse_stored_name(text);

	if (!stored)
		return;
	const auto back = hold::parse_stored_name(hold::encode(*stored));
	require(back && back->name == stored->name && back->group == stored->group &&
		back->slot == stored->slot && back->count == stored->count &&
		back->dev == stored->dev);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view text = text_of(data, size);

	try_request(text);
	try_reply(text);
	try_table(text);
	try_stored_name(text);
	return 0;
}

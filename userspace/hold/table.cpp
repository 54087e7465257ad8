// SPDX-License-Identifier: GPL-2.0
#include "table.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include <ws/error.h>
#include <ws/filesystem.h>
#include <ws/parse.h>
#include <ws/stream.h>

namespace hold
{

namespace
{

constexpr std::size_t max_reservations = 256;
// As FileDescriptorStoreMax= in the unit, and well below its LimitNOFILE=.
constexpr std::size_t max_total = 1024;

void require_root(const Peer &peer, const std::string &name)
{
	if (!peer.is_root())
		throw ws::Error(name, "wsfs-holdd", EPERM,
				"only root may hold and release streams");
}

// A name without what the store and the protocol use for themselves.
std::string plain_dev(const std::string &dev)
{
	const auto bad = [](char c) { return c <= ' ' || c > '~' || c == '/' || c == ':'; };

	return std::ranges::any_of(dev, bad) ? std::string() : dev;
}

} // namespace

Table::Reservation &Table::find(const std::string &name)
{
	const auto found = reservations_.find(name);

	if (found == reservations_.end())
		throw ws::Error(
			name, "wsfs-holdd", ENOENT,
			"no streams are held by this name; 'wsctl hold' lists those that are");
	return found->second;
}

Held Table::shown(const std::string &name, const Reservation &reservation) const
{
	Held held{.name = name,
		  .group = reservation.group,
		  .dev = reservation.dev,
		  .ids = {},
		  .streams = static_cast<std::uint32_t>(reservation.streams.size())};

	for (const ws::UniqueFd &stream : reservation.streams) {
		const auto info = ws::stream_fdinfo(host_, stream.get());

		if (!info) {
			held.ids.clear();
			break;
		}
		held.ids.push_back(info->id);
	}
	return held;
}

void Table::reserve(const Peer &peer, const Request &request, const Packet &packet, Answer &answer)
{
	Reservation reservation;

	require_root(peer, request.name);
	if (packet.fds.size() != 1)
		throw ws::Error(request.name, "wsfs-holdd", EINVAL,
				"a request to hold comes with one open file of the filesystem");
	const int fd = packet.fds[0].get();
	const ws::Filesystem filesystem = ws::Filesystem::of(host_, fd, request.name);
	const std::string dev = plain_dev(filesystem.dev);

	if (const auto found = reservations_.find(request.name); found != reservations_.end()) {
		const Reservation &old = found->second;
		const bool same = old.group == request.group && old.dev == dev &&
				  old.streams.size() == request.streams;

		if (!request.keep || !same)
			throw ws::Error(request.name, "wsfs-holdd", EEXIST,
					request.keep
						? "what is held by this name has another number of "
						  "streams, group or filesystem; release it first"
						: "release it first, or use another name");
		answer.reply.held.push_back(shown(request.name, old));
		return;
	}
	if (reservations_.size() >= max_reservations)
		throw ws::Error(request.name, "wsfs-holdd", ENOSPC,
				fmt::format("{} names are held already", max_reservations));
	std::size_t total = request.streams;
	for (const auto &[name, other] : reservations_)
		total += other.streams.size();
	if (total > max_total)
		throw ws::Error(request.name, "wsfs-holdd", ENOSPC,
				fmt::format("it holds {} streams at most", max_total));
	reservation.group = request.group;
	reservation.dev = dev;
	while (reservation.streams.size() < request.streams)
		reservation.streams.push_back(
			ws::Stream::reserve(host_, fd, request.name).take_fd());
	answer.reply.held.push_back(shown(request.name, reservation));
	for (std::uint32_t slot = 0; slot < request.streams; slot++)
		store_.keep(encode(StoredName{.name = request.name,
					      .group = request.group,
					      .slot = slot,
					      .count = request.streams,
					      .dev = dev}),
			    reservation.streams[slot].get());
	reservations_.emplace(request.name, std::move(reservation));
}

void Table::take(const Peer &peer, const Request &request, Answer &answer)
{
	const Reservation &reservation = find(request.name);

	if (!peer.is_root() && !(reservation.group && peer.in_group(*reservation.group)))
		throw ws::Error(
			request.name, "wsfs-holdd", EACCES,
			reservation.group
				? fmt::format("these streams are for the members of group {}; "
					      "add the user to it, and log in again",
					      *reservation.group)
				: "these streams are held for root alone; hold them with "
				  "--group GROUP");
	answer.reply.held.push_back(shown(request.name, reservation));
	for (const ws::UniqueFd &stream : reservation.streams)
		answer.fds.push_back(stream.get());
}

void Table::release(const Peer &peer, const Request &request)
{
	require_root(peer, request.name);
	const Reservation &reservation = find(request.name);
	const auto count = static_cast<std::uint32_t>(reservation.streams.size());

	for (std::uint32_t slot = 0; slot < count; slot++)
		store_.drop(encode(StoredName{.name = request.name,
					      .group = reservation.group,
					      .slot = slot,
					      .count = count,
					      .dev = reservation.dev}));
	reservations_.erase(request.name);
}

Answer Table::answer(const Peer &peer, const Packet &packet)
{
	Answer answer;

	try {
		if (packet.cut)
			throw ws::Error("wsfs-hold", "more was sent than a request may have",
					"wsctl and wsfs-holdd may be of different versions");
		const Request request = parse_request(packet.text);

		switch (request.verb) {
		case Verb::hold:
			reserve(peer, request, packet, answer);
			break;
		case Verb::take:
			take(peer, request, answer);
			break;
		case Verb::release:
			release(peer, request);
			break;
		case Verb::list:
			for (const auto &[name, reservation] : reservations_)
				answer.reply.held.push_back(shown(name, reservation));
			break;
		}
	} catch (const ws::Error &error) {
		answer = {};
		answer.reply.error = error;
	}
	return answer;
}

bool Table::restore(const std::string &name, ws::UniqueFd fd)
{
	const auto stored = parse_stored_name(name);

	if (!stored || !fd)
		return false;
	Reservation &reservation = reservations_[stored->name];
	reservation.group = stored->group;
	reservation.dev = stored->dev;
	if (reservation.streams.size() < stored->count)
		reservation.streams.resize(stored->count);
	reservation.streams[stored->slot] = std::move(fd);
	return true;
}

std::vector<std::string> Table::finish_restore()
{
	std::vector<std::string> lost;

	std::erase_if(reservations_, [&](const auto &entry) {
		const auto &[name, reservation] = entry;
		const bool whole = std::ranges::all_of(
			reservation.streams, [](const ws::UniqueFd &fd) { return bool(fd); });

		if (whole)
			return false;
		const auto count = static_cast<std::uint32_t>(reservation.streams.size());
		for (std::uint32_t slot = 0; slot < count; slot++)
			store_.drop(encode(StoredName{.name = name,
						      .group = reservation.group,
						      .slot = slot,
						      .count = count,
						      .dev = reservation.dev}));
		lost.push_back(name);
		return true;
	});
	return lost;
}

std::string encode(const StoredName &stored)
{
	return fmt::format("{}/{}/{}/{}/{}", stored.name,
			   stored.group ? std::to_string(*stored.group) : "-", stored.slot,
			   stored.count, stored.dev);
}

std::optional<StoredName> parse_stored_name(std::string_view text)
{
	std::vector<std::string_view> words;
	StoredName stored;

	for (std::size_t begin = 0; begin <= text.size();) {
		const std::size_t end = std::min(text.find('/', begin), text.size());

		words.push_back(text.substr(begin, end - begin));
		begin = end + 1;
	}
	if (words.size() != 5 || !is_name(words[0]))
		return std::nullopt;
	const auto slot = ws::parse_number(words[2], max_streams - 1);
	const auto count = ws::parse_number(words[3], max_streams);
	if (!slot || !count || *slot >= *count)
		return std::nullopt;
	if (words[1] != "-") {
		stored.group = ws::parse_id(words[1]);
		if (!stored.group)
			return std::nullopt;
	}
	stored.name = words[0];
	stored.slot = static_cast<std::uint32_t>(*slot);
	stored.count = static_cast<std::uint32_t>(*count);
	stored.dev = plain_dev(std::string(words[4]));
	return stored;
}

} // namespace hold

// SPDX-License-Identifier: GPL-2.0
// Donors: files without a name that live in a wanted AG, whose blocks other files
// are to have.
//
// XFS makes a file in the AG of its directory, and directories in each AG in turn.
// So directories are made, and removed at once, until one lies in the right AG;
// the file made in it, which never had a name, stays there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ws/ag_set.h>
#include <ws/kernel.h>
#include <ws/unique_fd.h>

#include "placement.h"

namespace wsctl
{

// A donor with room, ours for a while; emptied when the object goes.
class DonorLoan
{
public:
	explicit DonorLoan(int fd) noexcept : fd_(fd) {}
	DonorLoan(const DonorLoan &) = delete;
	DonorLoan &operator=(const DonorLoan &) = delete;
	DonorLoan(DonorLoan &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	DonorLoan &operator=(DonorLoan &&) = delete;
	~DonorLoan();

	[[nodiscard]] int fd() const noexcept { return fd_; }

private:
	int fd_;
};

class Donors
{
public:
	explicit Donors(const ws::Host &host) : host_(host) {}

	// A donor for @file with @bytes allocated, all of it in AGs of @home, of
	// which those in front of @order are tried first. Nothing where there is no
	// room. Throws ws::Error where donors cannot be had at all.
	std::optional<DonorLoan> lend(const OpenFile &file, const ws::AgSet &home,
				      const std::vector<std::uint32_t> &order, std::uint64_t bytes);

private:
	using Place = std::pair<dev_t, std::uint32_t>;

	int find(const OpenFile &file, dev_t device, const ws::AgSet &home, std::uint32_t ag);
	void make(const OpenFile &file, const ws::AgSet &home, const Place &wanted);
	void make_one(const OpenFile &file, const ws::AgSet &home, const Place &wanted,
		      const std::string &base);
	ws::UniqueFd make_file(const OpenFile &file, int dir, std::uint32_t ag) const;
	[[nodiscard]] std::vector<std::string> bases(const OpenFile &file) const;
	[[nodiscard]] bool is_home(const OpenFile &file, const ws::AgSet &home, int donor) const;

	ws::Host host_;
	std::map<Place, ws::UniqueFd> donors_;
	std::set<Place> missing_; // AGs in which none could be made
};

} // namespace wsctl

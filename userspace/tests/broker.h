// SPDX-License-Identifier: GPL-2.0
// A broker that runs in a thread, on a fake host.
#pragma once

#include <map>
#include <string>
#include <thread>

#include <hold/server.h>
#include <hold/table.h>

#include "fake_host.h"

class FakeStore final : public hold::Store
{
public:
	void keep(const std::string &name, int fd) noexcept override;
	void drop(const std::string &name) noexcept override;

	std::map<std::string, ws::UniqueFd> kept;
};

class Broker
{
public:
	explicit Broker(FakeHost &fake, const hold::Limits &limits = {});
	Broker(const Broker &) = delete;
	Broker &operator=(const Broker &) = delete;
	~Broker();

	[[nodiscard]] const std::string &path() const noexcept { return path_; }

	FakeStore store;
	hold::Table table;

private:
	hold::Server server_;
	std::string path_;
	ws::UniqueFd listener_;
	ws::UniqueFd stop_read_;
	ws::UniqueFd stop_write_;
	std::thread thread_;
};

// Connected to it; throws where it does not listen.
ws::UniqueFd connect_to_broker(const std::string &path);

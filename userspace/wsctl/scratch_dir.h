// SPDX-License-Identifier: GPL-2.0
// A directory of our own, gone with the object.
#pragma once

#include <ostream>
#include <string>

namespace wsctl
{

class ScratchDir
{
public:
	// Below @parent. Where it cannot be removed that is said on @err. Throws
	// ws::Error.
	ScratchDir(const std::string &parent, std::ostream &err);
	ScratchDir(const ScratchDir &) = delete;
	ScratchDir &operator=(const ScratchDir &) = delete;
	~ScratchDir();

	[[nodiscard]] const std::string &path() const noexcept { return path_; }
	// Leave it and what is in it behind.
	void keep() noexcept { kept_ = true; }

private:
	std::string path_;
	std::ostream &err_;
	bool kept_ = false;
};

} // namespace wsctl

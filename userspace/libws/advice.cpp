// SPDX-License-Identifier: GPL-2.0
// One table: what to do where a call failed.
#include <ws/error.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace ws
{

namespace
{

struct Advice {
	std::string_view call; // empty: any call
	int code;
	std::string_view text;
};

constexpr std::string_view no_streams =
	"the filesystem has no write streams; mount it with: mount -t wsfs LOWERDIR MOUNTPOINT";

constexpr std::array table{
	Advice{"FS_IOC_WRITE_STREAM_ALLOC", EPERM,
	       "reserving a stream takes CAP_SYS_ADMIN; run as root, or set the streams that "
	       "'wsctl run' hands to an unprivileged command"},
	Advice{"FS_IOC_WRITE_STREAM_ALLOC", ENOSPC,
	       "every stream is reserved; 'wsctl info' shows them. End a holder, or mount with "
	       "more: -o streams=N"},
	Advice{"FS_IOC_WRITE_STREAM_ALLOC", EOPNOTSUPP,
	       "no streams here; wsfs has some over XFS only, and not with -o streams=0"},
	Advice{"FS_IOC_WRITE_STREAM_ALLOC", EMFILE, "raise the limit of open files: ulimit -n"},
	Advice{"FS_IOC_WRITE_STREAM_ALLOC", ENOTTY, no_streams},
	Advice{"FS_IOC_WRITE_STREAM_GET_MAX", ENOTTY, no_streams},
	Advice{"FS_IOC_WRITE_STREAM_SET", ENOTTY, no_streams},
	Advice{"FS_IOC_WRITE_STREAM_SET", EOPNOTSUPP, no_streams},
	Advice{"FS_IOC_WRITE_STREAM_SET", EPERM,
	       "only the owner of a file that is not immutable may set its stream; see 'ls -l' "
	       "and 'lsattr'"},
	Advice{"FS_IOC_WRITE_STREAM_SET", EXDEV,
	       "the stream belongs to another filesystem or device; reserve one on the file's own"},
	Advice{"FS_IOC_WRITE_STREAM_SET", EBUSY,
	       "the file has a write life time hint or an XFS filestream, which exclude streams; "
	       "reset the hint (RWH_WRITE_LIFE_NOT_SET) or use a file outside the filestream "
	       "directory"},
	Advice{"FS_IOC_WRITE_STREAM_SET", EINVAL,
	       "the descriptor is no write stream, or the file is not a regular file"},
	Advice{"FS_IOC_WRITE_STREAM_SET", EBADF,
	       "the stream's descriptor is not open; was it closed on the way to wsctl?"},
	Advice{"WSFS_IOC_SET_DIR", ENOTTY,
	       "only directories on wsfs have a place for their files; mount it with: mount -t "
	       "wsfs LOWERDIR MOUNTPOINT"},
	Advice{"WSFS_IOC_SET_DIR", EPERM,
	       "only the owner of a directory that is not immutable may do this; see 'ls -ld' "
	       "and 'lsattr -d'"},
	Advice{"WSFS_IOC_SET_DIR", EXDEV,
	       "the stream belongs to another filesystem, or files made here lie on the realtime "
	       "device; reserve a stream on the directory's own device"},
	Advice{"WSFS_IOC_SET_DIR", EBUSY,
	       "files made here are in an XFS filestream, which excludes streams; take the flag "
	       "off the directory (xfs_io -c 'chattr -S')"},
	Advice{"WSFS_IOC_SET_DIR", EOPNOTSUPP,
	       "no streams here; wsfs has some over XFS only, and not with -o streams=0"},
	Advice{"WSFS_IOC_SET_DIR", EBADF,
	       "the stream's descriptor is not open; was it closed on the way to wsctl?"},
	Advice{"WSFS_IOC_SET_DIR", EINVAL, "the descriptor is no write stream"},
	Advice{"WSFS_IOC_SET_DIR", ENOTDIR, "name a directory"},
	Advice{"WSFS_IOC_GEOMETRY", ENOTTY,
	       "not a wsfs mount; 'wsctl info' without a path lists those"},
	Advice{"WSFS_IOC_FILE_INFO", ENOTTY,
	       "only wsfs tells a file's stream; use a path below a wsfs mount"},
	Advice{"WSFS_IOC_FILE_INFO", EOPNOTSUPP,
	       "only wsfs tells a file's stream; use a path below a wsfs mount"},
	Advice{"FS_IOC_GETFSMAP", EPERM, "asking for free space takes CAP_SYS_ADMIN; run as root"},
	Advice{"XFS_IOC_FSGEOMETRY", ENOTTY, "use a path on a wsfs or XFS filesystem"},
	Advice{"XFS_IOC_FSGEOMETRY", EOPNOTSUPP, "use a path on a wsfs or XFS filesystem"},
	Advice{"FS_IOC_FIEMAP", EOPNOTSUPP, "this filesystem does not tell where data lies"},
	Advice{"", ENOENT, "check the spelling"},
	Advice{"", EACCES, "check the permissions of the file and of the directories above"},
	Advice{"", EROFS, "the filesystem is mounted read-only"},
	Advice{"", ETXTBSY, "the file is being executed; use another copy"},
	Advice{"", EMFILE, "raise the limit of open files: ulimit -n"},
	Advice{"", EIO, "the kernel log (dmesg) says more"},
};

} // namespace

std::string advice_for(std::string_view call, int code)
{
	const auto *found = std::ranges::find_if(table, [&](const Advice &entry) {
		return entry.code == code && (entry.call.empty() || entry.call == call);
	});

	return found == table.end() ? std::string() : std::string(found->text);
}

} // namespace ws

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libws for C: write streams in a handful of calls. See ws(3).
 *
 *	cc program.c $(pkg-config --cflags --libs libws)
 *
 * A program reserves a stream through any file or directory of the device,
 * and sets it on its files while they are empty. The stream is its own until
 * the last copy of the stream's descriptor is closed.
 *
 * Every call that fails returns -1 and sets errno. ws_last_error() then tells
 * in words what failed, on which path and why, ws_last_advice() what to do.
 * Both are about the last call that failed in the calling thread. All calls
 * may be made from any thread.
 */
#ifndef WS_H
#define WS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WS_API __attribute__((visibility("default")))

/* The number of streams of the device that the open file @fd is placed on. */
WS_API int ws_streams_available(int fd);

/*
 * Reserve any free stream of that device. Returns a close-on-exec descriptor,
 * which may be handed to other processes. Takes CAP_SYS_ADMIN.
 */
WS_API int ws_stream_reserve(int fd);

/*
 * The descriptor of the stream in @slot (from 0 on) of the "wsctl run" that
 * started this process; it belongs to the process from the start.
 */
WS_API int ws_stream_inherited(unsigned int slot);

/* Close this copy of the descriptor; the last copy frees the stream. */
WS_API int ws_stream_release(int stream_fd);

/* Set the stream on the regular file @fd, which is open for writing. */
WS_API int ws_stream_set(int fd, int stream_fd);

/* Take the file's stream away. What is written stays where it is. */
WS_API int ws_stream_clear(int fd);

/*
 * Structures may grow: pass sizeof(*info). Members that the library does not
 * know of are zeroed.
 */
struct ws_stream_info {
	uint32_t id; /* as in sysfs and "wsctl streams" */
	uint32_t reserved;
	uint64_t files; /* in memory that carry the stream */
	uint64_t bytes; /* put into such files by write calls */
};
WS_API int ws_stream_get_info(int stream_fd, struct ws_stream_info *info, size_t size);

/*
 * The stream's allocation groups as text, "8-11,32". Stores at most @size
 * bytes with the final NUL and returns the length of the whole text, as
 * snprintf(3) does.
 */
WS_API int ws_stream_ag_set(int stream_fd, char *text, size_t size);

#define WS_FILE_STREAM 1U   /* the file carries a reserved stream */
#define WS_FILE_HOMED 2U    /* it was placed in the stream's allocation groups */
#define WS_FILE_MISSED 4U   /* it was not, or has data outside of them */
#define WS_FILE_ANCHORED 8U /* it has data, and what is added goes there */

struct ws_file_info {
	uint32_t flags;	  /* WS_FILE_* */
	uint32_t stream;  /* with WS_FILE_STREAM: its id */
	uint32_t home_ag; /* with WS_FILE_STREAM: where the file belongs */
	uint32_t reserved;
};
WS_API int ws_file_get_info(int fd, struct ws_file_info *info, size_t size);

/*
 * "/mnt/ws/a: FS_IOC_WRITE_STREAM_SET: Operation not permitted (EPERM)";
 * empty before the first failure. Valid until this thread's next failure.
 */
WS_API const char *ws_last_error(void);
/* Empty where there is nothing to say. */
WS_API const char *ws_last_advice(void);
WS_API int ws_last_errno(void);

/* The version of the library, "0.1.0". */
WS_API const char *ws_version(void);

#ifdef __cplusplus
}
#endif

#endif /* WS_H */

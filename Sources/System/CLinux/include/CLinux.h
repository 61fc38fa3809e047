#ifndef CLINUX_H
#define CLINUX_H

// Linux calls whose C form Swift cannot import well: unions, packed structs, variadic functions,
// enum constants used as ints, signal handlers. All of them return -1 and set errno on failure,
// like the calls that they wrap.

#include <stddef.h>
#include <stdint.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

// An IPv4 or IPv6 address and port, without the casts between sockaddr structs.
struct clinux_address {
  uint8_t bytes[16];  // network order; IPv4 takes the first four
  uint32_t scope;     // IPv6 zone index
  uint16_t port;      // host order
  uint8_t is_ipv6;
};

// Sockets: always non-blocking and close-on-exec, TCP_NODELAY set.
int clinux_tcp_socket(int is_ipv6);
int clinux_bind(int descriptor, const struct clinux_address *address);
// Before connecting from an address: connect chooses the port (IP_BIND_ADDRESS_NO_PORT), so that
// one port serves connections to different destinations.
int clinux_bind_source(int descriptor, const struct clinux_address *address);
int clinux_connect(int descriptor, const struct clinux_address *address);
// Listens on a socket in a folder, which only this user may connect to. Replaces a socket without a
// listening process; fails with EADDRINUSE if there is one.
int clinux_listen_unix(const char *folder, const char *name);
// Prepares a socket that this process has inherited as the ones above are. EPROTOTYPE: it is not a TCP
// socket that listens.
int clinux_adopt_listener(int descriptor);
// The peer of a Unix socket has the address 0.0.0.0.
int clinux_accept(int descriptor, struct clinux_address *peer);
int clinux_local_address(int descriptor, struct clinux_address *address);
int clinux_peer_address(int descriptor, struct clinux_address *address);
int clinux_set_reuse_address(int descriptor, int on);
int clinux_set_reuse_port(int descriptor, int on);
int clinux_set_keepalive(int descriptor, int idle_seconds, int interval_seconds, int probes);
// Milliseconds since the last acknowledgement of the peer's system (TCP_INFO).
int64_t clinux_last_ack_age(int descriptor);
int clinux_set_no_delay(int descriptor, int on);
int clinux_no_delay(int descriptor);
int clinux_set_send_buffer(int descriptor, int bytes);
int clinux_set_receive_buffer(int descriptor, int bytes);
int clinux_set_abort_on_close(int descriptor);
// SO_ERROR: 0, or the pending errno; -1 if it cannot be read.
int clinux_pending_error(int descriptor);
int clinux_shutdown_write(int descriptor);

// recv, and send with MSG_NOSIGNAL.
ssize_t clinux_receive(int descriptor, void *bytes, size_t count);
// Leaves the bytes in the socket.
ssize_t clinux_peek(int descriptor, void *bytes, size_t count);
ssize_t clinux_send(int descriptor, const void *bytes, size_t count);

// Resolves a host to at most `capacity` addresses. Returns the number of addresses, or a negative
// EAI_ code.
int clinux_resolve(const char *host, struct clinux_address *addresses, int capacity);
const char *clinux_resolve_error(int code);
// Parses a numeric address; returns 1 if it is valid, else 0.
int clinux_parse_address(const char *text, int is_ipv6, struct clinux_address *address);
// Writes the address without its port; text needs 64 bytes.
int clinux_print_address(const struct clinux_address *address, char *text);

// epoll_pwait2 if the kernel has it, else epoll_wait, rounded up to a millisecond. A negative
// timeout waits forever.
int clinux_epoll_wait(
    int epoll, struct epoll_event *events, int capacity, int64_t timeout_nanoseconds);
int clinux_epoll_control(
    int epoll, int operation, int descriptor, uint32_t events, uint64_t data);
int clinux_event_descriptor(void);

// Writes each occurrence of this signal as one byte to the non-blocking pipe. Handlers, unlike a
// blocked mask or SIG_IGN, do not survive exec: child programs start with the default action.
int clinux_catch_signal(int signal, int pipe);
int clinux_uncatch_signal(int signal);
int clinux_signal_pipe(int ends[2]);
// Ignores SIGPIPE in every thread.
int clinux_ignore_sigpipe(void);

int clinux_descriptor_limit(uint64_t *soft, uint64_t *hard);
int clinux_set_descriptor_limit(uint64_t soft);

// The number of cores that this process may run on; 0 if it is unknown.
int clinux_usable_cores(void);
// The processors that the calling thread may run on, as bits, the first 64 in the first word.
int clinux_affinity(uint64_t words[16]);
int clinux_set_affinity(const uint64_t words[16]);
// At most 15 bytes of the name are kept.
int clinux_name_this_thread(const char *name);
// Opens /dev/null as a reserve descriptor.
int clinux_spare_descriptor(void);
// Returns free memory to the system.
void clinux_trim_memory(void);

// A connection to a Unix socket, non-blocking and close-on-exec. ENAMETOOLONG: the path is too long.
int clinux_connect_unix(const char *path);
// A socket that belongs to a folder, and is no file: a copy of the folder has none, and it ends with its
// process. Any user may connect to it, so each side has to ask clinux_is_peer_of_user. EADDRINUSE: a
// process listens. ECONNREFUSED: none does.
int clinux_listen_for_folder(const char *folder, const char *name);
int clinux_connect_for_folder(const char *folder, const char *name);
// Whether the peer of a connected Unix socket is a process of this user, or of root.
int clinux_is_peer_of_user(int descriptor);
// Sends a datagram to a Unix socket, within 5 s; a path that begins with @ is an abstract name.
int clinux_send_unix_datagram(const char *path, const char *text);
// Sends a text, and copies of descriptors with it, by a connected Unix socket (SCM_RIGHTS); at most
// CLINUX_DESCRIPTORS_LIMIT, and at least one byte of text.
enum { CLINUX_DESCRIPTORS_LIMIT = 253 };
int clinux_send_descriptors(int socket, const char *text, const int *descriptors, int count);
// Receives what one call of the function above has sent: returns the number of bytes of the text, 0 at the end
// of the stream. The descriptors are close-on-exec.
ptrdiff_t clinux_receive_descriptors(
    int socket, char *text, size_t size, int descriptors[CLINUX_DESCRIPTORS_LIMIT], int *count);
// A descriptor of a process, readable when it has exited: pidfd_open, close-on-exec.
int clinux_process_descriptor(int process);
// The reading and the writing end of a pipe, both close-on-exec: pipe2.
int clinux_pipe(int ends[2]);
// A file in memory, without a name, close-on-exec: memfd_create.
int clinux_memory_file(void);
// Has a program start without the descriptors from this one on, however they were opened.
int clinux_close_from(posix_spawn_file_actions_t *actions, int first);

// Confines this process for good: it can read and write the descriptors that are open, get memory that is not
// code, and end. Any other system call kills it, and so does more time of a processor. More memory than this is
// refused, and a file that becomes longer than this kills it. It dies with the thread that has started it.
int clinux_confine(uint64_t memory_bytes, uint64_t file_bytes, uint64_t processor_seconds);

// In-memory disks (tmpfs), for tests that fill a disk. unshare: gives this thread, the threads that
// it creates, and their programs private mounts, which are removed with the last of them. Without
// root, this requires a user namespace, with unchanged user ids; the process may then have only one
// thread.
int clinux_unshare_mounts(void);
int clinux_mount_memory(const char *path, uint64_t bytes);
// EINVAL: more than that is in use.
int clinux_resize_memory(const char *path, uint64_t bytes);
int clinux_unmount(const char *path);
// ENODEV: no such disk is mounted there.
int clinux_memory_space(const char *path, uint64_t *used, uint64_t *available);

#endif

#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

// Returns an option of the socket level; -1 if the descriptor is not a socket.
static int option(int descriptor, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) < 0 ? -1 : value;
}

int clinux_adopt_listener(int descriptor) {
  int domain = option(descriptor, SO_DOMAIN);
  if (domain < 0) return -1;
  if ((domain != AF_INET && domain != AF_INET6) || option(descriptor, SO_TYPE) != SOCK_STREAM ||
      option(descriptor, SO_ACCEPTCONN) != 1) {
    errno = EPROTOTYPE;
    return -1;
  }
  if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0 || fcntl(descriptor, F_SETFL, O_NONBLOCK) < 0) {
    return -1;
  }
  return clinux_set_no_delay(descriptor, 1);
}

int clinux_send_unix_datagram(const char *path, const char *text) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(path);
  if (length == 0 || length >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = 0;
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  // A receiver with a full queue must not stop this process for good.
  struct timeval patience = {.tv_sec = 5};
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  ssize_t sent;
  do {
    sent = sendto(
        descriptor, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address,
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
  } while (sent < 0 && errno == EINTR);
  int code = errno;
  close(descriptor);
  errno = code;
  return sent < 0 ? -1 : 0;
}

int clinux_send_descriptors(int socket, const char *text, const int *descriptors, int count) {
  if (count < 0 || count > CLINUX_DESCRIPTORS_LIMIT) {
    errno = EINVAL;
    return -1;
  }
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(CLINUX_DESCRIPTORS_LIMIT * sizeof(int))];
  } control = {0};
  struct iovec content = {.iov_base = (char *)text, .iov_len = strlen(text)};
  struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1};
  if (count > 0) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
    memcpy(CMSG_DATA(&control.header), descriptors, (size_t)count * sizeof(int));
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? -1 : 0;
}

ptrdiff_t clinux_receive_descriptors(
    int socket, char *text, size_t size, int descriptors[CLINUX_DESCRIPTORS_LIMIT], int *count) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(CLINUX_DESCRIPTORS_LIMIT * sizeof(int))];
  } control;
  struct iovec content = {.iov_base = text, .iov_len = size};
  struct msghdr message = {
      .msg_iov = &content,
      .msg_iovlen = 1,
      .msg_control = &control,
      .msg_controllen = sizeof control,
  };
  ssize_t received;
  do {
    received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  *count = 0;
  if (received < 0) return -1;
  for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    size_t bytes = part->cmsg_len - CMSG_LEN(0);
    memcpy(descriptors, CMSG_DATA(part), bytes);
    *count = (int)(bytes / sizeof(int));
  }
  return received;
}

// The floor: a WebSocket server that does little more than the necessary system calls.
//
// The reference of `make bench`, not a part of the product: it validates almost nothing. One thread,
// epoll, one recv and one send per socket and turn of the loop.
//
//   /echo      every message is returned
//   /room/N    every message is sent unchanged to all members of room N, including the sender
//
// usage: floor [PORT]; prints `listening on ws://127.0.0.1:PORT` to standard error (0: any free
// port).

#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "handshake.h"

enum {
  ROOM_LIMIT = 65536,
  READ_BYTES = 256 * 1024,
  EVENTS = 1024,
  BACKLOG = 4096,
  // The limits of an opening handshake and of a frame.
  HEAD_LIMIT_BYTES = 8192,
  FRAME_LIMIT_BYTES = READ_BYTES / 2,
};

enum { OPCODE_TEXT = 1, OPCODE_CLOSE = 8, OPCODE_PING = 9, OPCODE_PONG = 10 };

struct buffer {
  uint8_t *bytes;
  uint32_t count, capacity;
};

enum place { IN_HANDSHAKE = -1, IN_ECHO = -2 };

struct connection {
  int descriptor;
  int room;         // or a place
  uint32_t member;  // its index in the room
  bool is_closed;
  struct buffer rest;     // of a frame whose end has not come
  struct buffer waiting;  // what its socket did not take
  struct connection *next_closed;
};

struct room {
  struct connection **members;
  uint32_t count, capacity;
  struct buffer turn;  // the frames of this turn
};

static int poller;
static struct room rooms[ROOM_LIMIT];
static int touched[ROOM_LIMIT];
static int touched_count;
static struct connection *closed;  // freed when the turn's events have all been looked at
static uint8_t input[READ_BYTES + FRAME_LIMIT_BYTES];
static struct buffer reply;  // to one connection, in one turn

static void die(const char *what) {
  perror(what);
  exit(1);
}

static uint8_t *grow(struct buffer *buffer, size_t count) {
  if (buffer->count + count > buffer->capacity) {
    buffer->capacity = (uint32_t)(buffer->count + count) * 2;
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    if (!buffer->bytes) die("realloc");
  }
  uint8_t *place = buffer->bytes + buffer->count;
  buffer->count += (uint32_t)count;
  return place;
}

static void release(struct buffer *buffer) {
  free(buffer->bytes);
  *buffer = (struct buffer){0};
}

static void close_connection(struct connection *self) {
  if (self->is_closed) return;
  self->is_closed = true;
  close(self->descriptor);
  if (self->room >= 0) {
    struct room *room = &rooms[self->room];
    struct connection *last = room->members[--room->count];
    room->members[self->member] = last;
    last->member = self->member;
  }
  self->next_closed = closed;
  closed = self;
}

static void listen_for(struct connection *self, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = self};
  epoll_ctl(poller, EPOLL_CTL_MOD, self->descriptor, &event);
}

// Calls send once; bytes that the socket does not accept wait until it is writable.
static void transmit(struct connection *self, const uint8_t *bytes, size_t count) {
  if (self->is_closed) return;
  if (self->waiting.count) {
    memcpy(grow(&self->waiting, count), bytes, count);
    return;
  }
  ssize_t sent = send(self->descriptor, bytes, count, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN) return close_connection(self);
  if (sent < 0) sent = 0;
  if ((size_t)sent == count) return;
  memcpy(grow(&self->waiting, count - (size_t)sent), bytes + sent, count - (size_t)sent);
  listen_for(self, EPOLLIN | EPOLLOUT);
}

static void transmit_waiting(struct connection *self) {
  struct buffer waiting = self->waiting;
  self->waiting = (struct buffer){0};
  listen_for(self, EPOLLIN);
  transmit(self, waiting.bytes, waiting.count);
  free(waiting.bytes);
}

// Appends an unmasked frame of the server (RFC 6455 §5.2).
static void append_frame(
    struct buffer *to, uint8_t opcode, const uint8_t *masked, size_t count, const uint8_t key[4]) {
  size_t header = count < 126 ? 2 : count < 65536 ? 4 : 10;
  uint8_t *out = grow(to, header + count);
  out[0] = 0x80 | opcode;
  if (header == 2) {
    out[1] = (uint8_t)count;
  } else if (header == 4) {
    out[1] = 126, out[2] = (uint8_t)(count >> 8), out[3] = (uint8_t)count;
  } else {
    out[1] = 127;
    for (int i = 0; i < 8; i++) out[2 + i] = (uint8_t)((uint64_t)count >> (56 - 8 * i));
  }
  out += header;
  uint64_t wide;
  uint8_t twice[8];
  memcpy(twice, key, 4), memcpy(twice + 4, key, 4), memcpy(&wide, twice, 8);
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t word;
    memcpy(&word, masked + i, 8);
    word ^= wide;
    memcpy(out + i, &word, 8);
  }
  for (; i < count; i++) out[i] = masked[i] ^ key[i & 3];
}

static void take_message(
    struct connection *self, uint8_t opcode, const uint8_t *masked, size_t count,
    const uint8_t key[4]) {
  if (opcode == OPCODE_CLOSE) return close_connection(self);
  if (opcode == OPCODE_PONG) return;
  if (opcode == OPCODE_PING) {
    append_frame(&reply, OPCODE_PONG, masked, count, key);
  } else if (self->room == IN_ECHO) {
    append_frame(&reply, opcode, masked, count, key);
  } else {
    struct room *room = &rooms[self->room];
    if (!room->turn.count) touched[touched_count++] = self->room;
    append_frame(&room->turn, opcode, masked, count, key);
  }
}

// Handles the complete frames in `bytes`; returns their size.
static size_t take_frames(struct connection *self, const uint8_t *bytes, size_t count) {
  size_t start = 0;
  while (!self->is_closed && count - start >= 6) {
    const uint8_t *frame = bytes + start;
    uint64_t length = frame[1] & 0x7F;
    size_t header = 6;
    if (length == 126) {
      header = 8;
      if (count - start < header) break;
      length = (uint64_t)frame[2] << 8 | frame[3];
    } else if (length == 127) {
      header = 14;
      if (count - start < header) break;
      length = 0;
      for (int i = 0; i < 8; i++) length = length << 8 | frame[2 + i];
    }
    if (!(frame[1] & 0x80) || length > FRAME_LIMIT_BYTES - 14) {
      close_connection(self);
      break;
    }
    if (count - start < header + length) break;
    take_message(self, frame[0] & 0x0F, frame + header, (size_t)length, frame + header - 4);
    start += header + (size_t)length;
  }
  return start;
}

static void join(struct connection *self, int number) {
  struct room *room = &rooms[number];
  if (room->count == room->capacity) {
    room->capacity = room->capacity ? room->capacity * 2 : 2;
    room->members = realloc(room->members, room->capacity * sizeof *room->members);
    if (!room->members) die("realloc");
  }
  self->room = number;
  self->member = room->count;
  room->members[room->count++] = self;
}

// Handles the opening handshake if it is complete; returns its size.
static size_t take_handshake(struct connection *self, uint8_t *bytes, size_t count) {
  uint8_t *end = memmem(bytes, count, "\r\n\r\n", 4);
  if (!end) {
    if (count > HEAD_LIMIT_BYTES) close_connection(self);
    return 0;
  }
  *end = 0;
  char *head = (char *)bytes;
  char *key = strcasestr(head, "\r\nSec-WebSocket-Key:");
  int number = -1;
  bool is_echo = strncmp(head, "GET /echo", 9) == 0;
  if (!key || (!is_echo && (sscanf(head, "GET /room/%d", &number) != 1 || number < 0 ||
                            number >= ROOM_LIMIT))) {
    static const char no[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    transmit(self, (const uint8_t *)no, sizeof no - 1);
    close_connection(self);
    return 0;
  }
  key += strlen("\r\nSec-WebSocket-Key:");
  key += strspn(key, " \t");
  char accept[ACCEPT_KEY_BYTES];
  accept_key(key, strcspn(key, " \t\r\n"), accept);
  char answer[160];
  int length = snprintf(
      answer, sizeof answer,
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: %s\r\n\r\n",
      accept);
  if (is_echo) {
    self->room = IN_ECHO;
  } else {
    join(self, number);
  }
  transmit(self, (const uint8_t *)answer, (size_t)length);
  return (size_t)(end + 4 - bytes);
}

static void receive(struct connection *self) {
  size_t before = self->rest.count;
  if (before) memcpy(input, self->rest.bytes, before);
  ssize_t got = recv(self->descriptor, input + before, READ_BYTES, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return close_connection(self);
  size_t count = before + (size_t)got, start = 0;
  if (self->room == IN_HANDSHAKE) start = take_handshake(self, input, count);
  reply.count = 0;
  if (!self->is_closed && self->room != IN_HANDSHAKE)
    start += take_frames(self, input + start, count - start);
  if (reply.count) transmit(self, reply.bytes, reply.count);
  if (self->is_closed || (start == count && !before)) return;
  // Allocated only while there is data: an idle connection has no buffer.
  release(&self->rest);
  if (start < count) memcpy(grow(&self->rest, count - start), input + start, count - start);
}

static void accept_all(int listener) {
  for (int i = 0; i < 64; i++) {
    int descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) return;
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection *self = calloc(1, sizeof *self);
    if (!self) die("calloc");
    self->descriptor = descriptor;
    self->room = IN_HANDSHAKE;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = self};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event)) die("epoll_ctl");
  }
}

static int start_listening(int port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {
      .sin_family = AF_INET,
      .sin_port = htons((uint16_t)port),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
  };
  if (bind(listener, (struct sockaddr *)&address, sizeof address)) die("bind");
  if (listen(listener, BACKLOG)) die("listen");
  socklen_t length = sizeof address;
  getsockname(listener, (struct sockaddr *)&address, &length);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event)) die("epoll_ctl");
  fprintf(stderr, "listening on ws://127.0.0.1:%d\n", ntohs(address.sin_port));
  return listener;
}

// Ends a turn: sends each room's frames to each member with one send.
static void fan_out(void) {
  for (int i = 0; i < touched_count; i++) {
    struct room *room = &rooms[touched[i]];
    // Backwards: a member that is closed here is replaced by one that was already handled.
    for (uint32_t m = room->count; m-- > 0;)
      transmit(room->members[m], room->turn.bytes, room->turn.count);
    room->turn.count = 0;
  }
  touched_count = 0;
}

int main(int count, char **arguments) {
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  signal(SIGPIPE, SIG_IGN);
  poller = epoll_create1(EPOLL_CLOEXEC);
  int listener = start_listening(count > 1 ? atoi(arguments[1]) : 0);
  static struct epoll_event events[EVENTS];
  for (;;) {
    int ready = epoll_wait(poller, events, EVENTS, -1);
    for (int i = 0; i < ready; i++) {
      struct connection *self = events[i].data.ptr;
      if (!self) {
        accept_all(listener);
        continue;
      }
      if (self->is_closed) continue;
      if (events[i].events & EPOLLOUT) transmit_waiting(self);
      if (!self->is_closed && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(self);
    }
    fan_out();
    while (closed) {
      struct connection *next = closed->next_closed;
      release(&closed->rest);
      release(&closed->waiting);
      free(closed);
      closed = next;
    }
  }
}

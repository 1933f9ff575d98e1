// Linux sockets as a Swift module: epoll and GNU extensions, which Glibc's module map leaves out, and functions with
// variable arguments, which Swift can't call. Each returns what the call returns, or the negative errno.
#ifndef GLASSWING_CSOCKETS_SHIM_H
#define GLASSWING_CSOCKETS_SHIM_H

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static inline int glasswing_result(int result) { return result < 0 ? -errno : result; }

// struct epoll_event is packed and holds a union.
struct glasswing_ready {
  uint64_t token;
  uint32_t events;
};

static const uint32_t glasswing_readable = EPOLLIN;
static const uint32_t glasswing_writable = EPOLLOUT;

static inline int glasswing_epoll_create(void) { return glasswing_result(epoll_create1(EPOLL_CLOEXEC)); }

// One report a call: the descriptor then rests until it is asked for again.
static inline int glasswing_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
  struct epoll_event event = {.events = events | EPOLLONESHOT, .data = {.u64 = token}};
  return glasswing_result(epoll_ctl(epoll, operation, descriptor, &event));
}
static inline int glasswing_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t token) {
  return glasswing_epoll_control(epoll, EPOLL_CTL_ADD, descriptor, events, token);
}
static inline int glasswing_epoll_change(int epoll, int descriptor, uint32_t events, uint64_t token) {
  return glasswing_epoll_control(epoll, EPOLL_CTL_MOD, descriptor, events, token);
}
static inline int glasswing_epoll_remove(int epoll, int descriptor) {
  return glasswing_epoll_control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0);
}

enum { glasswing_ready_limit = 64 };

static inline int glasswing_epoll_wait(int epoll, struct glasswing_ready *ready, int milliseconds) {
  struct epoll_event events[glasswing_ready_limit];
  int count = epoll_wait(epoll, events, glasswing_ready_limit, milliseconds);
  if (count < 0) return -errno;
  for (int i = 0; i < count; i++) {
    ready[i].token = events[i].data.u64;
    ready[i].events = events[i].events;
  }
  return count;
}

extern int accept4(int, struct sockaddr *, socklen_t *, int);

static inline int glasswing_accept(int listener, struct sockaddr_storage *peer, socklen_t *length) {
  return glasswing_result(accept4(listener, (struct sockaddr *)peer, length, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

// Of TCP: bytes written that have not been sent for the first time.
static inline int glasswing_unsent(int descriptor) {
  int bytes = 0;
  return ioctl(descriptor, SIOCOUTQNSD, &bytes) < 0 ? -errno : bytes;
}

// Of a Unix socket: memory that what the peer has not read takes.
static inline int glasswing_unread(int descriptor) {
  int bytes = 0;
  return ioctl(descriptor, SIOCOUTQ, &bytes) < 0 ? -errno : bytes;
}

// struct ucred, which is a GNU extension.
struct glasswing_peer {
  int32_t process;
  uint32_t user;
  uint32_t group;
};

static inline int glasswing_peer_credentials(int descriptor, struct glasswing_peer *peer) {
  socklen_t length = sizeof *peer;
  return glasswing_result(getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, peer, &length));
}

// Options whose names not every C library's <netinet/tcp.h> shows; numbers from <linux/tcp.h>.
enum {
  glasswing_tcp_congestion = 13,
  glasswing_tcp_user_timeout = 18,
  glasswing_tcp_notsent_lowat = 25,
};

#endif

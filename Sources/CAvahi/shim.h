// libavahi-client as a Swift module: announcing and finding services through the host's Avahi daemon.
#ifndef GLASSWING_CAVAHI_SHIM_H
#define GLASSWING_CAVAHI_SHIM_H

#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/alternative.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <avahi-common/strlst.h>
#include <avahi-common/thread-watch.h>

// The address is in a union, which Swift sees, but in network byte order and without a length.
static inline int glasswing_avahi_address(const AvahiAddress *address, uint8_t bytes[16]) {
  switch (address->proto) {
    case AVAHI_PROTO_INET: {
      for (int i = 0; i < 4; i++) bytes[i] = ((const uint8_t *)&address->data.ipv4.address)[i];
      return 4;
    }
    case AVAHI_PROTO_INET6: {
      for (int i = 0; i < 16; i++) bytes[i] = address->data.ipv6.address[i];
      return 16;
    }
    default: return 0;
  }
}

#endif

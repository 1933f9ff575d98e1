// libheif as a Swift module; nothing needs a shim.
#ifndef GLASSWING_CHEIF_SHIM_H
#define GLASSWING_CHEIF_SHIM_H

#include <libheif/heif.h>

#endif

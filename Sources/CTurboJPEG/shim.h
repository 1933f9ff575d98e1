// libjpeg-turbo's TurboJPEG interface as a Swift module; nothing needs a shim.
#ifndef GLASSWING_CTURBOJPEG_SHIM_H
#define GLASSWING_CTURBOJPEG_SHIM_H

#include <turbojpeg.h>

#endif

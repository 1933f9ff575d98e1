// libyuv's C interface as a Swift module. The library ships no pkg-config file;
// its name is in the module map.
#ifndef GLASSWING_CYUV_SHIM_H
#define GLASSWING_CYUV_SHIM_H

#include <libyuv/convert.h>
#include <libyuv/convert_argb.h>
#include <libyuv/convert_from.h>
#include <libyuv/convert_from_argb.h>
#include <libyuv/planar_functions.h>
#include <libyuv/rotate.h>
#include <libyuv/rotate_argb.h>
#include <libyuv/scale.h>
#include <libyuv/scale_argb.h>

#endif

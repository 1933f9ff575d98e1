// libyuv's C interface as a Swift module. The library ships no pkg-config file;
// its name is in the module map. The shims name its colour matrices: their type is
// incomplete in the public headers, so Swift sees the constants only by address.
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

static inline const struct YuvConstants *glasswing_yuv_601(void) { return &kYuvI601Constants; }
static inline const struct YuvConstants *glasswing_yuv_601_full(void) { return &kYuvJPEGConstants; }
static inline const struct YuvConstants *glasswing_yuv_709(void) { return &kYuvH709Constants; }
static inline const struct YuvConstants *glasswing_yuv_709_full(void) { return &kYuvF709Constants; }

#endif

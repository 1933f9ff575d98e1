// FFmpeg as a Swift module. What stands below the includes exists because Swift
// does not import function-like macros, casts in macros, or compound literals.
#ifndef GLASSWING_CFFMPEG_SHIM_H
#define GLASSWING_CFFMPEG_SHIM_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/dict.h>
#include <libavutil/display.h>
#include <libavutil/error.h>
#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/log.h>
#include <libavutil/mathematics.h>
#include <libavutil/md5.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/sha.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

static const unsigned glasswing_libavformat_version = LIBAVFORMAT_VERSION_INT;
static const unsigned glasswing_libavcodec_version = LIBAVCODEC_VERSION_INT;
static const unsigned glasswing_libswresample_version = LIBSWRESAMPLE_VERSION_INT;
static const unsigned glasswing_libswscale_version = LIBSWSCALE_VERSION_INT;
static const unsigned glasswing_libavutil_version = LIBAVUTIL_VERSION_INT;
static const int64_t glasswing_av_nopts = AV_NOPTS_VALUE;
static const int glasswing_averror_eof = AVERROR_EOF;
static const int glasswing_averror_invaliddata = AVERROR_INVALIDDATA;
static inline int glasswing_averror(int posix) { return AVERROR(posix); }
static inline AVRational glasswing_av_time_base_q(void) { return AV_TIME_BASE_Q; }

#endif

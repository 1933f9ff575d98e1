// x265 as a Swift module. One shim since x265_encoder_open is a macro that pastes
// the build number onto the symbol's name.
#ifndef GLASSWING_CX265_SHIM_H
#define GLASSWING_CX265_SHIM_H

#include <x265.h>

static inline x265_encoder *glasswing_x265_encoder_open(x265_param *param) { return x265_encoder_open(param); }

// A global variable, which Swift takes for one that anybody may change.
static inline const char *glasswing_x265_version(void) { return x265_version_str; }

#endif

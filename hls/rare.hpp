// SPDX-License-Identifier: Apache-2.0
/// TIDEMILL_RARE stands before a function for what seldom happens. In hardware it is one more branch of the step; on a
/// host it is a call, so that the usual path keeps the registers and the cache lines to itself. Such a function takes
/// its arguments by value: an address would force them into memory on the usual path as well.
#pragma once

#if defined(__BAMBU__) || defined(__SYNTHESIS__)
#define TIDEMILL_RARE [[gnu::always_inline]] inline
#else
#define TIDEMILL_RARE [[gnu::noinline, gnu::cold]]
#endif

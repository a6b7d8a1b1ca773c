// SPDX-License-Identifier: Apache-2.0
/// What the library shows to programs; libibumad.map gives each name its version.
#pragma once
#define TIDEMILL_UMAD extern "C" __attribute__((visibility("default")))

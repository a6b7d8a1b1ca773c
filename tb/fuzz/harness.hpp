// SPDX-License-Identifier: Apache-2.0
/// Bytes become events of a tiny bank, or input of a tiny engine. Nothing is assumed of them, as nothing can be assumed
/// of what a network and a host in trouble send. The answer is empty, or says what broke.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace tidemill::fuzz {

/// Inputs longer than this tell nothing new and take their time.
inline constexpr size_t kLongest = 4096;

/// One bank as the shell drives it: hashes are right, steps that ask for it come again, the rest is anybody's guess.
/// After every event the structures agree with each other and with what was answered; at the end all of it is free.
std::string run_bank(std::span<const uint8_t> bytes);

/// A whole engine at its rings: descriptors, doorbells, commands, sent reports and MADs of any content.
/// Each generation of a slot completes at most once and in order, every receive buffer comes back at once,
/// tries and wire credits add up, and at the end everything is home.
std::string run_engine(std::span<const uint8_t> bytes);

}  // namespace tidemill::fuzz

// SPDX-License-Identifier: Apache-2.0
/// Parts of the self-test that need the registers of a card.
#pragma once
#include "device/card.hpp"
#include "device_tool/selftest.hpp"

namespace tidemill::device_tool {

/// Who it is, and that what is written can be read back. From reset to reset: a card that runs is told no address.
Verdict test_registers(device::Card& card, std::string& found);
/// Comes out of reset and remembers nothing.
Verdict test_reset(device::Card& card, std::string& found);
/// The tick runs at its rate, as far as a process that may be held up at any time can tell.
Verdict test_tick(device::Card& card, std::string& found);
/// Three laps of the command ring; what it took is told in memory and in the register.
Verdict test_command_ring(device::Card& card, std::string& found);
/// Lanes over the whole range: one doorbell for one, two and four descriptors, and one beyond the ring.
Verdict test_doorbells(device::Card& card, std::string& found);
/// Three laps of a send ring: every descriptor comes from its own place.
Verdict test_send_ring(device::Card& card, std::string& found);
/// Four laps of the transmit ring and of the completion ring.
Verdict test_card_rings(device::Card& card, std::string& found);
/// Many completions at once: none is lost, none comes twice.
Verdict test_completion_burst(device::Card& card, std::string& found);

}  // namespace tidemill::device_tool

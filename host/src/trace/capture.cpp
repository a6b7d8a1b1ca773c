// SPDX-License-Identifier: Apache-2.0
#include "trace/capture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/infiniband_packet.hpp"

namespace tidemill::trace {
namespace {

constexpr uint16_t kLinkTypeErf = 197;
constexpr uint8_t kErfInfiniband = 21, kErfVaryingLength = 0x04;
constexpr std::size_t kErfHeader = 16;
constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;

enum class Block : uint32_t { section = 0x0a0d0d0a, interface = 1, statistics = 5, packet = 6 };
enum class Option : uint16_t {
  end = 0, comment = 1, section_application = 4, interface_name = 2, interface_resolution = 9, packet_flags = 2,
  statistics_dropped = 5
};

/// A block in the making; pcapng is little endian here.
class BlockBuilder {
 public:
  explicit BlockBuilder(Block type) {
    number(static_cast<uint32_t>(type), 4);
    number(0, 4);  // its length
  }

  BlockBuilder& number(uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    return *this;
  }
  BlockBuilder& big_endian(uint64_t value, unsigned bytes) {
    for (unsigned i = bytes; i-- > 0;) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    return *this;
  }
  BlockBuilder& data(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  BlockBuilder& pad() {
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
    return *this;
  }
  BlockBuilder& option(Option code, uint64_t value, unsigned bytes) {
    return number(static_cast<uint16_t>(code), 2).number(bytes, 2).number(value, bytes).pad();
  }
  BlockBuilder& option(Option code, std::string_view text) {
    number(static_cast<uint16_t>(code), 2).number(text.size(), 2);
    return data(std::as_bytes(std::span(text))).pad();
  }
  void write_to(OutputFile& out) {
    option(Option::end, 0, 0);
    const std::size_t length = bytes_.size() + 4;
    for (unsigned i = 0; i < 4; ++i) bytes_[4 + i] = static_cast<std::byte>(length >> (8 * i));
    number(length, 4);
    out.write(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

void write_packet(OutputFile& out, const MadRecord& mad, uint32_t sequence) {
  PacketBuffer buffer;
  const std::span<const std::byte> packet = frame(mad, sequence, buffer);
  const auto at = static_cast<uint64_t>(std::max<int64_t>(mad.at.count(), 0));
  const std::size_t length = kErfHeader + packet.size();
  // ERF counts time in 2^-32 seconds.
  const uint64_t fraction = ((at % kNanosecondsPerSecond) << 32) / kNanosecondsPerSecond;

  BlockBuilder block(Block::packet);
  block.number(0, 4).number(at >> 32, 4).number(at & 0xffffffff, 4).number(length, 4).number(length, 4);
  block.number(fraction, 4).number(at / kNanosecondsPerSecond, 4);
  block.number(kErfInfiniband, 1).number(kErfVaryingLength, 1);
  block.big_endian(length, 2).big_endian(0, 2).big_endian(packet.size(), 2);
  block.data(packet).pad();
  block.option(Option::packet_flags, mad.outgoing ? 2 : 1, 4);
  block.write_to(out);
}

}  // namespace

std::size_t write_capture(OutputFile& out, const std::vector<const MadRecord*>& mads, uint64_t lost) {
  BlockBuilder section(Block::section);
  section.number(0x1a2b3c4d, 4).number(1, 2).number(0, 2).number(~uint64_t{0}, 8);
  section.option(Option::section_application, "tidemill");
  if (lost != 0) section.option(Option::comment, fmt::format("{} earlier MADs are not in this file", lost));
  section.write_to(out);

  BlockBuilder interface(Block::interface);
  interface.number(kLinkTypeErf, 2).number(0, 2).number(0, 4);
  interface.option(Option::interface_name, "tidemill").option(Option::interface_resolution, 9, 1);
  interface.write_to(out);

  uint32_t sequence = 0;
  for (const MadRecord* mad : mads) write_packet(out, *mad, sequence++);

  const uint64_t end = mads.empty() ? 0 : static_cast<uint64_t>(std::max<int64_t>(mads.back()->at.count(), 0));
  BlockBuilder statistics(Block::statistics);
  statistics.number(0, 4).number(end >> 32, 4).number(end & 0xffffffff, 4);
  statistics.option(Option::statistics_dropped, lost, 8);
  statistics.write_to(out);
  return mads.size();
}

}  // namespace tidemill::trace

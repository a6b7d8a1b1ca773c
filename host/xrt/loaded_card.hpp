// SPDX-License-Identifier: Apache-2.0
/// A card with our xclbin on it, checked, as XRT hands it out. Registers and memory by XRT's native API only.
///
/// Any thread.
#pragma once
#include <experimental/xrt_ip.h>
#include <experimental/xrt_xclbin.h>
#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/error.hpp"
#include "xrt/buffer_pool.hpp"
#include "xrt/interrupt_event.hpp"
#include "xrt/xclbin_file.hpp"

namespace tidemill::xrt_card {

inline constexpr char kShellKernel[] = "tidemill_shell";

class LoadedCard {
 public:
  /// Index or BDF. An emulated card that was loaded before is taken again: loading it takes XRT ten seconds, and would
  /// start its device process anew. An error names both sides of what does not fit.
  static Result<std::shared_ptr<LoadedCard>> load(const std::string& which, const XclbinFile& file);
  ~LoadedCard();
  LoadedCard(const LoadedCard&) = delete;
  LoadedCard& operator=(const LoadedCard&) = delete;

  bool emulated() const { return emulation_.has_value(); }
  /// Card, platform, xclbin and its UUID.
  const std::vector<std::pair<std::string, std::string>>& description() const { return description_; }

  /// All ones when the card has gone, as PCIe answers.
  uint32_t read(uint32_t offset) { return read(shell_, offset); }
  void write(uint32_t offset, uint32_t value) { write(shell_, offset, value); }
  /// Registers of the device process (emulation_registers.hpp).
  uint32_t read_emulation(uint32_t offset) { return read(*emulation_, offset); }
  void write_emulation(uint32_t offset, uint32_t value) { write(*emulation_, offset, value); }

  /// Waits for the shell's interrupt; throws what XRT throws where there is none.
  InterruptEvent::Wait interrupt();

  /// The xclbin connects the shell to memory of the host. Else its rings are in the card's own memory, and sync()
  /// copies.
  bool shares_memory() const { return shares_memory_; }
  /// Memory that the card reaches, not cleared. Throws what XRT throws.
  BufferPool::Block take_memory(std::size_t bytes);
  void give_memory(const BufferPool::Block& block);
  /// Between `block.host` and the card, where memory is not shared; whole lines around the range. Nothing of a card
  /// that has gone.
  void sync(const BufferPool::Block& block, xclBOSyncDirection direction, std::size_t offset, std::size_t bytes);

  /// Looks whether the card is still there; of an emulated one, whether its process lives. Stays true.
  bool gone();
  std::string why_gone() const;

  /// One device at a time.
  bool claim() { return !claimed_.exchange(true); }
  void release() { claimed_ = false; }

 private:
  LoadedCard() = default;
  uint32_t read(xrt::ip& ip, uint32_t offset);
  void write(xrt::ip& ip, uint32_t offset, uint32_t value);
  void tell_pages(uint64_t address, uint32_t pages);
  void lost(const std::string& why);
  std::optional<Error> set_up(const std::string& which, const XclbinFile& file);

  xrt::device device_;
  xrt::ip shell_;
  std::optional<xrt::ip> emulation_;
  bool shares_memory_ = true;
  xrt::memory_group memory_group_ = 0;
  BufferPool pool_{[this](std::size_t bytes) {
    return xrt::bo(device_, bytes, shares_memory_ ? xrt::bo::flags::host_only : xrt::bo::flags::normal, memory_group_);
  }};
  std::mutex registers_mutex_, told_mutex_, sync_mutex_;
  std::vector<std::pair<std::string, std::string>> description_;
  int process_ = -1;  ///< pidfd of the device process.
  std::atomic<bool> gone_{false}, claimed_{false};
  mutable std::mutex why_mutex_;
  std::string why_gone_;
};

}  // namespace tidemill::xrt_card

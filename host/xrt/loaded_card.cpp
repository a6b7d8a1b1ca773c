// SPDX-License-Identifier: Apache-2.0
#include "xrt/loaded_card.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "fmt/format.h"
#include "xrt/emulation_environment.hpp"
#include "xrt/emulation_registers.hpp"

namespace tidemill::xrt_card {
namespace {

constexpr uint32_t kAllOnes = 0xffffffff;

Error failed(const std::string& which, const std::string& why) {
  return Error{Errc::device_failed, fmt::format("xrt:{}: {}", which, why)};
}

xrt::device open(const std::string& which) {
  if (which.find(':') != std::string::npos) return xrt::device(which);
  return xrt::device(static_cast<unsigned>(std::stoul(which)));
}

/// The name of the card's shell against the xclbin's. A card names its partition (xilinx_u50_gen3x16_xdma_base_5, in
/// two stages xilinx_u250_gen3x16_xdma_shell_4_1), an xclbin what it was linked against
/// (xilinx_u250_gen3x16_xdma_4_1_202210_1); XRT compares their interface UUIDs when it loads.
bool same_platform(const std::string& card, const std::string& xclbin) {
  if (card == xclbin) return true;
  for (const char* const partition : {"_base", "_shell"})
    if (const std::size_t at = card.find(partition); at != std::string::npos)
      return xclbin.compare(0, at, card, 0, at) == 0;
  return false;
}

bool is_of_host(const std::string& tag) {
  return tag.rfind("HOST", 0) == 0;
}

/// What the shell's master is connected to; the host's own memory if it is among it.
std::optional<xrt::xclbin::mem> memory_of(const xrt::xclbin::kernel& shell) {
  std::optional<xrt::xclbin::mem> found;
  for (const auto& unit : shell.get_cus())
    for (const auto& argument : unit.get_args())
      for (const auto& memory : argument.get_mems())
        if (!found || is_of_host(memory.get_tag())) found = memory;
  return found;
}

std::string names(const std::vector<xrt::xclbin::kernel>& kernels) {
  std::string all;
  for (const auto& k : kernels) all += (all.empty() ? "" : ", ") + k.get_name();
  return all.empty() ? "none" : all;
}

/// Emulated cards stay loaded until the program ends. Never destroyed: XRT's own statics go first, and what is left
/// ends with the process.
struct Kept {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<LoadedCard>> cards;
};
Kept& kept() {
  static auto* const all = new Kept;
  return *all;
}

}  // namespace

Result<std::shared_ptr<LoadedCard>> LoadedCard::load(const std::string& which, const XclbinFile& file) {
  const std::lock_guard lock(kept().mutex);
  const std::pair key(which, file.path);
  if (const auto found = kept().cards.find(key); found != kept().cards.end()) {
    if (!found->second->gone()) return found->second;
    return failed(which, fmt::format("{}; XRT emulates no second one in this process: start the program again",
                                     found->second->why_gone()));
  }
  try {
    if (auto prepared = file.emulation ? prepare_emulation() : prepare_cards(); !prepared) return prepared.error();
    std::optional<KeepSignals> signals;
    if (file.emulation) signals.emplace();
    std::shared_ptr<LoadedCard> card(new LoadedCard);
    if (auto wrong = card->set_up(which, file)) return *wrong;
    if (file.emulation) kept().cards.emplace(key, card);
    return card;
  } catch (const std::exception& e) {
    return failed(which, fmt::format("XRT cannot open the card with xclbin '{}': {}", file.path, e.what()));
  }
}

std::optional<Error> LoadedCard::set_up(const std::string& which, const XclbinFile& file) {
  device_ = open(which);
  const auto name = device_.get_info<xrt::info::device::name>();
  if (!same_platform(name, file.platform))
    return failed(
        which, fmt::format("the card is a '{}', xclbin '{}' was made for '{}': take the xclbin of this card's platform",
                           name, file.path, file.platform));
  const xrt::xclbin xclbin(file.path);
  const auto kernels = xclbin.get_kernels();
  if (std::none_of(kernels.begin(), kernels.end(), [](const auto& k) { return k.get_name() == kShellKernel; }))
    return failed(which, fmt::format("xclbin '{}' has no kernel '{}' (it has: {}): it is not Tidemill's", file.path,
                                     kShellKernel, names(kernels)));
  const auto memory = memory_of(xclbin.get_kernel(kShellKernel));
  if (!memory)
    return failed(which, fmt::format("xclbin '{}' connects the shell to no memory: link it with "
                                     "sp=tidemill_shell_1.m_axi:HOST[0], or with a bank of the card if that reaches no "
                                     "memory of the host",
                                     file.path));
  shares_memory_ = is_of_host(memory->get_tag());
  memory_group_ = static_cast<xrt::memory_group>(memory->get_index());

  {
    std::optional<UniqueUser> user;
    if (file.emulation) user.emplace();
    device_.load_xclbin(xclbin);
  }
  if (const auto loaded = device_.get_xclbin_uuid(); loaded != xclbin.get_uuid())
    return failed(which, fmt::format("the card has xclbin {}, '{}' is {}: another process holds the card",
                                     loaded.to_string(), file.path, xclbin.get_uuid().to_string()));
  description_ = {
      {"card", file.emulation ? "emulated" : device_.get_info<xrt::info::device::bdf>()},
      {"platform", name},
      {"xclbin", file.path},
      {"xclbin uuid", xclbin.get_uuid().to_string()},
      {"rings in", fmt::format("{} ({})", memory->get_tag(), shares_memory_ ? "of the host" : "of the card")}};
  shell_ = xrt::ip(device_, xclbin.get_uuid(), kShellKernel);
  if (!file.emulation) return std::nullopt;
  emulation_.emplace(device_, xclbin.get_uuid(), xrt_emulation::kKernel);
  if (const uint32_t magic = read_emulation(xrt_emulation::magic); magic != xrt_emulation::kMagicValue)
    return failed(which, fmt::format("the device process answers {:#x} for its magic number, not {:#x}", magic,
                                     xrt_emulation::kMagicValue));
  process_ = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(read_emulation(xrt_emulation::process)), 0));
  return std::nullopt;
}

LoadedCard::~LoadedCard() {
  if (gone()) pool_.abandon();
  if (process_ >= 0) close(process_);
}

InterruptEvent::Wait LoadedCard::interrupt() {
  // After a wait XRT has enabled it again.
  return [line = shell_.create_interrupt_notify()](std::chrono::milliseconds most) {
    return line.wait(most) == std::cv_status::no_timeout;
  };
}

BufferPool::Block LoadedCard::take_memory(std::size_t bytes) {
  BufferPool::Block block = pool_.take(bytes);
  const uint32_t where = shares_memory_ ? 0 : xrt_emulation::kPagesOfTheCard;
  tell_pages(block.address, where | static_cast<uint32_t>(block.bytes / BufferPool::kPage));
  return block;
}

void LoadedCard::give_memory(const BufferPool::Block& block) {
  tell_pages(block.address, 0);
  pool_.give(block);
}

void LoadedCard::sync(const BufferPool::Block& block, xclBOSyncDirection direction, std::size_t offset,
                      std::size_t bytes) {
  if (gone()) return;
  constexpr std::size_t kLine = 64;
  const std::size_t first = offset / kLine * kLine, end = (offset + bytes + kLine - 1) / kLine * kLine;
  try {
    const std::lock_guard lock(sync_mutex_);
    xrt::bo bo = block.bo;
    bo.sync(direction, end - first, block.offset + first);
  } catch (const std::exception& e) {
    lost(fmt::format("its memory at {:#x} cannot be copied: {}", block.address + first, e.what()));
  }
}

/// A device process must not ask for memory that is not there: XRT's emulation does not look before it copies.
void LoadedCard::tell_pages(uint64_t address, uint32_t pages) {
  if (!emulation_) return;
  const std::lock_guard lock(told_mutex_);
  write_emulation(xrt_emulation::memory, static_cast<uint32_t>(address));
  write_emulation(xrt_emulation::memory + 4, static_cast<uint32_t>(address >> 32));
  write_emulation(xrt_emulation::pages, pages);
}

uint32_t LoadedCard::read(xrt::ip& ip, uint32_t offset) {
  if (gone()) return kAllOnes;
  try {
    const std::lock_guard lock(registers_mutex_);
    return ip.read_register(offset);
  } catch (const std::exception& e) {
    lost(fmt::format("register {:#x} cannot be read: {}", offset, e.what()));
    return kAllOnes;
  }
}

void LoadedCard::write(xrt::ip& ip, uint32_t offset, uint32_t value) {
  if (gone()) return;
  try {
    const std::lock_guard lock(registers_mutex_);
    ip.write_register(offset, value);
  } catch (const std::exception& e) {
    lost(fmt::format("register {:#x} cannot be written: {}", offset, e.what()));
  }
}

bool LoadedCard::gone() {
  if (gone_.load(std::memory_order_relaxed)) return true;
  if (process_ < 0) return false;
  pollfd ended{process_, POLLIN, 0};
  if (poll(&ended, 1, 0) != 1) return false;
  lost("its device process has ended");
  return true;
}

void LoadedCard::lost(const std::string& why) {
  const std::lock_guard lock(why_mutex_);
  if (why_gone_.empty()) why_gone_ = why;
  gone_ = true;
}

std::string LoadedCard::why_gone() const {
  const std::lock_guard lock(why_mutex_);
  return why_gone_;
}

}  // namespace tidemill::xrt_card

// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>

namespace tidemill::soak {

std::string replay_command(const Options& options, uint64_t posted) {
  const Options standard;
  std::string command = fmt::format("tidemill soak --seed {} --transactions {}", options.seed, posted);
  if (options.size != standard.size) command += fmt::format(" --size {}", name_of(options.size));
  if (options.banks != standard.banks) command += fmt::format(" --banks {}", options.banks);
  if (options.agents != standard.agents) command += fmt::format(" --agents {}", options.agents);
  if (options.outstanding != standard.outstanding) command += fmt::format(" --outstanding {}", options.outstanding);
  for (const RateInfo& rate : kRates) {
    const double value = options.rates.*rate.value;
    if (value != standard.rates.*rate.value) command += fmt::format(" --{} {}", rate.name, value);
  }
  return command;
}

}  // namespace tidemill::soak

// SPDX-License-Identifier: Apache-2.0
/// What an xclbin says about itself, read before XRT is asked to load it: XRT takes a damaged file for granted.
#pragma once
#include <string>

#include "tidemill/error.hpp"

namespace tidemill::xrt_card {

struct XclbinFile {
  std::string path;
  std::string platform;    ///< "xilinx_u50_gen3x16_xdma_5_202210_1".
  bool emulation = false;  ///< For hw_emu: it carries a device process, not a bitstream.
};

/// Errors name the file and what is wrong with it.
Result<XclbinFile> inspect_xclbin(const std::string& path);

}  // namespace tidemill::xrt_card

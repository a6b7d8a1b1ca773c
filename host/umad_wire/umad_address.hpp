// SPDX-License-Identifier: Apache-2.0
/// Addresses as libibumad writes them, in network order: field for field. Of a received MAD the kernel leaves the Q_Key
/// 0. The drop-in libibumad is built from this, too.
#pragma once
#include <infiniband/umad.h>

#include "tidemill/address.hpp"

namespace tidemill::umad {

ib_mad_addr_t to_umad(const Address& a);
Address from_umad(const ib_mad_addr_t& a);

}  // namespace tidemill::umad

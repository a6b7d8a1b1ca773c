// SPDX-License-Identifier: Apache-2.0
/// Everything of the runtime.
#pragma once
#include "tidemill/address.hpp"
#include "tidemill/agent.hpp"
#include "tidemill/clock.hpp"
#include "tidemill/device.hpp"
#include "tidemill/error.hpp"
#include "tidemill/fabric.hpp"
#include "tidemill/ibsim.hpp"
#include "tidemill/mad.hpp"
#include "tidemill/send.hpp"
#include "tidemill/stats.hpp"
#include "tidemill/trace.hpp"
#include "tidemill/wire.hpp"

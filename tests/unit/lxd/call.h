#pragma once

#include "tests/unit/driver_call/call.h"

namespace hostler::lxd::test {

using driver::test::Call;
using driver::test::Seen;
using driver::test::SeenImage;
using driver::test::SeenOffering;

}  // namespace hostler::lxd::test

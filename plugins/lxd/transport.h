#pragma once

#include "http/transport.h"

namespace hostler::lxd {

using http::kTimeoutMs;
using http::NoAnswer;
using http::Transport;
using HttpRequest = http::Request;
using HttpAnswer = http::Answer;

}  // namespace hostler::lxd

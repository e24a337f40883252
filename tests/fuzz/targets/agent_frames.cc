#include "tests/fuzz/frames.h"

/// The messages that the daemon receives, decoded without a connection; agent_to_daemon adds that.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  const auto heard = fuzz::check_frames<agent::FromAgent>(fuzz::as_text(data, size));
  for (const agent::FromAgent& message : heard.messages)
    if (const auto* output = std::get_if<agent::Output>(&message))
      fuzz::promise(output->data.size() <= agent::kChunkMax, "a piece of output is bounded");
  return 0;
}

#include "tests/fuzz/frames.h"

/// What the daemon hears, as frames alone; agent_to_daemon has the connection around them.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  const auto heard = fuzz::check_frames<agent::FromAgent>(fuzz::as_text(data, size));
  for (const agent::FromAgent& message : heard.messages)
    if (const auto* output = std::get_if<agent::Output>(&message))
      fuzz::promise(output->data.size() <= agent::kChunkMax, "a piece of output is bounded");
  return 0;
}

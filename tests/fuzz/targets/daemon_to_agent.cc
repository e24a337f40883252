#include "tests/fuzz/frames.h"

/// The messages that the agent receives on its connection.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  const auto heard = fuzz::check_frames<agent::ToAgent>(fuzz::as_text(data, size));
  for (const agent::ToAgent& message : heard.messages)
    if (const auto* put = std::get_if<agent::BlobPut>(&message))
      fuzz::promise(put->data.size() <= agent::kChunkMax, "a piece of a blob is bounded");
  return 0;
}

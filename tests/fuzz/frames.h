#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/agent/protocol.h"
#include "tests/fuzz/target.h"

namespace hostler::fuzz {

template <class Message>
std::string encoded(const Message& message) {
  std::string out;
  std::visit(
      [&](const auto& alternative) {
        const auto done = agent::encode(alternative, out);
        promise(done.has_value(), "what was decoded can be encoded",
                done ? "" : done.error().message);
      },
      message);
  return out;
}

/// The messages of a stream of frames, and its end: an error, or a message that is not complete.
template <class Message>
struct Heard {
  std::vector<Message> messages;
  std::string bytes;  ///< Of the messages, encoded again.
  std::string error;
  [[nodiscard]] bool same(const Heard& other) const {
    return bytes == other.bytes && error == other.error;
  }
};

/// Takes all complete messages from the decoder. False: the stream has an error.
template <class Message>
bool drain(agent::Decoder<Message>& decoder, Heard<Message>& heard) {
  for (;;) {
    auto message = decoder.next();
    if (!message) {
      promise(message.error().code == Errc::kMisbehaving, "a bad frame is misbehaviour");
      promise(!message.error().message.empty(), "a bad frame says what is wrong");
      heard.error = message.error().message;
      return false;
    }
    if (!*message) return true;
    heard.bytes += encoded(**message);
    heard.messages.push_back(**std::move(message));
  }
}

/// Feeds `bytes` in pieces that end at each of `cuts` (rising).
template <class Message>
Heard<Message> hear(std::string_view bytes, const std::vector<std::size_t>& cuts) {
  agent::Decoder<Message> decoder;
  Heard<Message> out;
  std::size_t from = 0;
  for (const std::size_t to : cuts) {
    decoder.feed(bytes.substr(from, to - from));
    if (!drain(decoder, out)) return out;
    promise(decoder.buffered() < agent::kFrameMax + bytes.size(), "what is kept is bounded");
    from = to;
  }
  return out;
}

/// Promises of the protocol, in both directions: the messages do not depend on how their bytes are
/// split into pieces, and encoding a message again gives the same bytes.
template <class Message>
Heard<Message> check_frames(std::string_view bytes) {
  auto whole = hear<Message>(bytes, {bytes.size()});
  promise(bytes.starts_with(whole.bytes), "a frame encodes to the bytes it was decoded from");

  const std::size_t middle = cut(bytes, 1);
  promise(hear<Message>(bytes, {middle, bytes.size()}).same(whole), "a split changes nothing");
  if (bytes.size() > 512) return whole;
  std::vector<std::size_t> each(bytes.size());
  for (std::size_t i = 0; i < each.size(); ++i) each[i] = i + 1;
  promise(hear<Message>(bytes, each).same(whole), "byte by byte changes nothing");
  return whole;
}

}  // namespace hostler::fuzz

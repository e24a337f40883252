#include "core/agent/protocol.h"

#include "core/agent/model_fields.h"
#include "core/agent/wire.h"

namespace hostler::agent {
namespace {

using wire::fields;
using wire::Reader;
using wire::Writer;

constexpr std::size_t kIdMax = 128;
constexpr std::size_t kPathMax = 4096;
constexpr std::size_t kArgMax = std::size_t{128} << 10;  // MAX_ARG_STRLEN of Linux
constexpr std::size_t kItemsMax = 16384;
constexpr std::size_t kBodyMax = std::size_t{2} << 20;  // scripts and stdin
constexpr std::size_t kShaMax = 64;

// Describes the fields of each message once, for encoding and decoding; see wire.h.
#define FIELDS(Message) \
  template <class V>    \
  void fields(V& v, typename V::template Ref<Message> m)

FIELDS(Check) {
  v.text("name", m.name, kIdMax);
  v.text("command", m.command, kArgMax);
  v.number("interval_us", m.interval_us);
  v.number("timeout_us", m.timeout_us);
  v.choice("kind", m.kind, Check::Kind::kInterrupted);
}

const auto kName = [](auto& v, auto& item) { v.text("", item, kIdMax); };
const auto kPath = [](auto& v, auto& item) { v.text("", item, kPathMax); };

FIELDS(Cards::File) {
  v.text("path", m.path, kPathMax);
  v.text("bus", m.bus, kIdMax);
}
FIELDS(Known) {
  fields(v, m.attempt);
  v.choice("phase", m.phase, Phase::kUnknownEnd);
  v.list("cards", m.cards, model::kCardsMax, kName);
}
FIELDS(OutputFile) {
  v.text("path", m.path, kPathMax);
  v.number("size", m.size);
  v.number("mode", m.mode);
  v.text("problem", m.problem, kTextMax);
}

// How the elements of lists are encoded.
const auto kRecord = [](auto& v, auto& item) { fields(v, item); };
const auto kArg = [](auto& v, auto& item) { v.text("", item, kArgMax); };
const auto kPair = [](auto& v, auto& item) {
  v.text("name", item.first, kArgMax);
  v.text("value", item.second, kArgMax);
};

FIELDS(Quit) { (void)v, (void)m; }
FIELDS(Configure) {
  v.number("uid_first", m.uid_first);
  v.number("uid_count", m.uid_count);
  v.number("blobs_max", m.blobs_max);
  v.list("checks", m.checks, 64, kRecord);
  v.text("cards_command", m.cards_command, kArgMax);
  v.number("cards_timeout_us", m.cards_timeout_us);
}
FIELDS(Guard) { v.list("files", m.files, kCardFilesMax, kPath); }
FIELDS(Start) {
  fields(v, m.attempt);
  v.text("boot_id", m.boot_id, kIdMax);
  v.number("sequence", m.sequence);
  v.list("command", m.command, kItemsMax, kArg);
  v.text("script", m.script, kBodyMax);
  v.list("env", m.env, kItemsMax, kPair);
  v.text("stdin", m.stdin_text, kBodyMax);
  v.list("inputs", m.inputs, kItemsMax, kRecord);
  v.list("outputs", m.outputs, 1024, kArg);
  v.number("time_limit_us", m.time_limit_us);
  v.number("grace_us", m.grace_us);
  v.number("ram_max", m.ram_max);
  v.number("processes_max", m.processes_max);
  v.number("output_head_max", m.output_head_max);
  v.number("output_tail_max", m.output_tail_max);
  v.number("files_bytes_max", m.files_bytes_max);
  v.text("interruption_command", m.interruption_command, kArgMax);
  v.number("credit", m.credit);
  v.flag("no_new_privs", m.no_new_privs);
  v.flag("drop_capabilities", m.drop_capabilities);
  v.list("cards", m.cards, model::kCardsMax, kName);
  v.list("files", m.files, kCardFilesMax, kPath);
}
FIELDS(Kill) {
  fields(v, m.attempt);
  v.flag("at_once", m.at_once);
}
FIELDS(Interrupt) {
  fields(v, m.attempt);
  v.number("notice", m.notice);
  v.number("at_us", m.at_us);
  v.number("left_us", m.left_us);
  v.choice("action", m.action, model::InterruptionAction::kWithdrawn);
}
FIELDS(List) { (void)v, (void)m; }
FIELDS(Ack) { v.list("attempts", m.attempts, kListingMax, kRecord); }
FIELDS(Credit) {
  fields(v, m.attempt);
  v.number("stream", m.stream);
  v.number("from", m.from);
  v.number("until", m.until);
}
FIELDS(ListFiles) { fields(v, m.attempt); }
FIELDS(BlobQuery) { v.text("sha256", m.sha256, kShaMax); }
FIELDS(BlobPut) {
  v.text("sha256", m.sha256, kShaMax);
  v.number("size", m.size);
  v.number("offset", m.offset);
  v.text("data", m.data, kChunkMax);
}
FIELDS(Ping) { v.number("token", m.token); }

FIELDS(Hello) {
  v.number("version", m.version);
  v.text("boot_id", m.boot_id, kIdMax);
  v.text("state_id", m.state_id, kIdMax);
  v.text("agent_sha", m.agent_sha, kShaMax);
  v.number("uid", m.uid);
  v.choice("limits", m.limits, Limits::kCgroupV2);
  v.number("last_sequence", m.last_sequence);
}
FIELDS(Scratch) { v.number("bytes", m.bytes); }
FIELDS(Ram) { v.number("bytes", m.bytes); }
FIELDS(Cards) {
  v.choice("tool", m.tool, Cards::Tool::kCommand);
  v.number("status", m.status);
  v.flag("timed_out", m.timed_out);
  v.flag("cut", m.cut);
  v.text("text", m.text, kCardsTextMax);
  v.list("files", m.files, kCardFilesMax, kRecord);
  v.choice("guard", m.guard, model::CardGuard::kBpf);
}
FIELDS(Listing) {
  v.list("known", m.known, kListingMax, kRecord);
  v.flag("last", m.last);
}
FIELDS(Started) {
  fields(v, m.attempt);
  v.number("started_us", m.started_us);
}
FIELDS(Refused) {
  fields(v, m.attempt);
  v.choice("why", m.why, Refused::Why::kInternal);
  v.text("text", m.text, kTextMax);
}
FIELDS(Exit) {
  fields(v, m.attempt);
  fields(v, m.end);
}
FIELDS(Output) {
  fields(v, m.attempt);
  v.number("stream", m.stream);
  v.number("offset", m.offset);
  v.text("data", m.data, kChunkMax);
}
FIELDS(OutputLost) {
  fields(v, m.attempt);
  v.number("stream", m.stream);
  v.text("text", m.text, kTextMax);
}
FIELDS(Files) {
  fields(v, m.attempt);
  v.list("files", m.files, kListingMax, kRecord);
  v.flag("last", m.last);
}
FIELDS(BlobState) {
  v.text("sha256", m.sha256, kShaMax);
  v.flag("present", m.present);
  v.text("problem", m.problem, kTextMax);
}
FIELDS(HostBroken) {
  v.text("check", m.check, kIdMax);
  v.text("text", m.text, kTextMax);
}
FIELDS(SpotNotice) { v.text("text", m.text, kTextMax); }
FIELDS(Pong) { v.number("token", m.token); }
FIELDS(Problem) { v.text("text", m.text, kTextMax); }
#undef FIELDS

struct Type {
  std::uint8_t number;
  const char* name;
};
template <class Message>
constexpr Type kType{};
template <>
constexpr Type kType<Quit>{1, "quit"};
template <>
constexpr Type kType<Configure>{2, "configure"};
template <>
constexpr Type kType<Start>{3, "start"};
template <>
constexpr Type kType<Kill>{4, "kill"};
template <>
constexpr Type kType<List>{5, "list"};
template <>
constexpr Type kType<Ack>{6, "ack"};
template <>
constexpr Type kType<Credit>{7, "credit"};
template <>
constexpr Type kType<ListFiles>{8, "list_files"};
template <>
constexpr Type kType<BlobQuery>{9, "blob_query"};
template <>
constexpr Type kType<BlobPut>{10, "blob_put"};
template <>
constexpr Type kType<Ping>{11, "ping"};
template <>
constexpr Type kType<Interrupt>{12, "interrupt"};
template <>
constexpr Type kType<Guard>{13, "guard"};
template <>
constexpr Type kType<Hello>{64, "hello"};
template <>
constexpr Type kType<Listing>{65, "listing"};
template <>
constexpr Type kType<Started>{66, "started"};
template <>
constexpr Type kType<Refused>{67, "refused"};
template <>
constexpr Type kType<Exit>{68, "exit"};
template <>
constexpr Type kType<Output>{69, "output"};
template <>
constexpr Type kType<OutputLost>{70, "output_lost"};
template <>
constexpr Type kType<Files>{71, "files"};
template <>
constexpr Type kType<BlobState>{72, "blob_state"};
template <>
constexpr Type kType<HostBroken>{73, "host_broken"};
template <>
constexpr Type kType<SpotNotice>{74, "spot_notice"};
template <>
constexpr Type kType<Pong>{75, "pong"};
template <>
constexpr Type kType<Problem>{76, "problem"};
template <>
constexpr Type kType<Scratch>{77, "scratch"};
template <>
constexpr Type kType<Ram>{78, "ram"};
template <>
constexpr Type kType<Cards>{79, "cards"};

template <class Message>
std::string read_fields(std::string_view body, Message& message) {
  Reader reader(kType<Message>.name, body);
  fields(reader, message);
  reader.end();
  return reader.problem();
}

template <class Message, std::size_t... kIndex>
Result<Message> decode_body(std::uint8_t type, std::string_view body,
                            std::index_sequence<kIndex...>) {
  Message message;
  std::string problem = "frame type " + std::to_string(type) + " is unknown";
  const auto attempt = [&]<std::size_t kI>() {
    using Alternative = std::variant_alternative_t<kI, Message>;
    if (type != kType<Alternative>.number) return false;
    problem = read_fields(body, message.template emplace<kI>());
    return true;
  };
  (void)(attempt.template operator()<kIndex>() || ...);
  if (!problem.empty()) return fail(Errc::kMisbehaving, std::move(problem));
  return message;
}

std::uint32_t length_at(std::string_view bytes) {
  std::uint32_t length = 0;
  for (unsigned i = 0; i < 4; ++i)
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8U * i);
  return length;
}

}  // namespace

template <class Message>
Result<void> encode(const Message& message, std::string& out) {
  const std::size_t begin = out.size();
  out.append(4, '\0');
  out.push_back(static_cast<char>(kType<Message>.number));
  Writer writer(kType<Message>.name, out);
  fields(writer, message);
  const std::size_t length = out.size() - begin - 4;
  if (!writer.ok() || length > kFrameMax) {
    out.resize(begin);
    return fail(Errc::kTooLarge, writer.ok() ? std::string(kType<Message>.name) + ": " +
                                                   std::to_string(length) + " bytes is more than " +
                                                   std::to_string(kFrameMax)
                                             : writer.problem());
  }
  for (unsigned i = 0; i < 4; ++i) out[begin + i] = static_cast<char>((length >> (8U * i)) & 0xffU);
  return {};
}

template <class Message>
void Decoder<Message>::feed(std::string_view bytes) {
  queue_.end().append(bytes);
}

template <class Message>
Result<std::optional<Message>> Decoder<Message>::next() {
  const std::string_view rest = queue_.bytes();
  if (rest.size() < 4) return std::nullopt;
  const std::uint32_t length = length_at(rest);
  if (length == 0 || length > kFrameMax)
    return fail(Errc::kMisbehaving, "frame length " + std::to_string(length) +
                                        " is not between 1 and " + std::to_string(kFrameMax));
  if (rest.size() < 4 + std::size_t{length}) return std::nullopt;
  constexpr auto kAll = std::make_index_sequence<std::variant_size_v<Message>>();
  auto message =
      decode_body<Message>(static_cast<std::uint8_t>(rest[4]), rest.substr(5, length - 1), kAll);
  if (!message) return tl::unexpected(std::move(message).error());
  queue_.drop(4 + std::size_t{length});
  return std::optional<Message>(*std::move(message));
}

template class Decoder<ToAgent>;
template class Decoder<FromAgent>;

template Result<void> encode(const Quit&, std::string&);
template Result<void> encode(const Configure&, std::string&);
template Result<void> encode(const Start&, std::string&);
template Result<void> encode(const Kill&, std::string&);
template Result<void> encode(const Interrupt&, std::string&);
template Result<void> encode(const List&, std::string&);
template Result<void> encode(const Ack&, std::string&);
template Result<void> encode(const Credit&, std::string&);
template Result<void> encode(const ListFiles&, std::string&);
template Result<void> encode(const BlobQuery&, std::string&);
template Result<void> encode(const BlobPut&, std::string&);
template Result<void> encode(const Ping&, std::string&);
template Result<void> encode(const Guard&, std::string&);
template Result<void> encode(const Hello&, std::string&);
template Result<void> encode(const Listing&, std::string&);
template Result<void> encode(const Started&, std::string&);
template Result<void> encode(const Refused&, std::string&);
template Result<void> encode(const Exit&, std::string&);
template Result<void> encode(const Output&, std::string&);
template Result<void> encode(const OutputLost&, std::string&);
template Result<void> encode(const Files&, std::string&);
template Result<void> encode(const BlobState&, std::string&);
template Result<void> encode(const HostBroken&, std::string&);
template Result<void> encode(const SpotNotice&, std::string&);
template Result<void> encode(const Pong&, std::string&);
template Result<void> encode(const Problem&, std::string&);
template Result<void> encode(const Scratch&, std::string&);
template Result<void> encode(const Ram&, std::string&);
template Result<void> encode(const Cards&, std::string&);

}  // namespace hostler::agent

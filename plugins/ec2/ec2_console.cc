#include <algorithm>

#include "digest.h"
#include "ec2_set.h"
#include "http/text.h"

namespace hostler::ec2 {
namespace {

constexpr std::size_t kPieceMax = std::size_t{64} * 1024;
/// EC2 keeps the last "64 KB" of a console. A text of this length may lack its beginning.
constexpr std::size_t kMayBeCut = 64'000;

/// How much is missing is not known, but only the first byte of a machine's console has offset 0.
std::uint64_t missing_before(const std::string& text) { return text.size() < kMayBeCut ? 0 : 1; }

void emit_console(const std::string& all, std::size_t begin, std::int64_t as_of, hostler_op* op) {
  while (begin < all.size()) {
    auto piece = driver::console_record();
    piece.offset = missing_before(all) + begin;
    piece.bytes = reinterpret_cast<const std::uint8_t*>(all.data()) + begin;
    piece.n_bytes = std::min(kPieceMax, all.size() - begin);
    piece.as_of_unix_ns = as_of;
    driver::emit(op, piece);
    begin += piece.n_bytes;
  }
}

Answer ask_for_console(const Api& api, const std::string& id, hostler_op* op) {
  Query query("GetConsoleOutput");
  query.add("InstanceId", id);
  Query latest = query;
  try {
    return api.ask(latest.add("Latest", "true"), op);
  } catch (const Refused& refused) {
    if (refused.code() != "UnsupportedOperation") throw;
    return api.ask(query, op);  // of a type that is not Nitro: a text that may be minutes old
  }
}

}  // namespace

void Ec2Set::read_console(const hostler_console_req& request, hostler_op* op) {
  const std::string id = text(request.id);
  with_context("read the console of " + id, [&] {
    const Answer answer = ask_for_console(ec2_, id, op);
    const std::string all = from_base64(text_of(answer.root(), "output"));
    const std::uint64_t missing = missing_before(all);
    std::size_t begin =
        std::min<std::size_t>(request.offset < missing ? 0 : request.offset - missing, all.size());
    if (request.bytes_max != 0 && all.size() - begin > request.bytes_max)
      begin = all.size() - request.bytes_max;
    emit_console(all, begin, http::read_time_ns(text_of(answer.root(), "timestamp")), op);
  });
}

}  // namespace hostler::ec2

#include <algorithm>

#include "lxd_set.h"
#include "with_context.h"

namespace hostler::lxd {
namespace {

constexpr std::size_t kPieceMax = std::size_t{64} * 1024;
/// LXD keeps so much of a console, and does not say how much it has dropped before that.
constexpr std::size_t kKeptMax = std::size_t{128} * 1024;

/// Where the text that LXD has begins in the whole, at least: a full one is not believed to be
/// whole.
std::size_t first_offset(const std::string& all) { return all.size() + 1 < kKeptMax ? 0 : 1; }

void emit_console(const std::string& all, std::size_t begin, hostler_op* op) {
  while (begin < all.size()) {
    auto piece = driver::sized<hostler_console>();
    piece.kind = HOSTLER_REC_CONSOLE;
    piece.offset = begin + first_offset(all);
    piece.bytes = reinterpret_cast<const std::uint8_t*>(all.data()) + begin;
    piece.n_bytes = std::min(kPieceMax, all.size() - begin);
    driver::emit(op, reinterpret_cast<const hostler_rec*>(&piece));
    begin += piece.n_bytes;
  }
}

}  // namespace

/// LXD keeps the last part of the text while the container runs.
void LxdSet::read_console(const hostler_console_req& request, hostler_op* op) {
  const std::string name = text(request.id);
  with_context("read the console of " + name, [&] {
    std::string all;
    try {
      all = api_.text(Api::instance(name, "/console?type=log"), op);
    } catch (const Refused& refused) {
      if (!says_missing(refused) || !find(name, op)) throw;
      return;  // it has no text yet
    }
    std::size_t begin = std::min<std::size_t>(request.offset, all.size());
    if (request.bytes_max != 0 && all.size() - begin > request.bytes_max)
      begin = all.size() - request.bytes_max;
    emit_console(all, begin, op);
  });
}

}  // namespace hostler::lxd

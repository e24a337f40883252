#include "core/ssh/gzip.h"

#define ZLIB_CONST  // its input is const
#include <zlib.h>

#include "core/base/assert.h"

namespace hostler::ssh {

std::string gzip(std::string_view text) {
  constexpr int kGzipWindow = 15 + 16;  // the largest window, with gzip's head and end
  constexpr int kMemory = 8;            // zlib's default
  z_stream stream{};
  const int begun = deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemory,
                                 Z_DEFAULT_STRATEGY);
  HOSTLER_ASSERT(begun == Z_OK, "zlib has memory, and is the version of its header");
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<const Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  HOSTLER_ASSERT(ended == Z_STREAM_END, "deflateBound() is room enough");
  return out;
}

}  // namespace hostler::ssh

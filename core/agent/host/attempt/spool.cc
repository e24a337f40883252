#include "core/agent/host/attempt/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace hostler::agent {

std::string spool_path(model::AttemptId attempt, std::uint32_t stream) {
  return "out/" + std::to_string(attempt.work.value) + "." + std::to_string(attempt.number) + "." +
         std::to_string(stream);
}

std::uint64_t SpoolShape::place(std::uint64_t offset) const {
  if (offset < head_max || tail_max == 0) return offset;
  return head_max + (offset - head_max) % tail_max;
}

std::uint64_t SpoolShape::run(std::uint64_t offset) const {
  if (offset < head_max) return head_max - offset;
  return tail_max == 0 ? 0 : tail_max - (offset - head_max) % tail_max;
}

std::uint64_t SpoolShape::next_kept(std::uint64_t offset, std::uint64_t total) const {
  if (offset < head_max) return offset;
  return std::max(offset, total > tail_max ? total - tail_max : 0);
}

void Spool::append(std::string_view data) {
  total_ += data.size();
  if (total_ <= kInlineMax) {
    whole_.append(data);
    return;
  }
  spill();
  write(data);
}

void Spool::spill() {
  if (written_ < whole_.size()) write(std::string_view(whole_).substr(written_));
}

void Spool::write(std::string_view data) {
  if (!fd_ && problem_.empty()) {
    fd_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd_) problem_ = os_error("create " + path_).message;
  }
  while (!data.empty()) {
    const std::uint64_t run = shape_.run(written_);
    // Without a tail, bytes behind the head are counted and dropped.
    const std::size_t piece = run == 0 ? data.size() : std::min<std::uint64_t>(run, data.size());
    std::size_t done = run == 0 || !problem_.empty() ? piece : 0;
    while (done < piece) {
      const ssize_t n = ::pwrite(fd_.get(), data.data() + done, piece - done,
                                 static_cast<off_t>(shape_.place(written_ + done)));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        problem_ = os_error("write " + path_).message;
        break;
      }
      done += static_cast<std::size_t>(n);
    }
    written_ += piece;
    data.remove_prefix(piece);
  }
}

}  // namespace hostler::agent

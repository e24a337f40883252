#include "sdk/check/run/findings.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "core/base/masked.h"
#include "core/base/text.h"

namespace hostler::check {
namespace {

constexpr std::size_t kBytesMax = std::size_t{128} << 10U, kTextMax = 600, kFindingsMax = 200;
constexpr int kNoExit = -1;

}  // namespace

struct Findings::Shared {
  std::atomic<std::size_t> used{0};
  std::atomic<const char*> call{nullptr};
  std::atomic<bool> finished{false}, failed{false}, allows_crash{false};
  std::atomic<int> exit_status{kNoExit};
  std::atomic<Duration::rep> waited{0};
  std::array<char, 64> last_call{};
  std::array<char, kBytesMax> lines{};
};

Findings::Findings(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  shared_ = new (memory) Shared;
}

Findings::~Findings() { (void)::munmap(shared_, sizeof(Shared)); }

/// Takes a piece of the memory first, so that no two writers share one.
void Findings::append(const char* bytes, std::size_t size) {
  const std::size_t at = shared_->used.fetch_add(size);
  if (at > kBytesMax || size > kBytesMax - at) return;
  std::memcpy(shared_->lines.data() + at, bytes, size);
}

void Findings::add(Finding::Kind kind, std::string_view rule, std::string_view call,
                   std::string_view text) {
  if (kind == Finding::Kind::kFail) shared_->failed = true;
  std::string line(1, static_cast<char>(kind));
  for (const std::string_view part : {rule, call, text})
    line.append(1, '\t').append(printable(masked(std::string(part), secrets_), kTextMax));
  line += '\n';
  append(line.data(), line.size());
}

void Findings::fail(std::string_view rule, std::string_view call, std::string_view text) {
  add(Finding::Kind::kFail, rule, call, text);
}
void Findings::warn(std::string_view rule, std::string_view call, std::string_view text) {
  add(Finding::Kind::kWarning, rule, call, text);
}
void Findings::note(std::string_view text) { add(Finding::Kind::kNote, "", "", text); }
void Findings::skip(std::string_view reason) { add(Finding::Kind::kSkip, "", "", reason); }
void Findings::skip_without_cloud(std::string_view reason) {
  add(Finding::Kind::kSkip, kNoCloud, "", reason);
}
void Findings::skip_without_room(std::string_view reason) {
  add(Finding::Kind::kSkip, kNoRoom, "", reason);
}

void Findings::fail_at_end(std::string_view rule, std::string_view call, std::string_view text) {
  add(shared_->allows_crash ? Finding::Kind::kWarning : Finding::Kind::kFail, rule, call, text);
}

void Findings::allow_crash() { shared_->allows_crash = true; }
void Findings::waits(Duration time) { shared_->waited += time.count(); }
Duration Findings::waited() const { return Duration(shared_->waited); }

void Findings::fail_in_signal(const char* rule, const char* call, const char* text) {
  shared_->failed = true;
  std::array<char, 512> line{};
  std::size_t size = 0;
  for (const char* part : {"F\t", rule, "\t", call, "\t", text, "\n"})
    for (; part != nullptr && *part != '\0' && size < line.size(); ++part) line[size++] = *part;
  append(line.data(), size);
}

void Findings::enter(const char* call) {
  shared_->call = call;
  if (call == nullptr) return;
  const std::size_t size = std::min(std::strlen(call), shared_->last_call.size() - 1);
  std::memcpy(shared_->last_call.data(), call, size);
  shared_->last_call[size] = '\0';
}

const char* Findings::call_now() const {
  const char* const call = shared_->call;
  return call == nullptr ? "" : call;
}

void Findings::note_exit(int status) { shared_->exit_status = status; }
void Findings::finish() { shared_->finished = true; }
bool Findings::finished() const { return shared_->finished; }
bool Findings::has_failed() const { return shared_->failed; }
int Findings::exit_status() const { return shared_->exit_status; }

std::string Findings::last_call() const {
  if (shared_->call == nullptr) return {};
  const auto& call = shared_->last_call;
  const auto* const end = std::find(call.begin(), call.end(), '\0');
  return printable({call.begin(), static_cast<std::size_t>(end - call.begin())}, call.size());
}

std::vector<Finding> Findings::all() const {
  const std::size_t used = std::min<std::size_t>(shared_->used, kBytesMax);
  const std::string text(shared_->lines.data(), used);
  std::vector<Finding> out;
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = split(line, '\t');
    if (parts.size() != 4 || parts[0].size() != 1 || out.size() == kFindingsMax) continue;
    if (std::string_view("FWNS").find(parts[0]) == std::string_view::npos) continue;
    Finding finding{static_cast<Finding::Kind>(parts[0][0]), printable(parts[1], 20),
                    printable(parts[2], 60),
                    printable(masked(std::string(parts[3]), secrets_), kTextMax)};
    const auto same = [&](const Finding& other) {
      return other.rule == finding.rule && other.call == finding.call && other.text == finding.text;
    };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace hostler::check

#include "core/simulation/recorded_cloud.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/tap/reader.h"

namespace hostler::simulation {
namespace {

using tap::Call;
using tap::Function;

/// Of each kind: more samples say nothing more. Instances and prices bound the memory.
constexpr std::size_t kSamplesMax = 100'000, kInstancesMax = 1'000'000, kChangesMax = 10'000;
constexpr Duration kLeast = 1ms;

double part(std::uint64_t some, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(some) / static_cast<double>(all);
}

/// How long machines took to come and to go.
class MachineTimes {
 public:
  /// What comes to be while nobody records takes an unknown time.
  void begin_session() {
    waiting_.clear();
    leaving_.clear();
  }

  void created(const Call& call) {
    add(creates_, call.took);
    std::string id;
    for (const json::Value record : call.records().children()) id = record.at("id").text_or("");
    if (!id.empty() && waiting_.size() < kInstancesMax) waiting_[id] = call.end();
  }

  void is_up(const std::string& id, Duration now) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    add(boots_, now - found->second);
    ++booted_;
    waiting_.erase(found);
  }

  void listed(const Call& call) {
    for (const json::Value record : call.records().children()) {
      const std::string id(record.at("id").text_or(""));
      const auto state = record.at("state").text_or("");
      if (state == "running" && !record.at("address").text_or("").empty()) is_up(id, call.end());
      if (state == "failed") dead_ += waiting_.erase(id);
      if (state == "gone") is_gone(id, call.end());
    }
    const json::Value root = call.line.root();
    for (const json::Value gone : root.at("gone").children())
      is_gone(std::string(gone.text_or("")), call.end());
  }

  void destroyed(const Call& call) {
    const std::string id(call.request().at("id").text_or(""));
    if (const auto found = waiting_.find(id); found != waiting_.end()) {
      add(never_up_, call.start - found->second);
      waiting_.erase(found);
    }
    if (leaving_.size() < kInstancesMax) leaving_.emplace(id, call.start);
  }

  void give(CloudModel& out) {
    const std::uint64_t dead = dead_ + given_up();
    out.boots_fail = part(dead, dead + booted_);
    if (!creates_.empty()) out.create.samples = std::move(creates_);
    if (!boots_.empty()) out.boot.samples = std::move(boots_);
    if (!destroys_.empty()) out.destroy.samples = std::move(destroys_);
  }

 private:
  static void add(std::vector<Duration>& samples, Duration time) {
    if (samples.size() < kSamplesMax) samples.push_back(std::max(kLeast, time));
  }

  void is_gone(const std::string& id, Duration now) {
    waiting_.erase(id);
    const auto found = leaving_.find(id);
    if (found == leaving_.end()) return;
    add(destroys_, now - found->second);
    leaving_.erase(found);
  }

  /// Machines that were destroyed before they were up, after a longer time than any needed that
  /// came up: others were destroyed as there was no work for them.
  [[nodiscard]] std::uint64_t given_up() const {
    if (boots_.empty()) return 0;
    const Duration longest = *std::ranges::max_element(boots_);
    return static_cast<std::uint64_t>(
        std::ranges::count_if(never_up_, [&](Duration waited) { return waited > longest; }));
  }

  std::vector<Duration> creates_, boots_, destroys_, never_up_;
  std::map<std::string, Duration> waiting_, leaving_;  ///< By id: since when.
  std::uint64_t booted_ = 0, dead_ = 0;
};

/// What the cloud asked for, where that changed.
class Prices {
 public:
  /// The lowest of all zones, as the simulated cloud has none. `asked_type`: that of all records;
  /// empty: each has its own.
  void take(const json::Value& records, std::string_view asked_type, Duration now) {
    std::map<Kind, model::Micros> lowest;
    for (const json::Value record : records.children()) {
      const auto price = tap::money_of(record, "price_per_hour");
      const std::string type(asked_type.empty() ? record.at("provider_type").text_or("")
                                                : asked_type);
      if (!price || type.empty()) continue;
      const auto [found, fresh] = lowest.try_emplace({type, tap::market_of(record)}, *price);
      if (!fresh) found->second = std::min(found->second, *price);
    }
    for (const auto& [kind, price] : lowest) {
      const auto [found, fresh] = last_.try_emplace(kind, price);
      if (!fresh && std::exchange(found->second, price) == price) continue;
      if (changes_.size() < kChangesMax) changes_.push_back({now, kind.first, kind.second, price});
    }
  }

  std::vector<RecordedPrice> changes() { return std::move(changes_); }

 private:
  using Kind = std::pair<std::string, model::Market>;
  std::map<Kind, model::Micros> last_;
  std::vector<RecordedPrice> changes_;
};

/// Goes through the calls in the order of their ends.
class Observations {
 public:
  Result<void> take(const tap::Line& line) {
    if (const auto* session = std::get_if<tap::Session>(&line)) {
      if (!began_) began_ = session->began;
      offset_ = std::max(Duration::zero(), session->began - *began_);
      machines_.begin_session();
    }
    if (const auto* call = std::get_if<Call>(&line)) take(*call);
    return {};
  }

  CloudModel model() {
    CloudModel out;
    machines_.give(out);
    out.creates_fail = part(refused_, creates_);
    out.answers_lost = part(lost_, creates_);
    out.calls_fail = part(failed_, calls_);
    out.recorded_prices = prices_.changes();
    out.recorded_currency = std::move(currency_);
    return out;
  }

 private:
  void take(const Call& call) {
    ++calls_;
    if (call.function == Function::kCreate) ++creates_;
    if (!call.ok()) return failed(call);
    switch (call.function) {
      case Function::kOpen:
      case Function::kInfo:
        for (const json::Value info : call.records().children())
          currency_ = info.at("currency").text_or("");
        return;
      case Function::kCreate:
        return machines_.created(call);
      case Function::kVerifyHostKey:
        return machines_.is_up(std::string(call.request().at("id").text_or("")), call.end());
      case Function::kList:
        return machines_.listed(call);
      case Function::kDestroy:
        return machines_.destroyed(call);
      case Function::kOfferings:
        return prices_.take(call.records(), {}, offset_ + call.end());
      case Function::kPriceHistory:
        return prices_.take(call.records(), call.request().at("provider_type").text_or(""),
                            offset_ + call.end());
      default:
        return;
    }
  }

  void failed(const Call& call) {
    const bool is_create = call.function == Function::kCreate;
    if (call.status == "transient" || call.status == "timeout" || call.status == "rate_limit") {
      // A create without an answer is a failure of its own kind.
      const bool unknown = is_create && call.error().at("outcome_unknown").bool_or(false);
      ++(unknown ? lost_ : failed_);
    } else if (is_create && (call.status == "capacity" || call.status == "quota")) {
      ++refused_;
    }
  }

  std::optional<Wall> began_;
  Duration offset_{};  ///< Of the session.
  MachineTimes machines_;
  Prices prices_;
  std::string currency_;
  std::uint64_t calls_ = 0, creates_ = 0, failed_ = 0, refused_ = 0, lost_ = 0;
};

}  // namespace

Result<CloudModel> read_recorded_cloud(const std::filesystem::path& recording) {
  Observations seen;
  HOSTLER_TRY(
      tap::read_recording(recording, [&](const tap::Line& line) { return seen.take(line); }));
  return seen.model();
}

}  // namespace hostler::simulation

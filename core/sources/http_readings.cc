#include "core/sources/http_readings.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/sources/reading.h"
#include "core/sources/transfer.h"

namespace hostler::sources {
namespace {

constexpr long kConnectionsOfServer = 64;

void initialise_curl() {
  static const CURLcode kDone = curl_global_init(CURL_GLOBAL_DEFAULT);
  HOSTLER_ASSERT(kDone == CURLE_OK, "libcurl can be used");
}

}  // namespace

struct HttpReadings::Parts {
  CURLM* multi = curl_multi_init();
  std::map<ReadingId, std::unique_ptr<Transfer>> transfers;
  std::vector<Ended> ended;  ///< To be returned.

  ~Parts() {
    while (!transfers.empty()) drop(transfers.begin()->first);
    curl_multi_cleanup(multi);
  }
  bool drop(ReadingId id) {
    const auto found = transfers.find(id);
    if (found == transfers.end()) return false;
    curl_multi_remove_handle(multi, found->second->easy());
    transfers.erase(found);
    return true;
  }
  void end(ReadingId id, Result<Samples> samples) {
    ended.push_back({id, to_reading(transfers.at(id)->source(), std::move(samples))});
    drop(id);
  }
  /// Sends the next request of a reading.
  void send(ReadingId id) {
    Transfer& transfer = *transfers.at(id);
    if (auto ready = transfer.prepare(read_clocks().mono); !ready)
      return end(id, tl::unexpected(std::move(ready).error()));
    if (curl_multi_add_handle(multi, transfer.easy()) != CURLM_OK)
      end(id, fail(Errc::kUnavailable, "there is no memory for a request"));
  }
  void finish(ReadingId id, CURLcode code) {
    Transfer& transfer = *transfers.at(id);
    auto samples = transfer.finish(code);
    curl_multi_remove_handle(multi, transfer.easy());
    if (!samples) return end(id, tl::unexpected(std::move(samples).error()));
    if (*samples) return end(id, **std::move(samples));
    send(id);
  }
  void take_finished() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      const CURLcode code = message->data.result;
      const auto found = std::find_if(
          transfers.begin(), transfers.end(),
          [easy = message->easy_handle](auto& one) { return one.second->easy() == easy; });
      if (found != transfers.end()) finish(found->first, code);
    }
  }
};

HttpReadings::HttpReadings() {
  initialise_curl();
  parts_ = std::make_unique<Parts>();
  HOSTLER_ASSERT(parts_->multi != nullptr, "there is memory at the start");
  curl_multi_setopt(parts_->multi, CURLMOPT_MAX_HOST_CONNECTIONS, kConnectionsOfServer);
}

HttpReadings::~HttpReadings() = default;

void HttpReadings::start(ReadingId id, const model::MetricSource& source, std::optional<Wall> at) {
  const Now now = read_clocks();
  parts_->transfers.emplace(
      id, std::make_unique<Transfer>(Inquiry(source, at, now.wall), now.mono + source.timeout));
  parts_->send(id);
}

bool HttpReadings::cancel(ReadingId id) {
  const auto is_it = [&](const Ended& one) { return one.id == id; };
  return parts_->drop(id) || std::erase_if(parts_->ended, is_it) > 0;
}

std::vector<Ended> HttpReadings::wait(Duration most) {
  const auto rounded_up = std::chrono::ceil<std::chrono::milliseconds>(most).count();
  const int ms = static_cast<int>(std::clamp<std::int64_t>(rounded_up, 0, 60'000));
  int running = 0;
  curl_multi_perform(parts_->multi, &running);
  parts_->take_finished();
  if (parts_->ended.empty()) {
    curl_multi_poll(parts_->multi, nullptr, 0, ms, nullptr);
    curl_multi_perform(parts_->multi, &running);
    parts_->take_finished();
  }
  return std::exchange(parts_->ended, {});
}

void HttpReadings::wake() { curl_multi_wakeup(parts_->multi); }

}  // namespace hostler::sources

#include "sdk/check/groups/broken_cloud.h"

#include <algorithm>
#include <utility>

#include "sdk/check/groups/machines.h"
#include "sdk/check/proxy/url.h"

namespace hostler::check {

std::unique_ptr<BrokenCloud> BrokenCloud::open(Context& context) {
  std::unique_ptr<BrokenCloud> cloud(new BrokenCloud(context));
  if (!cloud->start_proxies()) return nullptr;
  const auto library = load_driver(context);
  if (library == nullptr) return nullptr;
  cloud->session_ = std::make_unique<Session>(context, library);
  return cloud->open_set() ? std::move(cloud) : nullptr;
}

bool BrokenCloud::start_proxies() {
  config_json_ = context_.settings.config_json;
  for (const auto& key : context_.settings.endpoints) {
    auto url = read_url(text_at(config_json_, key));
    if (!url) {
      context_.findings.skip("\"endpoints\" names " + key +
                             ", but the config has no address there: http://..., https://... or "
                             "HOST:PORT is needed");
      return false;
    }
    auto proxy = FaultProxy::start(url->host, url->port);
    if (!proxy) {
      context_.findings.fail("kit", "", proxy.error().message);
      return false;
    }
    is_http_ = is_http_ && url->scheme == "http";
    url->host = "127.0.0.1";
    url->port = std::to_string((*proxy)->port());
    config_json_ = with_text(config_json_, key, to_text(*url));
    proxies_.push_back(*std::move(proxy));
  }
  return true;
}

bool BrokenCloud::open_set() {
  auto config = session_->config();
  config.config_json = config_json_;
  const auto opened = session_->open(config);
  if (opened) return true;
  context_.findings.fail("config", "set_open",
                         "the set does not open through the proxy: " + opened.error().message);
  return false;
}

void BrokenCloud::arm(const Fault& fault) {
  for (auto& proxy : proxies_) proxy->arm(fault);
}

void BrokenCloud::answer_all(const std::string& answer) {
  arm({.kind = Fault::Kind::kAnswer, .first = 0, .once = false, .answer = answer});
}

bool BrokenCloud::has_happened() const {
  return std::any_of(proxies_.begin(), proxies_.end(),
                     [](const auto& proxy) { return proxy->has_happened(); });
}

int BrokenCloud::exchanges() const {
  int sum = 0;
  for (const auto& proxy : proxies_) sum += proxy->exchanges();
  return sum;
}

bool expect_complete(Context& c, BrokenCloud& broken, const std::string& id,
                     const std::string& what) {
  const auto listed = broken.session().list();
  const bool happened = broken.has_happened();
  broken.disarm();
  if (!happened) return false;
  if (!listed) {
    if (!is_temporary(listed.error().cls) && !c.findings.has_failed())
      c.findings.fail("R23", "list",
                      what + ": " + to_string(listed.error().cls) +
                          ", not TRANSIENT: " + listed.error().message);
    return true;
  }
  if (std::none_of(listed->begin(), listed->end(), [&](const auto& one) { return one.id == id; }))
    c.findings.fail("R33", "list", what + ": OK, without a machine that is there");
  return true;
}

std::string http_answer(const std::string& head, const std::string& body) {
  return "HTTP/1.1 " + head + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

}  // namespace hostler::check

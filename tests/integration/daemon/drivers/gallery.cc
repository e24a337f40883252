// A cloud in a folder: its machines are files, and never boot. What it finds is in files there,
// with a thing in each line and tabs between its texts: `images` (id, name, owner, architecture,
// seconds since 1970) and `leftovers` (type, id, instance, key, set, owner; `-`: none, `us`: this
// daemon). While `fail_images` or `fail_leftovers` is there, these lists fail; while
// `keep_leftovers` is, destroys of leftovers are refused. Calls are appended to `calls`.
#include <hostler/driver.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace driver = hostler::driver;
using driver::str;
using driver::view;

constexpr std::int64_t kSecond = 1'000'000'000;

/// The folder of {"folder": "/..."}.
std::string gallery_of(std::string_view config) {
  const auto key = config.find("\"folder\"");
  const auto begin = config.find('"', config.find(':', key)) + 1;
  return std::string(config.substr(begin, config.find('"', begin) - begin));
}

std::vector<std::vector<std::string>> lines_of(const std::filesystem::path& file) {
  std::vector<std::vector<std::string>> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream texts(line);
    for (out.emplace_back(); std::getline(texts, line, '\t');) out.back().push_back(line);
  }
  return out;
}

class Gallery {
 public:
  static driver::About about() {
    return {"gallery", "1.0", "test", "Apache-2.0", "{}", HOSTLER_THREAD_CONCURRENT, 16};
  }
  Gallery(const hostler_host&, const hostler_set_config& config, hostler_op*)
      : folder_(gallery_of(view(config.config_json))), set_(view(config.set_id)) {}

  void info(const hostler_set_info_req&, hostler_op* op) {
    auto out = driver::set_info_record();
    out.account_id = str("gallery");
    out.capabilities =
        HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_TAGS_AT_CREATE | HOSTLER_CAP_USER_DATA;
    out.list_consistency_ms = 1;
    driver::emit(op, out);
  }

  void create(const hostler_create_req& request, hostler_op* op) {
    const std::string key(view(request.idempotency_key));
    note("create " + std::string(view(request.type->provider_type)) + " " +
         std::string(view(request.image_id)));
    std::ofstream(folder_ / ("m-" + key)) << view(request.owner);
    emit(key, op);
  }
  void list(const hostler_list_req&, hostler_op* op) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (const auto name = entry.path().filename().string(); name.starts_with("m-"))
        emit(name.substr(2), op);
  }
  void destroy(const hostler_destroy_req& request, hostler_op*) {
    std::filesystem::remove(folder_ / std::string(view(request.id)));
  }
  void set_tags(const hostler_set_tags_req&, hostler_op*) {}

  void find_images(const hostler_images_req& request, hostler_op* op) {
    note("images " + std::string(view(request.name)));
    if (std::filesystem::exists(folder_ / "fail_images"))
      throw driver::Error(HOSTLER_E_TRANSIENT, "the image service is down");
    for (const auto& line : lines_of(folder_ / "images")) {
      auto out = driver::image_record();
      out.id = str(line.at(0));
      out.name = str(line.at(1));
      out.owner = str(line.at(2));
      out.architecture = str(line.at(3));
      out.created_unix_ns = std::atoll(line.at(4).c_str()) * kSecond;
      driver::emit(op, out);
    }
  }

  void list_leftovers(const hostler_leftover_list_req& request, hostler_op* op) {
    note("leftovers");
    if (std::filesystem::exists(folder_ / "fail_leftovers"))
      throw driver::Error(HOSTLER_E_TRANSIENT, "the disks are not known now");
    std::string owner;
    for (std::size_t i = 0; i < request.n_tag_filter; ++i)
      if (view(request.tag_filter[i].key) == "hostler-owner")
        owner = view(request.tag_filter[i].value);
    for (const auto& line : lines_of(folder_ / "leftovers")) {
      auto out = driver::leftover_record();
      out.type = str(line.at(0));
      out.id = str(line.at(1));
      if (line.at(2) != "-") out.instance_id = str(line.at(2));
      std::vector<hostler_kv> tags;
      if (line.at(3) != "-") tags.push_back({str("hostler-key"), str(line.at(3))});
      tags.push_back({str("hostler-set"), str(line.at(4))});
      tags.push_back({str("hostler-owner"), str(line.at(5) == "us" ? owner : line.at(5))});
      out.tags = tags.data();
      out.n_tags = tags.size();
      driver::emit(op, out);
    }
  }
  void destroy_leftover(const hostler_leftover_destroy_req& request, hostler_op*) {
    note("destroy_leftover " + std::string(view(request.type)) + " " +
         std::string(view(request.id)));
    if (std::filesystem::exists(folder_ / "keep_leftovers"))
      throw driver::Error(HOSTLER_E_INVALID, "it is in use");
    std::string rest;
    for (const auto& line : lines_of(folder_ / "leftovers")) {
      if (line.at(1) == view(request.id)) continue;
      for (const auto& text : line) rest += text + (&text == &line.back() ? "\n" : "\t");
    }
    std::ofstream(folder_ / "fresh_leftovers") << rest;
    std::filesystem::rename(folder_ / "fresh_leftovers", folder_ / "leftovers");
  }

 private:
  void note(const std::string& call) const {
    std::ofstream(folder_ / "calls", std::ios::app) << call + "\n";
  }
  void emit(const std::string& key, hostler_op* op) const {
    std::string owner;
    std::ifstream(folder_ / ("m-" + key)) >> owner;
    const std::string id = "m-" + key;
    auto out = driver::instance_record();
    out.id = str(id);
    out.idempotency_key = str(key);
    out.market = HOSTLER_MARKET_ON_DEMAND;
    out.set_id = str(set_);
    out.owner = str(owner);
    out.state = HOSTLER_STATE_PENDING;
    driver::emit(op, out);
  }

  const std::filesystem::path folder_;
  const std::string set_;
};

}  // namespace

HOSTLER_REGISTER(Gallery)

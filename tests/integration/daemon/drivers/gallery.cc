// A cloud that finds images and leftovers. They are in files of its folder, with a thing in each
// line and tabs between its texts: `images` (id, name, owner, architecture, seconds since 1970) and
// `leftovers` (type, id, instance, key, set, owner; `-`: none, `us`: this daemon). While
// `fail_images` or `fail_leftovers` is there, these lists fail; while `keep_leftovers` is, destroys
// of leftovers are refused.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "folder_cloud.h"

namespace {

namespace driver = hostler::driver;
using driver::str;
using driver::view;
using folder_cloud::FolderCloud;

constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<std::vector<std::string>> lines_of(const std::filesystem::path& file) {
  std::vector<std::vector<std::string>> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream texts(line);
    for (out.emplace_back(); std::getline(texts, line, '\t');) out.back().push_back(line);
  }
  return out;
}

class Gallery : public FolderCloud {
 public:
  static driver::About about() {
    return {"gallery", "1.0", "test", "Apache-2.0", "{}", HOSTLER_THREAD_CONCURRENT, 16};
  }
  Gallery(const hostler_host&, const hostler_set_config& config, hostler_op*)
      : FolderCloud(config) {}

  void info(const hostler_set_info_req&, hostler_op* op) {
    auto out = info_of("gallery");
    out.list_consistency_ms = 1;
    driver::emit(op, out);
  }

  void create(const hostler_create_req& request, hostler_op* op) {
    note("create " + std::string(view(request.type->provider_type)) + " " +
         std::string(view(request.image_id)));
    make_machine(request, op);
  }
  void list(const hostler_list_req&, hostler_op* op) { emit_machines(op); }
  void destroy(const hostler_destroy_req& request, hostler_op*) { remove_machine(request); }

  void find_images(const hostler_images_req& request, hostler_op* op) {
    note("images " + std::string(view(request.name)));
    if (has("fail_images")) throw driver::Error(HOSTLER_E_TRANSIENT, "the image service is down");
    for (const auto& line : lines_of(path_of("images"))) {
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
    if (has("fail_leftovers"))
      throw driver::Error(HOSTLER_E_TRANSIENT, "the disks are not known now");
    std::string owner;
    for (std::size_t i = 0; i < request.n_tag_filter; ++i)
      if (view(request.tag_filter[i].key) == "hostler-owner")
        owner = view(request.tag_filter[i].value);
    for (const auto& line : lines_of(path_of("leftovers"))) {
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
    if (has("keep_leftovers")) throw driver::Error(HOSTLER_E_INVALID, "it is in use");
    std::string rest;
    for (const auto& line : lines_of(path_of("leftovers"))) {
      if (line.at(1) == view(request.id)) continue;
      for (const auto& text : line) rest += text + (&text == &line.back() ? "\n" : "\t");
    }
    std::ofstream(path_of("fresh_leftovers")) << rest;
    std::filesystem::rename(path_of("fresh_leftovers"), path_of("leftovers"));
  }
};

}  // namespace

HOSTLER_REGISTER(Gallery)

#include "chaos.h"

#include <atomic>

namespace {

using chaos::fails;
using chaos::view;

/// Its extensions cannot be asked for: a set with the word "throw_in_get_extension" is open.
std::atomic<bool> throws_in_get_extension = false;

/// The text of a key in the config.
std::string value_of(const std::string& config, const std::string& key) {
  const auto found = config.find('"' + key + '"');
  if (found == std::string::npos) return {};
  const auto from = config.find('"', config.find(':', found)) + 1;
  return config.substr(from, config.find('"', from) - from);
}

hostler_status set_open(const hostler_host* h, const hostler_set_config* c, hostler_op* op,
                        hostler_set** out) {
  const std::string config(view(c->config_json));
  const std::string word = value_of(config, "do");
  if (word == "open_refused") return fails(op, HOSTLER_E_INVALID, "config.region is missing");
  if (word == "open_without_set") return HOSTLER_OK;
  if (word == "open_pending") return HOSTLER_PENDING;
  const std::string gate = value_of(config, "gate");
  chaos::begin(word, gate, "set_open");
  chaos::change_process(word, gate);
  if (word == "throw_in_get_extension") throws_in_get_extension = true;
  *out = new hostler_set;
  (*out)->host = h;
  (*out)->word = word;
  (*out)->id = view(c->set_id);
  (*out)->gate = gate;
  hostler::driver::log(*h, word == "logs" ? HOSTLER_LOG_WARNING : HOSTLER_LOG_DEBUG, "opened", op);
  return HOSTLER_OK;
}

void set_close(hostler_set* s) {
  const chaos::Counted counted;
  for (auto& thread : s->threads) thread.join();
  throws_in_get_extension = false;
  const bool throws = s->word == "throw_in_set_close";
  const std::string word = s->word, gate = s->gate;
  if (word == "log_after_close") chaos::log_at_end_of_thread(s->host);
  delete s;
  if (word == "say_hello_again") chaos::say_hello_again();
  chaos::begin(word, gate, "set_close");
  if (throws) throw 1;
}

const void* get_extension(const char* id) {
  if (throws_in_get_extension) throw 1;
  return chaos::extension(id);
}

}  // namespace

extern "C" const hostler_driver* hostler_driver_entry_1(const hostler_host* host) {
  static const hostler_driver table = {sizeof(hostler_driver),
                                       HOSTLER_ABI_MAJOR,
                                       HOSTLER_ABI_MINOR,
                                       HOSTLER_ABI_DRAFT,
                                       0,
                                       CHAOS_THREADING,
                                       4,
                                       0,
                                       CHAOS_NAME,
                                       "1.0",
                                       "hostler tests",
                                       "Apache-2.0",
                                       CHAOS_RUNTIME,
                                       R"({"type":"object"})",
                                       &set_open,
                                       &set_close,
                                       &chaos::set_info,
                                       &chaos::create,
                                       &chaos::list,
                                       &chaos::destroy,
                                       &chaos::set_tags,
                                       &get_extension};
  return host->abi_major == HOSTLER_ABI_MAJOR ? &table : nullptr;
}

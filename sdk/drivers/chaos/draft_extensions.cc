#include <string>
#include <vector>

#include "chaos.h"

namespace chaos {
namespace {

/// The groups of an offering of one gpu, with what is wrong with them by the word.
std::vector<hostler_gpu_group> gpu_groups(const std::string& word) {
  hostler_gpu_group one{str("a100-sxm4-40gb"), std::uint64_t{40} << 30U, 1, 0};
  if (word == "other_gpus") one.count = 9;
  if (word == "bad_gpu_kind") one.kind = str("NVIDIA A100");
  if (word == "huge_gpu") one.memory_bytes = std::uint64_t{1} << 63U;
  return {word == "many_gpu_groups" ? 1'000U : 1U, one};
}

/// What a request says comes back in the record, so that tests see that it has arrived.
const hostler_ext_offerings kOfferings = {
    sizeof kOfferings, 0, [](hostler_set* s, const hostler_offerings_req* r, hostler_op* op) {
      begin(s->word, s->gate, "offerings");
      auto out = hostler::driver::offering_record();
      out.provider_type = r->n_provider_types > 0 ? r->provider_types[0] : str("p.small");
      out.region = str("r1"), out.zone = str("z1"), out.architecture = str("x86_64");
      out.price_micros_per_hour = s->word == "negative_offering" ? -2
                                  : s->word == "dear_offering"   ? INT64_MAX
                                                                 : 40'000;
      out.ram_bytes = std::uint64_t{8} << 30U, out.scratch_bytes = std::uint64_t{20} << 30U;
      out.vcpus = s->word == "huge_offering" ? 4'000'000'000U : 4, out.gpus = 1;
      const auto groups = gpu_groups(s->word);
      out.gpu_groups = s->word == "no_gpu_groups" ? nullptr : groups.data();
      out.n_gpu_groups = groups.size();
      out.market = r->market;
      out.available = s->word == "unknown_offering" ? 77 : HOSTLER_AVAILABLE_YES;
      op->emit(op, reinterpret_cast<const hostler_rec*>(&out));
      return HOSTLER_OK;
    }};

/// Emits a notice and its withdrawal, and ends when it is cancelled.
const hostler_ext_interruption kInterruption = {
    sizeof kInterruption, 0,
    [](hostler_set* s, const hostler_interruption_req*, hostler_op* op) -> hostler_status {
      begin(s->word, s->gate, "watch");
      auto out = hostler::driver::interruption_record();
      out.instance_id = s->word == "notice_of_nothing" ? hostler_str{} : str("i-1");
      out.text = str("spot\nreclaim");
      out.interruption_unix_ns = 121'000'000'000;
      out.action = s->word == "unknown_notice" ? 77 : HOSTLER_INTERRUPTION_STOP;
      op->emit(op, reinterpret_cast<const hostler_rec*>(&out));
      if (s->word == "watch_returns") return HOSTLER_OK;
      if (s->word == "watch_ends") return op->complete(op, HOSTLER_OK), HOSTLER_PENDING;
      const std::lock_guard lock(s->mutex);
      s->threads.emplace_back([op, out]() mutable {
        out.action = HOSTLER_INTERRUPTION_WITHDRAWN;
        op->emit(op, reinterpret_cast<const hostler_rec*>(&out));
        (void)wait_for_cancel(op);
        op->complete(op, HOSTLER_OK);
      });
      return HOSTLER_PENDING;
    }};

const hostler_ext_console kConsole = {
    sizeof kConsole, 0, [](hostler_set* s, const hostler_console_req* r, hostler_op* op) {
      begin(s->word, s->gate, "console read");
      static const std::uint8_t text[] = {'b', 'o', 'o', 't', 0, 0xff, '\n'};
      auto out = hostler::driver::console_record();
      out.as_of_unix_ns = 5'000'000'000;
      out.offset = r->offset;
      out.bytes = text, out.n_bytes = 4;
      op->emit(op, reinterpret_cast<const hostler_rec*>(&out));
      out.offset = r->offset + (s->word == "console_backwards" ? 3
                                : s->word == "console_gap"     ? 9
                                                               : 4);
      out.bytes = text + 4, out.n_bytes = 3;
      op->emit(op, reinterpret_cast<const hostler_rec*>(&out));
      return HOSTLER_OK;
    }};

/// A disk of a machine that is gone.
hostler_status list_leftovers(hostler_set* s, const hostler_leftover_list_req* r, hostler_op* op) {
  static constexpr hostler_kv kOther{HOSTLER_STR("hostler-set"), HOSTLER_STR("another")};
  begin(s->word, s->gate, "leftovers list");
  const std::lock_guard lock(s->mutex);
  const std::string& word = s->word;
  const bool is_used = word == "leftover_of_living" && !s->instances.empty();
  const std::string instance = is_used ? s->instances.begin()->first : "i-1";
  auto out = hostler::driver::leftover_record();
  if (word != "leftover_without_type") out.type = str("disk");
  if (word != "leftover_without_id") out.id = str("d-1");
  out.instance_id = str(instance);
  out.tags = r->tag_filter, out.n_tags = r->n_tag_filter;
  if (word == "leftover_of_another_set") out.tags = &kOther, out.n_tags = 1;
  out.created_unix_ns = word == "leftover_in_future" ? INT64_MAX : 5'000'000'000;
  op->emit(op, reinterpret_cast<const hostler_rec*>(&out));
  if (word != "leftover_untagged" || s->gone.empty() || r->n_tag_filter > 0) return HOSTLER_OK;
  out.id = str("d-2"), out.instance_id = str(s->gone);
  op->emit(op, reinterpret_cast<const hostler_rec*>(&out));
  return HOSTLER_OK;
}

const hostler_ext_leftovers kLeftovers = {
    sizeof kLeftovers, 0, &list_leftovers,
    [](hostler_set* s, const hostler_leftover_destroy_req* r, hostler_op* op) {
      begin(s->word, s->gate, "leftovers destroy");
      const bool is_ours = view(r->expected_set_id) == s->id;
      return is_ours && view(r->type) == "disk" && view(r->id) == "d-1"
                 ? HOSTLER_OK
                 : fails(op, HOSTLER_E_CONFLICT, "it is another set's");
    }};

const hostler_ext_images kImages = {
    sizeof kImages, 0, [](hostler_set* s, const hostler_images_req* r, hostler_op* op) {
      begin(s->word, s->gate, "images find");
      auto out = hostler::driver::image_record();
      if (s->word != "image_without_id") out.id = str("img-1");
      out.name = r->name, out.architecture = r->architecture;
      out.owner = r->n_filters > 0 ? r->filters[0].value : r->owner;
      out.created_unix_ns = 5'000'000'000;
      op->emit(op, reinterpret_cast<const hostler_rec*>(&out));
      return HOSTLER_OK;
    }};

#ifdef CHAOS_POWER
hostler_status says_what(hostler_set* s, const hostler_power_req* r, hostler_op* op,
                         const char* what) {
  begin(s->word, s->gate, what);
  return fails(op, HOSTLER_E_NOT_FOUND, std::string(what) + " of " + std::string(view(r->id)));
}
const hostler_ext_power kPower = {sizeof kPower, 0,
                                  [](hostler_set* s, const hostler_power_req* r, hostler_op* op) {
                                    return says_what(s, r, op, "start");
                                  },
                                  [](hostler_set* s, const hostler_power_req* r, hostler_op* op) {
                                    return says_what(s, r, op, "stop");
                                  }};
#endif

}  // namespace

const void* draft_extension(std::string_view id) {
#ifdef CHAOS_POWER
  if (id == HOSTLER_EXT_POWER) return &kPower;
#endif
  if (id == HOSTLER_EXT_OFFERINGS) return &kOfferings;
  if (id == HOSTLER_EXT_INTERRUPTION) return &kInterruption;
  if (id == HOSTLER_EXT_CONSOLE) return &kConsole;
  if (id == HOSTLER_EXT_LEFTOVERS) return &kLeftovers;
  return id == HOSTLER_EXT_IMAGES ? &kImages : nullptr;
}

}  // namespace chaos

#include <memory>
#include <string>

#include "core/api/lease_codec.h"
#include "core/base/text.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/wish.h"

/// A lease as a holder asks for it, and on its way to the store and to whoever asks for it.
namespace hostler::fuzz {
namespace {

void check_error(const Error& error) {
  promise(error.code == Errc::kInvalidArgument || error.code == Errc::kTooLarge,
          "a bad lease is the holder's fault", error.message);
  promise(error.code == Errc::kTooLarge || error.message.find("at ") != std::string::npos,
          "an error names its place", error.message);
  promise(is_utf8(error.message) && error.message.find('\n') == std::string::npos,
          "an error is one printable line", error.message);
}

void check_limits(const model::LeaseSpec& spec) {
  promise(
      spec.term >= model::kTermMin && spec.term <= model::kTermMax && spec.wait_max.count() >= 0,
      "times are in their range");
  promise(is_wish(spec.needs, spec.constraints.gpu), "only work with gpus asks for a kind of them");
  promise(spec.constraints.pools.size() <= 1, "one pool is named at most");
  promise(spec.notice_command.empty() || !spec.ssh_keys.empty(),
          "a notice needs an account, and that needs keys");
  for (const auto& key : spec.ssh_keys)
    promise(key.find_first_of("\n,\"") == std::string::npos,
            "a key is one line without options, and fits into a list of names", key);
}

void check_shown(const api::LeaseRows& lease) {
  for (const auto sight : {api::Sight::kAll, api::Sight::kPublic}) {
    std::string out;
    json::Writer w(out);
    api::write_lease(w, lease, {}, sight);
    const auto shown = json::Document::parse(out, {.bytes_max = out.size()});
    promise(shown.has_value(), "a lease is shown as JSON", out);
    const bool all = sight == api::Sight::kAll;
    promise(shown->root().has("ssh_keys") == (all && !lease.terms.ssh_keys.empty()),
            "who only reads sees no keys", out);
    promise(shown->root().has("notice_command") == (all && !lease.terms.notice_command.empty()),
            "who only reads sees no command", out);
  }
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  using namespace hostler::fuzz;
  const auto spec = api::read_lease(as_text(data, size));
  if (!spec) return check_error(spec.error()), 0;
  check_limits(*spec);
  const std::string body = api::canonical_body(*spec);
  const auto again = api::read_lease(body);
  promise(again && *again == *spec, "what is written reads back the same", body);
  promise(api::canonical_body(*again) == body, "equal leases give equal text", body);
  const auto rows = api::submitted_lease(*spec);
  promise(rows.work.shape.exclusive && rows.work.record.id.kind == model::WorkKind::kLease,
          "a lease is work that gets a whole host");
  check_shown(rows);
  return 0;
}

#include "saved.h"

#include <algorithm>

namespace hostler::liar {

Saved::Saved(const hostler_instance& seen) : fields(seen) {
  for (hostler_str* const text :
       {&fields.id, &fields.request_id, &fields.idempotency_key, &fields.set_id, &fields.owner,
        &fields.remote_user, &fields.zone, &fields.state_reason})
    *text = own(driver::view(*text));
  for (std::size_t i = 0; i < seen.n_addresses; ++i) {
    addresses_.push_back(seen.addresses[i]);
    addresses_.back().text = own(driver::view(seen.addresses[i].text));
  }
  for (std::size_t i = 0; i < seen.n_tags; ++i)
    tags_.push_back({own(driver::view(seen.tags[i].key)), own(driver::view(seen.tags[i].value))});
}

bool Saved::has_tag(std::string_view key, std::string_view value) const {
  return std::any_of(tags_.begin(), tags_.end(), [&](const hostler_kv& tag) {
    return driver::view(tag.key) == key && driver::view(tag.value) == value;
  });
}

void Saved::set_tag(std::string_view key, const std::string& value) {
  filter_tags([&](std::string_view other) { return other != key; });
  tags_.push_back({own(key), own(value)});
}

hostler_instance Saved::record() const {
  hostler_instance out = fields;
  out.addresses = addresses_.data();
  out.n_addresses = addresses_.size();
  out.tags = tags_.data();
  out.n_tags = tags_.size();
  return out;
}

hostler_str Saved::own(std::string_view text) {
  texts_.push_back(std::make_shared<const std::string>(text));
  return driver::str(*texts_.back());
}

}  // namespace hostler::liar

#include "answers.h"

#include <algorithm>
#include <set>
#include <utility>

namespace hostler::liar {
namespace {

using driver::str;
using driver::view;

template <class Gone>
void drop(std::vector<Saved>& from, Gone gone) {
  from.erase(std::remove_if(from.begin(), from.end(), gone), from.end());
}

void sort_by_id(std::vector<Saved>& all) {
  std::sort(all.begin(), all.end(), [](const Saved& a, const Saved& b) { return a.id() < b.id(); });
}

void add_old(std::vector<Saved>& answer, const Lie& lie, Memory& memory) {
  std::set<std::string> there;
  for (const Saved& one : answer) there.emplace(one.id());
  for (const Saved& one : memory.listed_before()) {
    const std::string id(one.id());
    if (there.count(id) == 0 && (lie.words.size() == 2 || lie.has(id))) answer.push_back(one);
  }
}

void lose_tags(std::vector<Saved>& answer, const Lies& lies, Memory& memory) {
  const Lie* const lost = lies.find("tags", "lost");
  const Lie* const pool = lies.find("tags", "pool");
  const auto stays_wrong = [&](const Lie* lie, std::string_view id, std::string_view tag) {
    return lie != nullptr && (lie->has("stubborn") || !memory.is_repaired(id, tag));
  };
  for (Saved& one : answer) {
    one.filter_tags([&](std::string_view tag) {
      return tag == "hostler-set" || tag == "hostler-owner" || !stays_wrong(lost, one.id(), tag);
    });
    if (stays_wrong(pool, one.id(), "hostler-pool")) one.set_tag("hostler-pool", pool->words[2]);
  }
}

void change_power(std::vector<Saved>& answer, const Lies& lies) {
  for (const auto& [kind, state] :
       {std::pair("stopping", HOSTLER_STATE_STOPPING), std::pair("stopped", HOSTLER_STATE_STOPPED),
        std::pair("suspended", HOSTLER_STATE_SUSPENDED),
        std::pair("failed", HOSTLER_STATE_FAILED)}) {
    const Lie* const lie = lies.find("list", kind);
    for (Saved& one : answer)
      if (lie != nullptr && lie->has(one.id())) one.fields.state = state;
  }
}

using Tags = std::vector<hostler_kv>;

/// Tags: none, or those of the set, the owner and the key first.
void emit_running(const std::string& id, const Tags& tags, hostler_op* op) {
  auto out = driver::instance_record();
  out.id = str(id);
  out.state = HOSTLER_STATE_RUNNING;
  if (!tags.empty()) {
    out.set_id = tags[0].value;
    out.owner = tags[1].value;
    out.idempotency_key = tags[2].value;
    out.tags = tags.data();
    out.n_tags = tags.size();
  }
  driver::emit(op, out);
}

}  // namespace

std::vector<Saved> listed(std::vector<Saved> answer, const Lies& lies, Memory& memory) {
  memory.remember(answer);
  const Lie* const late = lies.find("list", "late");
  drop(answer, [&](const Saved& one) {
    return memory.is_late(one.id(), late == nullptr ? 0 : late->number());
  });
  if (const Lie* old = lies.find("list", "old")) add_old(answer, *old, memory);
  sort_by_id(answer);
  if (lies.find("list", "empty") != nullptr) answer.clear();
  if (lies.find("list", "half") != nullptr) {
    std::size_t at = 0;
    drop(answer, [&](const Saved&) { return at++ % 2 == 0; });
  }
  if (const Lie* omit = lies.find("list", "omit"))
    drop(answer, [&](const Saved& one) { return omit->has(one.id()); });
  if (lies.find("list", "double") != nullptr) {
    const auto once = answer;
    answer.insert(answer.end(), once.begin(), once.end());
  }
  lose_tags(answer, lies, memory);
  change_power(answer, lies);
  return answer;
}

std::vector<Saved> listed_by_id(std::vector<Saved> answer, const hostler_list_req& request,
                                const Lies& lies, Memory& memory) {
  if (lies.find("ids", "error") != nullptr)
    throw driver::Error(HOSTLER_E_TRANSIENT, "the cloud does not answer questions by id now");
  if (lies.find("ids", "empty") != nullptr) return {};
  if (lies.find("ids", "gone") != nullptr) {
    std::set<std::string> asked;
    for (std::size_t i = 0; i < request.n_ids; ++i) asked.emplace(view(request.ids[i]));
    memory.remember(answer);
    answer = memory.listed_before();
    drop(answer, [&](const Saved& one) { return asked.count(std::string(one.id())) == 0; });
    for (Saved& one : answer) one.fields.state = HOSTLER_STATE_GONE;
  }
  lose_tags(answer, lies, memory);
  return answer;
}

void emit_foreign(std::size_t count, hostler_op* op) {
  const Tags tags = {{str("hostler-set"), str("of-another")},
                     {str("hostler-owner"), str("another-owner")},
                     {str("hostler-key"), str("another-key")}};
  for (std::size_t i = 0; i < count; ++i)
    emit_running("foreign-" + std::to_string(i), i % 2 == 0 ? tags : Tags(), op);
}

void emit_own(const Lie& lie, const std::string& set_id, hostler_op* op) {
  const std::string owner = lie.words.size() > 3 ? lie.words[3] : "";
  const std::string epoch = lie.value("epoch"), shared_key = lie.value("key");
  for (std::size_t i = 0; i < lie.number(); ++i) {
    const std::string id = "own-" + std::to_string(i);
    const std::string key = shared_key.empty() ? "key-of-" + id : shared_key;
    Tags tags = {{str("hostler-set"), str(set_id)},
                 {str("hostler-owner"), str(owner)},
                 {str("hostler-key"), str(key)}};
    if (!epoch.empty()) tags.push_back({str("hostler-epoch"), str(epoch)});
    emit_running(id, tags, op);
  }
}

Saved made_by(const hostler_create_req& request, std::string_view set_id, std::uint32_t state) {
  auto out = driver::instance_record();
  const std::string id = "made-" + std::string(view(request.idempotency_key));
  out.id = str(id);
  out.idempotency_key = request.idempotency_key;
  out.set_id = str(set_id);
  out.owner = request.owner;
  out.zone = request.zone;
  out.tags = request.tags;
  out.n_tags = request.n_tags;
  out.market = request.market;
  out.state = state;
  out.state_reason = str("the cloud could not make it");
  Saved saved(out);
  saved.set_tag("hostler-set", std::string(set_id));
  return saved;
}

driver::Error refusal(const Lie& lie) {
  const bool capacity = lie.kind() == "capacity";
  driver::Error error(capacity ? HOSTLER_E_CAPACITY : HOSTLER_E_QUOTA,
                      capacity ? "the cloud has no stock of that" : "the account has no more");
  const auto scope = [&](std::uint32_t bit, const char* key) {
    if (const std::string name = lie.value(key); !name.empty()) error.about(bit, name);
  };
  scope(HOSTLER_SCOPE_TYPE, "type");
  scope(HOSTLER_SCOPE_GROUP, "group");
  scope(HOSTLER_SCOPE_ZONE, "zone");
  scope(HOSTLER_SCOPE_SUBNET, "subnet");
  scope(HOSTLER_SCOPE_REGION, "region");
  return error;
}

}  // namespace hostler::liar

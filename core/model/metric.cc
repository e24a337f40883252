#include "core/model/metric.h"

#include "core/base/text.h"

namespace hostler::model {

std::uint64_t source_id(const MetricSource& source) {
  std::string all;
  const auto add = [&](const std::string& part) { (all += part) += '\0'; };
  for (const int word : {static_cast<int>(source.kind), static_cast<int>(source.pick),
                         static_cast<int>(source.own.what)})
    add(std::to_string(word));
  for (const std::string* text : {&source.url, &source.token_file, &source.query, &source.by,
                                  &source.age_of, &source.pointer, &source.file, &source.own.pool})
    add(*text);
  for (const std::string& argument : source.command) add(argument);
  return fnv1a(all) | 1U;
}

}  // namespace hostler::model

#include <algorithm>

#include "core/usage/usage.h"

namespace hostler::usage {

std::string help_text(const std::vector<Section>& sections) {
  std::string out;
  for (const Section& section : sections) {
    std::size_t width = 0;
    for (const auto& [term, text] : section.terms) width = std::max(width, term.size());
    out += (out.empty() ? "" : "\n") + section.title + ":\n";
    for (const auto& [term, text] : section.terms)
      out += "  " + term + std::string(width - term.size() + 2, ' ') + text + "\n";
  }
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace hostler::usage

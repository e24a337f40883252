#include "core/simulation/svg.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/units.h"

namespace hostler::simulation {
namespace {

constexpr double kWidth = 800, kHeight = 160, kLeft = 70, kTop = 30, kGap = 60;

struct Curve {
  const char* name;
  const char* colour;
  std::int64_t Sample::*value;
};
constexpr std::array kQueue{Curve{"jobs waiting", "#c0392b", &Sample::waiting},
                            Curve{"jobs running", "#27ae60", &Sample::running}};
constexpr std::array kFleet{Curve{"hosts booting", "#e67e22", &Sample::booting},
                            Curve{"hosts idle", "#7f8c8d", &Sample::idle},
                            Curve{"hosts busy", "#2980b9", &Sample::busy}};

std::string coordinate(double value) {
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "%.1f", value);
  return out.data();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return out;
}

void text(std::string& out, double x, double y, const std::string& content,
          const char* colour = "#333") {
  out += "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" fill=\"" + colour + "\">" +
         escaped(content) + "</text>\n";
}

template <std::size_t N>
void chart(std::string& out, double top, const Report& report, const std::array<Curve, N>& curves) {
  std::int64_t most = 1;
  for (const Sample& sample : report.samples)
    for (const Curve& curve : curves) most = std::max(most, sample.*curve.value);
  const double seconds = std::max(1.0, std::chrono::duration<double>(report.lasted).count());
  out += "<rect x=\"" + coordinate(kLeft) + "\" y=\"" + coordinate(top) + "\" width=\"" +
         coordinate(kWidth) + "\" height=\"" + coordinate(kHeight) +
         "\" fill=\"none\" stroke=\"#bbb\"/>\n";
  text(out, 10, top + 10, std::to_string(most));
  text(out, 10, top + kHeight, "0");
  text(out, kLeft + kWidth - 60, top + kHeight + 15, format_duration(report.lasted));
  double x = kLeft + 5;
  for (const Curve& curve : curves) {
    text(out, x, top + kHeight + 15, curve.name, curve.colour);
    x += 120;
    out += std::string("<polyline fill=\"none\" stroke=\"") + curve.colour + "\" points=\"";
    for (const Sample& sample : report.samples) {
      const double at = std::chrono::duration<double>(sample.at).count() / seconds;
      const double part = static_cast<double>(sample.*curve.value) / static_cast<double>(most);
      out += coordinate(kLeft + kWidth * at) + "," + coordinate(top + kHeight * (1 - part)) + " ";
    }
    out += "\"/>\n";
  }
}

}  // namespace

std::string to_svg(const std::vector<Named>& reports) {
  const double each = 2 * (kHeight + kGap) + kTop;
  const double height = each * static_cast<double>(reports.size());
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                    coordinate(kLeft + kWidth + 20) + "\" height=\"" + coordinate(height) +
                    "\" font-family=\"sans-serif\" font-size=\"12\">\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  double top = 0;
  for (const auto& [name, report] : reports) {
    text(out, kLeft, top + 20, name);
    chart(out, top + kTop, report, kQueue);
    chart(out, top + kTop + kHeight + kGap, report, kFleet);
    top += each;
  }
  return out + "</svg>\n";
}

}  // namespace hostler::simulation

#include "bindings/report_json.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bindings/call.hpp"

namespace erx {
namespace {

using Json = nlohmann::ordered_json;

// `violations` counts all; a kernel that is wrong everywhere does not make a report of gigabytes.
constexpr std::ptrdiff_t most_indices = 10000;

// JSON has no infinity: a distance to a special value is the string "inf".
Json number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

Json violation(const Violation& v, const ResultReport& r) {
  Json j{{"index", v.index}, {"got", v.got}, {"allowed", v.allowed}, {"ulps", number(v.ulps)}};
  if (!v.parts.empty()) j["ulps_of_parts"] = {number(v.parts[0]), number(v.parts[1])};
  if (v.nearest >= 0) {
    j["nearest"] = v.nearest;
    if (static_cast<std::size_t>(v.nearest) < r.alternatives.size()) j["nearest_alternative"] = r.alternatives[static_cast<std::size_t>(v.nearest)];
  }
  return j;
}

Json finding(const Finding& f) {
  Json j{{"kind", f.kind}};
  if (!f.text.empty()) j["text"] = f.text;
  if (f.axis >= 0) j["axis"] = f.axis;
  if (f.axis >= 0 || f.stop > f.start) {
    if (f.start >= 0 || f.stop > f.start) j["start"] = f.start;
    if (f.stop > f.start) j["stop"] = f.stop;
  }
  if (f.period > 0) j["period"] = f.period;
  if (f.share > 0) j["share"] = f.share;
  return j;
}

Json texts(const ResultReport& r, bool causes) {
  Json j = Json::array();
  for (const Finding& f : r.findings)
    if ((f.kind == "cause") == causes && !f.text.empty()) j.push_back(f.text);
  return j;
}

Json result(const ResultReport& r) {
  Json j{{"name", result_name(r.name)},     {"spec", r.spec()},         {"sources", r.sources()}, {"type", to_string(r.type)},
         {"shape", r.extents},              {"checked", r.checked},     {"violations", r.violations},
         {"tightness", number(r.tightness)}, {"max_ulps", number(r.max_ulps)}, {"where", texts(r, false)},
         {"causes", texts(r, true)},        {"structure", Json::array()},
         {"alternatives", r.alternatives},  {"first", Json::array()},
         {"outside", std::vector(r.outside.begin(), r.outside.begin() + std::min<std::ptrdiff_t>(std::ssize(r.outside), most_indices))}};
  j["outside_ulps"] = Json::array();  // of the same elements
  for (std::size_t k = 0; k < std::min<std::size_t>(r.distances.size(), most_indices); ++k) j["outside_ulps"].push_back(number(r.distances[k]));
  for (const Finding& f : r.findings) j["structure"].push_back(finding(f));
  for (const auto& v : r.first) j["first"].push_back(violation(v, r));
  return j;
}

}  // namespace

std::string to_json(const Report& report) {
  Json j{{"verdict", !report.applicable ? "inapplicable" : report.ok() ? "covered" : "violation"},
         {"ok", report.ok()},
         {"applicable", report.applicable},
         {"violations", report.violations()},
         {"results", Json::array()},
         {"decided", {{"bulk", report.counters.bulk}, {"compensated", report.counters.compensated}, {"big", report.counters.big}, {"exact", report.counters.exact}, {"open", report.counters.open}}},
         {"rejected_blocks", report.counters.rejected},
         {"seconds", report.seconds}};
  if (!report.applicable) j["assumption"] = report.assumption;
  if (!report.run.empty()) j["choice"] = report.run;
  for (const auto& r : report.results) j["results"].push_back(result(r));
  // Names may hold any bytes; a report is always valid UTF-8.
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace erx

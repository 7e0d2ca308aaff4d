#include "bindings/report_json.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "ops/op.hpp"

using namespace erx;

TEST_CASE("json: everything that a report knows, and valid JSON for every value") {
  Report report;
  report.counters = {.bulk = 1, .compensated = 2, .big = 3, .exact = 4, .open = 5, .rejected = 6};
  ResultReport r;
  Graph graph;
  r.node = build_input(graph, "round<bf16>(\"\xff\")", Type::real(), {}, false, {});  // bytes that are no UTF-8
  r.graph = std::make_shared<const Graph>(std::move(graph));
  r.type = Type::of(*find_format("bf16"));
  r.extents = {2, 3};
  r.checked = 6;
  r.violations = 2;
  r.first = {{{0, 1}, "nan", "{1}", std::numeric_limits<double>::infinity(), 1}, {{1, 2}, "3", "{1}", 2.5, -1}};
  r.findings = {{"axis", "only in row 0", 0, 0, 1, 0, 0.5}, {"cause", "consistent with a wrong sign"}};
  r.alternatives = {"one rounding", "stored first"};
  r.outside = {1, 5};
  r.distances = {std::numeric_limits<float>::infinity(), 2.5F};
  r.tightness = 1.25;
  r.max_ulps = std::numeric_limits<double>::infinity();
  report.results = {r};
  const auto j = nlohmann::json::parse(to_json(report));
  CHECK(j["verdict"] == "violation");
  CHECK(j["ok"] == false);
  CHECK(j["violations"] == 2);
  CHECK(j["decided"]["bulk"] == 1);
  CHECK(j["decided"]["compensated"] == 2);
  CHECK(j["decided"]["open"] == 5);
  CHECK(j["rejected_blocks"] == 6);
  const auto& first = j["results"][0];
  CHECK(first["name"] == "output");
  CHECK(first["type"] == "bf16");
  CHECK(first["shape"] == std::vector<int>{2, 3});
  CHECK(first["where"] == std::vector<std::string>{"only in row 0"});
  CHECK(first["causes"] == std::vector<std::string>{"consistent with a wrong sign"});
  CHECK(first["structure"].dump() == R"([{"axis":0,"kind":"axis","share":0.5,"start":0,"stop":1,"text":"only in row 0"},{"kind":"cause","text":"consistent with a wrong sign"}])");
  CHECK(first["first"][0]["ulps"] == "inf");
  CHECK(first["first"][0]["nearest_alternative"] == "stored first");
  CHECK(!first["first"][1].contains("nearest"));
  CHECK(first["first"][1]["ulps"] == 2.5);
  CHECK(first["outside"] == std::vector<int>{1, 5});
  CHECK(first["outside_ulps"].dump() == R"(["inf",2.5])");
  CHECK(first["tightness"] == 1.25);
  CHECK(first["max_ulps"] == "inf");
  report.results[0].outside.assign(20000, 1);
  CHECK(nlohmann::json::parse(to_json(report))["results"][0]["outside"].size() == 10000);
  CHECK(report.text().ends_with("  warning: 6 blocks of a matrix product from this machine's BLAS failed the checksum and were computed again without it\n"));
  report.counters.rejected = 1;
  CHECK(report.text().find("1 block of a matrix product from this machine's BLAS failed the checksum and was computed again") != std::string::npos);
  report.counters.rejected = 0;
  CHECK(report.text().find("warning") == std::string::npos);
  CHECK(nlohmann::json::parse(to_json(report))["rejected_blocks"] == 0);
  report.applicable = false;
  CHECK(nlohmann::json::parse(to_json(report))["verdict"] == "inapplicable");
}

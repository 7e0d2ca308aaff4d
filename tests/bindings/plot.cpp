// The picture of a report: the file tests/golden/plot.svg word for word, and what holds for any. ERX_WRITE_GOLDEN=1 writes the file anew.
#include "bindings/plot.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "eval/picture.hpp"
#include "ops/op.hpp"

using namespace erx;

namespace {

ResultReport report_of(Extents extents, std::vector<std::int64_t> outside, std::vector<float> distances) {
  ResultReport r;
  Graph graph;
  r.node = build_input(graph, "round<bf16>(acc<f32>(A @ B)) < \"&\"", Type::real(), {}, false, {});
  r.graph = std::make_shared<const Graph>(std::move(graph));
  r.type = Type::of(*find_format("bf16"));
  r.extents = std::move(extents);
  r.checked = size_of(r.extents);
  r.violations = std::ssize(outside);
  r.outside = std::move(outside);
  r.distances = std::move(distances);
  return r;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("plot: golden file") {
  Report report;
  report.results = {report_of({2, 4, 12}, {5, 6, 7, 60, 61, 95}, {3, 40, 1e7F, 1, 2, std::numeric_limits<float>::infinity()})};
  report.results[0].findings = {{"scattered", "6 single elements"}, {"cause", "consistent with nothing & <nobody>"}};
  const std::string svg = to_svg(report), path = std::string(ERX_SOURCE_DIR) + "/tests/golden/plot.svg";
  if (std::getenv("ERX_WRITE_GOLDEN")) std::ofstream(path, std::ios::binary) << svg;
  std::stringstream golden;
  golden << std::ifstream(path, std::ios::binary).rdbuf();
  CHECK(svg == golden.str());
}

TEST_CASE("plot: cells hold the largest distance of their elements, and none is lost at the edges") {
  const auto r = report_of({7, 100}, {0, 1, 6 * 100 + 99}, {4, 9, 2});
  const Picture p = picture_of(r, {12, 3, 30});
  CHECK(p.row_bin == 3);  // no divisor of 7 is near
  CHECK(p.column_bin == 4);
  CHECK(p.cell_rows == 3);
  CHECK(p.cell_columns == 25);
  REQUIRE(p.panels.size() == 1);
  CHECK(p.panels[0].cells[0] == 9);
  CHECK(p.panels[0].cells.back() == 2);
  CHECK(p.largest == 9);
  CHECK(p.smallest == 2);
}

TEST_CASE("plot: many leading indices share panels") {
  const auto r = report_of({5, 7, 2, 3}, {0, 5 * 7 * 6 - 1}, {1, 1});
  const Picture p = picture_of(r, {12, 100, 100});
  REQUIRE(p.panels.size() == 12);
  CHECK(p.panels[0].title == "[0, 0] to [0, 2]");
  CHECK(p.panels[11].title == "[4, 5] to [4, 6]");
  CHECK(p.panels[11].cells.back() == 1);
}

TEST_CASE("plot: every rank and an empty output, and no file is large") {
  for (const Extents& extents : {Extents{}, Extents{1}, Extents{9}, Extents{3, 0}, Extents{1, 1}, Extents{2, 3, 4}, Extents{1, 1, 1, 1, 5}}) {
    std::vector<std::int64_t> outside;
    for (std::int64_t i = 0; i < size_of(extents); ++i) outside.push_back(i);
    Report report;
    report.results = {report_of(extents, outside, std::vector<float>(outside.size(), 2))};
    const std::string svg = to_svg(report);
    INFO(svg);
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(svg.find("nan") == svg.npos);
    CHECK(svg.find("inf") == svg.npos);
    CHECK(count_of(svg, "shape-rendering") == (outside.empty() ? 0 : extents.size() == 3 ? 2 : 1));
  }
  const Extents large = {8, 1, 256, 1024};
  std::vector<std::int64_t> outside;
  std::vector<float> distances;
  for (std::int64_t i = 0; i < size_of(large); i += 3) {
    outside.push_back(i);
    distances.push_back(static_cast<float>(1 + (i * 7919) % 100003));
  }
  Report report;
  report.results = {report_of(large, outside, distances)};
  CHECK(to_svg(report).size() < 1'000'000);
}

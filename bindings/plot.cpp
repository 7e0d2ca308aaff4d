#include "bindings/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "bindings/call.hpp"
#include "eval/number_text.hpp"
#include "eval/picture.hpp"

namespace erx {
namespace {

constexpr double width = 860, left = 62, right = 20, between = 56, label = 14;
constexpr const char* none_colour = "#ebebeb";
constexpr const char* special_colour = "#000000";
// viridis from yellow to violet
constexpr std::array<const char*, 8> colours = {"#fde725", "#a0da39", "#4ac16d", "#1fa187", "#277f8e", "#365c8d", "#46327e", "#440154"};

std::string px(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", x);
  std::string s = text;
  return s.ends_with(".0") ? s.substr(0, s.size() - 2) : s;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : static_cast<unsigned char>(c) < 32 ? " " : std::string(1, c);
  return out;
}

std::string shortened(const std::string& text, std::size_t most) { return text.size() <= most ? text : text.substr(0, most - 3) + "..."; }

std::vector<std::string> wrapped(std::string text, std::size_t most) {
  std::vector<std::string> lines;
  while (text.size() > most) {
    const std::size_t at = std::min(text.rfind(' ', most), text.size());
    if (at == 0 || at == text.size()) break;
    lines.push_back(text.substr(0, at));
    text = "   " + text.substr(at + 1);
  }
  lines.push_back(text);
  return lines;
}

/// "10", "1,000", from 10,000 on "10^4" with a raised exponent.
std::string power_text(int exponent) {
  if (exponent < 4) return grouped(std::llround(std::pow(10, exponent)));
  return "10<tspan dy=\"-4\" font-size=\"8\">" + std::to_string(exponent) + "</tspan>";
}

/// Distances on a logarithmic scale, a colour for each decade, or for two or more where there are more than eight.
struct Scale {
  int low = 0, per_colour = 1, steps = 1;
  Scale(double smallest, double largest) {
    low = decade(smallest);
    const int decades = decade(largest) + 1 - low;
    per_colour = (decades + 7) / 8;
    steps = (decades + per_colour - 1) / per_colour;
  }
  static int decade(double x) { return static_cast<int>(std::floor(std::log10(std::max(x, 1.0)))); }
  /// -1: none is outside; `steps`: a special value.
  int step(float d) const {
    if (d == 0) return -1;
    if (std::isinf(d)) return steps;
    return std::clamp((decade(d) - low) / per_colour, 0, steps - 1);
  }
  std::string colour(int step) const {
    if (step < 0) return none_colour;
    if (step == steps) return special_colour;
    return colours[static_cast<std::size_t>(steps == 1 ? 4 : step * 7 / (steps - 1))];
  }
};

class Drawing {
 public:
  double y = 16;

  void text(double x, double at, const std::string& escaped_text, const std::string& more = "") { body_ += "<text x=\"" + px(x) + "\" y=\"" + px(at) + "\"" + (more.empty() ? "" : " " + more) + ">" + escaped_text + "</text>\n"; }
  void rect(double x, double at, double w, double h, const std::string& fill) {
    body_ += "<rect x=\"" + px(x) + "\" y=\"" + px(at) + "\" width=\"" + px(w) + "\" height=\"" + px(h) + "\" fill=\"" + fill + "\"/>\n";
  }
  void line(double x1, double y1, double x2, double y2, const char* stroke = "#666") {
    body_ += "<path d=\"M" + px(x1) + " " + px(y1) + "L" + px(x2) + " " + px(y2) + "\" stroke=\"" + stroke + "\"/>\n";
  }
  void cells(const std::string& d, const std::string& fill) { body_ += "<path d=\"" + d + "\" fill=\"" + fill + "\" shape-rendering=\"crispEdges\"/>\n"; }
  void curve(const std::string& d) { body_ += "<path d=\"" + d + "\" fill=\"none\" stroke=\"#365c8d\" stroke-width=\"1.5\"/>\n"; }
  std::string svg() const {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + px(width) + "\" height=\"" + px(y) + "\" viewBox=\"0 0 " + px(width) + " " + px(y) +
           "\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" font-size=\"11\" fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" + body_ + "</svg>\n";
  }

 private:
  std::string body_;
};

/// Places of ticks: eighths or quarters where they are multiples of four, else 1, 2, 5, 10, ...; at most about `most`.
std::vector<std::int64_t> ticks(std::int64_t extent, std::int64_t most) {
  std::int64_t step = 1;
  if (extent > most) {
    for (const std::int64_t parts : {8, 4, 2})
      if (step == 1 && parts <= most && extent % (4 * parts) == 0) step = extent / parts;
    for (std::int64_t unit = 1; step == 1 && unit <= extent; unit *= 10)
      for (const std::int64_t by : {1, 2, 5})
        if (step == 1 && extent / (by * unit) < most) step = by * unit;
  }
  std::vector<std::int64_t> at;
  for (std::int64_t i = 0; i < extent; i += step) at.push_back(i);
  return at;
}

struct Frame {
  double x, y, w, h;
};

void draw_panel(Drawing& d, const Picture& p, const Panel& panel, const Scale& scale, const Frame& f, const std::string& row_title, const std::string& column_title) {
  // Edges on whole pixels: no lines show between cells.
  const auto edge = [](double from, double size, std::int64_t cell, std::int64_t bin, std::int64_t extent) {
    return std::round(from + size * static_cast<double>(std::min(cell * bin, extent)) / static_cast<double>(extent));
  };
  d.rect(f.x, f.y, f.w, f.h, none_colour);
  std::vector<std::string> paths(static_cast<std::size_t>(scale.steps) + 1);  // one of each colour
  for (std::int64_t row = 0; row < p.cell_rows; ++row) {
    const auto step = [&](std::int64_t c) { return scale.step(panel.cells[static_cast<std::size_t>(row * p.cell_columns + c)]); };
    const double y = edge(f.y, f.h, row, p.row_bin, p.rows), below = edge(f.y, f.h, row + 1, p.row_bin, p.rows);
    for (std::int64_t c = 0, end = 0; c < p.cell_columns; c = end) {
      for (end = c + 1; end < p.cell_columns && step(end) == step(c); ++end) {}
      if (step(c) < 0) continue;
      const double x = edge(f.x, f.w, c, p.column_bin, p.columns), beside = edge(f.x, f.w, end, p.column_bin, p.columns);
      const std::string w = px(std::max(beside - x, 1.0));
      paths[static_cast<std::size_t>(step(c))] += "M" + px(x) + " " + px(y) + "h" + w + "v" + px(std::max(below - y, 1.0)) + "h-" + w + "z";
    }
  }
  for (int k = 0; k <= scale.steps; ++k)
    if (!paths[static_cast<std::size_t>(k)].empty()) d.cells(paths[static_cast<std::size_t>(k)], scale.colour(k));
  if (!panel.title.empty()) d.text(f.x, f.y - 4, escaped(panel.title));
  for (const std::int64_t i : ticks(p.columns, f.w > 500 ? 16 : 8)) {
    const double x = f.x + f.w * (static_cast<double>(i) + (p.column_bin == 1 ? 0.5 : 0)) / static_cast<double>(p.columns);
    d.line(x, f.y + f.h, x, f.y + f.h + 3);
    d.text(x, f.y + f.h + 13, std::to_string(i), "text-anchor=\"middle\" font-size=\"9\"");
  }
  if (p.rows > 1)
    for (const std::int64_t i : ticks(p.rows, std::max<std::int64_t>(2, static_cast<std::int64_t>(f.h / 14)))) {
      const double y = f.y + f.h * (static_cast<double>(i) + (p.row_bin == 1 ? 0.5 : 0)) / static_cast<double>(p.rows);
      d.line(f.x - 3, y, f.x, y);
      d.text(f.x - 5, y + 3, std::to_string(i), "text-anchor=\"end\" font-size=\"9\"");
    }
  if (!column_title.empty()) d.text(f.x + f.w / 2, f.y + f.h + 26, column_title, "text-anchor=\"middle\"");
  if (!row_title.empty() && p.rows > 1) d.text(0, 0, row_title, "text-anchor=\"middle\" transform=\"translate(" + px(f.x - 34) + " " + px(f.y + f.h / 2) + ") rotate(-90)\"");
}

void draw_legend(Drawing& d, const Picture& p, const Scale& scale) {
  double x = left;
  const double y = d.y;
  d.rect(x, y, 22, 11, none_colour);
  d.text(x + 27, y + 10, "none outside");
  x += 120;
  d.text(x, y + 10, "largest distance in a cell (ulps):");
  x += 196;
  for (int s = 0; s < scale.steps; ++s) {
    d.rect(x, y, 40, 11, scale.colour(s));
    d.text(x, y + 23, power_text(scale.low + s * scale.per_colour), "text-anchor=\"middle\" font-size=\"9\"");
    x += 40;
  }
  d.text(x, y + 23, power_text(scale.low + scale.steps * scale.per_colour), "text-anchor=\"middle\" font-size=\"9\"");
  if (p.has_special) {
    d.rect(x + 26, y, 22, 11, special_colour);
    d.text(x + 53, y + 10, "NaN or infinity");
  }
  d.y += 40;
}

/// The mean distance by column: where it starts, where it is large again, how it decays.
void draw_by_column(Drawing& d, const Picture& p, const std::string& column_title) {
  const Frame f{left, d.y + 8, width - left - right, 110};
  double top = 1;
  for (const double bits : p.by_column)
    if (!std::isnan(bits)) top = std::max(top, bits / std::log2(10.0));
  const int decades = static_cast<int>(std::ceil(top)), by = (decades + 4) / 5;
  d.rect(f.x, f.y, f.w, f.h, "#f7f7f7");
  for (int e = 0; e <= decades; e += by) {
    const double y = f.y + f.h - f.h * e / decades;
    d.line(f.x, y, f.x + f.w, y, "#ddd");
    d.text(f.x - 5, y + 3, power_text(e), "text-anchor=\"end\" font-size=\"9\"");
  }
  std::string path;
  bool pen = false;
  for (std::size_t c = 0; c < p.by_column.size(); ++c) {
    if (std::isnan(p.by_column[c])) {
      pen = false;
      continue;
    }
    const double x = f.x + f.w * std::min((static_cast<double>(c) + 0.5) * static_cast<double>(p.column_bin), static_cast<double>(p.columns)) / static_cast<double>(p.columns);
    const double y = f.y + f.h - f.h * std::log10(std::max(std::exp2(p.by_column[c]) - 1, 1.0)) / decades;
    if (!pen) path += "M" + px(x - 0.5) + " " + px(y);
    path += "L" + px(x + (pen ? 0 : 0.5)) + " " + px(y);
    pen = true;
  }
  d.curve(path);
  for (const std::int64_t i : ticks(p.columns, 16)) {
    const double x = f.x + f.w * (static_cast<double>(i) + (p.column_bin == 1 ? 0.5 : 0)) / static_cast<double>(p.columns);
    d.line(x, f.y + f.h, x, f.y + f.h + 3);
    d.text(x, f.y + f.h + 13, std::to_string(i), "text-anchor=\"middle\" font-size=\"9\"");
  }
  d.text(f.x, f.y - 4, "mean distance (ulps, geometric) of the elements outside, by " + column_title);
  d.y = f.y + f.h + 34;
}

void draw(Drawing& d, const ResultReport& r) {
  const std::size_t rank = r.extents.size();
  const auto axis_title = [&](std::size_t from_end) {
    if (rank < from_end) return std::string();
    const std::size_t axis = rank - from_end;
    return axis_word(axis, rank, false) + axis_suffix(axis, rank);
  };
  d.text(left, d.y, "<tspan font-weight=\"bold\">" + escaped(result_name(r.name)) + "</tspan>: " + to_string(r.type) + to_string(shape_of(r.extents)) + ", " +
                        grouped(r.violations) + " of " + grouped(r.checked) + " elements checked are outside", "font-size=\"13\"");
  d.text(left, d.y + label + 2, escaped(shortened(r.spec(), 120)), "fill=\"#555\"");
  d.y += label + 22;
  for (const Finding& f : r.findings) {
    if (f.text.empty()) continue;
    for (const std::string& line : wrapped(f.text, 128)) {
      d.text(left, d.y, escaped(line));
      d.y += label;
    }
  }
  d.y += 6;
  if (r.violations == 0) {
    d.text(left, d.y + 4, "every element checked is allowed");
    d.y += 30;
    return;
  }
  // Few panels are large; many share the page, two beside each other.
  std::int64_t panels = 1;
  for (std::size_t k = 0; k + 2 < rank; ++k) panels *= r.extents[k];
  const std::int64_t across = panels > 1 ? 2 : 1, down = (std::min<std::int64_t>(panels, 12) + across - 1) / across;
  const double w = (width - left - right - static_cast<double>(across - 1) * between) / static_cast<double>(across), room = across == 1 ? 300 : std::clamp(520 / static_cast<double>(down), 84.0, 220.0);
  const Picture p = picture_of(r, {12, static_cast<std::int64_t>(room / 2.5), static_cast<std::int64_t>(w / 2.5)});
  const Scale scale(p.smallest, p.largest);
  const double h = std::clamp(room, 14.0, static_cast<double>(p.rows) * 26);
  draw_legend(d, p, scale);
  for (std::size_t k = 0; k < p.panels.size(); ++k) {
    const bool first = static_cast<std::int64_t>(k) % across == 0, last_row = static_cast<std::int64_t>(k) + across >= static_cast<std::int64_t>(p.panels.size());
    const Frame f{left + static_cast<double>(static_cast<std::int64_t>(k) % across) * (w + between), d.y + (panels > 1 ? label : 0), w, h};
    draw_panel(d, p, p.panels[k], scale, f, first ? axis_title(2) : "", last_row ? axis_title(1) : "");
    if (static_cast<std::int64_t>(k) % across == across - 1 || k + 1 == p.panels.size()) d.y = f.y + h + 24;
  }
  d.y += 18;
  if (p.columns >= 8 && p.largest > 0) draw_by_column(d, p, axis_title(1));
  if (p.row_bin > 1 || p.column_bin > 1) {
    const std::string across_text = grouped(p.column_bin) + " " + axis_word(rank - 1, rank, p.column_bin > 1);
    d.text(left, d.y, "a cell stands for " + (rank < 2 ? "" : grouped(p.row_bin) + " " + axis_word(rank - 2, rank, p.row_bin > 1) + " and ") + across_text, "fill=\"#555\"");
    d.y += 20;
  }
}

}  // namespace

std::string to_svg(const Report& report) {
  Drawing d;
  for (const ResultReport& r : report.results) {
    draw(d, r);
    d.y += 12;
  }
  return d.svg();
}

}  // namespace erx

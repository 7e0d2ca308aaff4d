// The named formats: one row of data each.
#include <algorithm>

#include "ir/format.hpp"

namespace erx {
namespace {

struct Row {
  Format format;
  std::vector<std::string> aliases;
};

constexpr auto ieee_inf = Infinities::ieee;
constexpr auto no_inf = Infinities::none;

// columns: name, exponent bits, fraction bits, bias, sign, subnormals, zero, infinities, NaNs, source; aliases
const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {{"f64", 11, 52, 1023, true, true, true, ieee_inf, Nans::ieee, "IEEE 754-2019, binary64"},
       {"float64", "double", "fp64", "binary64", "torch.float64", "torch.double"}},
      {{"f32", 8, 23, 127, true, true, true, ieee_inf, Nans::ieee, "IEEE 754-2019, binary32"},
       {"float32", "single", "fp32", "binary32", "torch.float32", "torch.float"}},
      {{"f16", 5, 10, 15, true, true, true, ieee_inf, Nans::ieee, "IEEE 754-2019, binary16"},
       {"float16", "half", "fp16", "binary16", "torch.float16", "torch.half"}},
      {{"bf16", 8, 7, 127, true, true, true, ieee_inf, Nans::ieee, "bfloat16: the upper half of binary32"},
       {"bfloat16", "torch.bfloat16"}},
      {{"tf32", 8, 10, 127, true, true, true, ieee_inf, Nans::ieee, "NVIDIA A100 Tensor Core GPU Architecture, TF32"},
       {"tensorfloat32", "TF32"}},
      {{"f8e4m3fn", 4, 3, 7, true, true, true, no_inf, Nans::top, "OCP OFP8 1.0, E4M3"},
       {"float8_e4m3fn", "torch.float8_e4m3fn", "f8E4M3FN"}},
      {{"f8e4m3", 4, 3, 7, true, true, true, ieee_inf, Nans::ieee, "ml_dtypes: IEEE 754 conventions with 4 exponent bits"},
       {"float8_e4m3", "f8E4M3"}},
      {{"f8e5m2", 5, 2, 15, true, true, true, ieee_inf, Nans::ieee, "OCP OFP8 1.0, E5M2"},
       {"float8_e5m2", "torch.float8_e5m2", "f8E5M2"}},
      {{"f8e4m3fnuz", 4, 3, 8, true, true, true, no_inf, Nans::negzero, "Noune et al., arXiv:2206.02915"},
       {"float8_e4m3fnuz", "torch.float8_e4m3fnuz", "f8E4M3FNUZ"}},
      {{"f8e5m2fnuz", 5, 2, 16, true, true, true, no_inf, Nans::negzero, "Noune et al., arXiv:2206.02915"},
       {"float8_e5m2fnuz", "torch.float8_e5m2fnuz", "f8E5M2FNUZ"}},
      {{"f8e4m3b11fnuz", 4, 3, 11, true, true, true, no_inf, Nans::negzero, "ml_dtypes: hybrid FP8 of arXiv:1909.13271"},
       {"float8_e4m3b11fnuz", "float8_e4m3b11", "f8E4M3B11FNUZ"}},
      {{"f8e3m4", 3, 4, 3, true, true, true, ieee_inf, Nans::ieee, "ml_dtypes: IEEE 754 conventions with 3 exponent bits"},
       {"float8_e3m4", "f8E3M4"}},
      {{"f8e8m0fnu", 8, 0, 127, false, false, false, no_inf, Nans::top, "OCP Microscaling Formats 1.0, E8M0"},
       {"float8_e8m0fnu", "torch.float8_e8m0fnu", "f8E8M0FNU"}},
      {{"f6e2m3fn", 2, 3, 1, true, true, true, no_inf, Nans::none, "OCP Microscaling Formats 1.0, FP6 E2M3"},
       {"float6_e2m3fn", "f6E2M3FN"}},
      {{"f6e3m2fn", 3, 2, 3, true, true, true, no_inf, Nans::none, "OCP Microscaling Formats 1.0, FP6 E3M2"},
       {"float6_e3m2fn", "f6E3M2FN"}},
      {{"f4e2m1fn", 2, 1, 1, true, true, true, no_inf, Nans::none, "OCP Microscaling Formats 1.0, FP4 E2M1"},
       {"float4_e2m1fn", "f4E2M1FN"}},
  };
  return table;
}

}  // namespace

std::span<const Format> all_formats() {
  static const std::vector<Format> formats = [] {
    std::vector<Format> all;
    for (const Row& r : rows()) all.push_back(r.format);
    return all;
  }();
  return formats;
}

const Format* find_format(std::string_view name) {
  for (std::size_t i = 0; i < rows().size(); ++i) {
    const auto& aliases = rows()[i].aliases;
    const Format& f = all_formats()[i];
    if (f.name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end()) return &f;
  }
  return nullptr;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Row& r : rows()) {
    names.push_back(r.format.name);
    names.insert(names.end(), r.aliases.begin(), r.aliases.end());
  }
  return names;
}

std::vector<std::string> format_aliases(const Format& f) {
  for (const Row& r : rows())
    if (r.format == f) return r.aliases;
  return {};
}

}  // namespace erx

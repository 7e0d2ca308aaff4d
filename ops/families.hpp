// The rows of each family; ops/op.cpp joins them into all_ops().
#pragma once
#include <span>

#include "ops/op.hpp"

namespace erx::families {

std::span<const Op* const> source();       // input, literal, iota
std::span<const Op* const> elementwise();  // + - * /, abs, sign, min and max of two
std::span<const Op* const> comparison();   // < <= == and or not, where
std::span<const Op* const> integers();     // floor, rint, // and %
std::span<const Op* const> functions();    // sqrt, exp ...
std::span<const Op* const> rounding();     // round, any_of, within, acc
std::span<const Op* const> approximate();  // approx
std::span<const Op* const> casts();        // cast, wrap, saturate
std::span<const Op* const> reduce();       // max, min, any, all, prod, cumprod, argmax
std::span<const Op* const> sum();          // sum, cumsum
std::span<const Op* const> linalg();       // matmul
std::span<const Op* const> scan();         // scan
std::span<const Op* const> loop();         // fold, state
std::span<const Op* const> layout();       // reshape, transpose, broadcast, diagonal, index, concat
std::span<const Op* const> composed();     // mean, dot, einsum, stack ...: written out in other rows
std::span<const Op* const> complex();      // complex, real, imag, conj, hypot

}  // namespace erx::families

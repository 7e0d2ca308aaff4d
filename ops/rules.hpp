// Rules of types and shapes that many rows share. Each throws RuleBroken in the user's words, naming both dimensions or types.
//   broadcast_shape({[M, 1], [N]}) is [M, N]      arithmetic_type({i8, int}) is int
#pragma once
#include <span>

#include "ops/op.hpp"

namespace erx::rules {

using Types = std::span<const Type>;
using Shapes = std::span<const Shape>;

Type real_type(Types, const Attributes&);        // exact results
Type arithmetic_type(Types, const Attributes&);  // int for integers (a bool counts as 0 or 1), else real
Type bool_type(Types, const Attributes&);        // comparisons
Type logic_type(Types, const Attributes&);       // bool operands only
Type same_type(Types, const Attributes&);        // of the one operand
Type magnitude_type(Types, const Attributes&);   // abs: keeps a format; integers become int
Type negated_type(Types, const Attributes&);     // neg: keeps a format that has signs; integers become int
Type join_type(Types, const Attributes&);        // maximum, any_of: the operand type that holds all others, else real
Type choice_type(Types, const Attributes&);      // where: bool first, the join of the rest
Type format_type(Types, const Attributes&);      // attributes.format

Shape broadcast_shape(Shapes, const Attributes&);
Shape same_shape(Shapes, const Attributes&);
Shape reduced_shape(Shapes, const Attributes&);
Shape prefix_shape(Shapes, const Attributes&);   // that of the operand, which has the one axis

}  // namespace erx::rules

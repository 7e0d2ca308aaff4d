#include "ops/rules.hpp"

namespace erx::rules {

namespace {

bool is_whole(const Type& t) { return t.is_integer() || t.is_boolean(); }

Type join_from(Types types, std::size_t first) {
  Type joined = types[first];
  for (std::size_t i = first + 1; i < types.size(); ++i) {
    if (joined.is_boolean() != types[i].is_boolean())
      throw RuleBroken{"bool and " + to_string(joined.is_boolean() ? types[i] : joined) + " have no common type", static_cast<int>(i),
                       to_string(types[i])};
    joined = join(joined, types[i]);
  }
  return joined;
}

}  // namespace

Type real_type(Types, const Attributes&) { return Type::real(); }

Type arithmetic_type(Types types, const Attributes&) {
  for (const Type& t : types)
    if (!is_whole(t)) return Type::real();
  return Type::integer();
}

Type bool_type(Types, const Attributes&) { return Type::boolean(); }

Type logic_type(Types types, const Attributes&) {
  for (std::size_t i = 0; i < types.size(); ++i)
    if (!types[i].is_boolean())
      throw RuleBroken{"a condition has to be bool, found " + to_string(types[i]), static_cast<int>(i), "compare it, as in x != 0"};
  return Type::boolean();
}

Type same_type(Types types, const Attributes&) { return types[0]; }

Type magnitude_type(Types types, const Attributes&) { return is_whole(types[0]) ? Type::integer() : types[0]; }

Type negated_type(Types types, const Attributes&) {
  if (is_whole(types[0])) return Type::integer();
  if (types[0].is_floating() && !types[0].format.has_sign) return Type::real();
  return types[0];
}

Type join_type(Types types, const Attributes&) { return join_from(types, 0); }

Type choice_type(Types types, const Attributes&) {
  if (!types[0].is_boolean())
    throw RuleBroken{"the condition of where has to be bool, found " + to_string(types[0]), 0, "compare it, as in x != 0"};
  return join_from(types, 1);
}

Type format_type(Types types, const Attributes& attributes) {
  if (!attributes.format) throw Bug("a rounding without a format");
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i].is_boolean()) throw RuleBroken{"a bool cannot be rounded", static_cast<int>(i), "use where(m, 1, 0)"};
  return Type::of(*attributes.format);
}

Shape broadcast_shape(Shapes shapes, const Attributes&) {
  Shape all = shapes[0];
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    Clash clash{};
    auto next = broadcast(all, shapes[i], &clash);
    if (!next)
      throw RuleBroken{"shapes " + to_string(all) + " and " + to_string(shapes[i]) + " do not broadcast: " + clash.left.to_string() +
                           " and " + clash.right.to_string() + " differ",
                       static_cast<int>(i), to_string(shapes[i])};
    all = std::move(*next);
  }
  return all;
}

Shape same_shape(Shapes shapes, const Attributes&) { return shapes[0]; }

Shape reduced_shape(Shapes shapes, const Attributes& attributes) {
  const Shape& shape = shapes[0];
  Shape reduced;
  std::size_t next = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (next < attributes.axes.size() && attributes.axes[next] == static_cast<std::int64_t>(i)) {
      ++next;
      if (attributes.keepdims) reduced.push_back(Dim(1));
    } else {
      reduced.push_back(shape[i]);
    }
  }
  if (next != attributes.axes.size())
    throw RuleBroken{"axis " + std::to_string(attributes.axes[next]) + " is out of range (or repeated) for shape " + to_string(shape), 0,
                     to_string(shape)};
  return reduced;
}

Shape prefix_shape(Shapes shapes, const Attributes& attributes) {
  if (attributes.axes.size() != 1)
    throw RuleBroken{"a running sum or product goes along one axis, found " + std::to_string(attributes.axes.size()), 0, to_string(shapes[0])};
  reduced_shape(shapes, attributes);
  return shapes[0];
}

}  // namespace erx::rules

// Dimensions as formulas, and NumPy's broadcasting.
#include <doctest/doctest.h>

#include <random>

#include "ir/error.hpp"
#include "ir/shape.hpp"

using namespace erx;

namespace {
const Dim M("M"), N("N"), K("K");
}

TEST_CASE("dim: equality is equality of the formulas") {
  CHECK(M * Dim(2) == M + M);
  CHECK((M + N) * (M - N) == M * M - N * N);
  CHECK(M - M == Dim(0));
  CHECK(divide(K, 128) * Dim(128) == K);
  CHECK(divide(divide(K, 6), 4) == divide(K, 24));
  CHECK(divide(K, -2) + divide(K, 2) == Dim(0));
  CHECK(!(M == N));
  CHECK(Dim(3) == Dim(1) + Dim(2));
  CHECK(M * N == N * M);
}

TEST_CASE("dim: text") {
  CHECK(M.to_string() == "M");
  CHECK((Dim(2) * K + Dim(1)).to_string() == "2*K + 1");
  CHECK(divide(K, 128).to_string() == "K/128");
  CHECK(divide(K * Dim(3), 2).to_string() == "3*K/2");
  CHECK((M * N - Dim(4)).to_string() == "M*N - 4");
  CHECK((Dim(1) - M).to_string() == "-M + 1");
  CHECK(Dim(0).to_string() == "0");
  CHECK(Dim(-7).to_string() == "-7");
  CHECK(to_string(Shape{M, Dim(4)}) == "[M, 4]");
  CHECK(to_string(Shape{}) == "[]");
}

TEST_CASE("dim: numbers") {
  CHECK(Dim(7).is_number());
  CHECK(Dim(7).value() == 7);
  CHECK(Dim().value() == 0);
  CHECK((M - M).is_number());
  CHECK(!M.is_number());
  CHECK(!divide(Dim(3), 2).is_number());
  CHECK(divide(Dim(6), 2).value() == 3);
  CHECK_THROWS_AS(M.value(), Bug);
  CHECK_THROWS_AS(divide(M, 0), Bug);
  CHECK_THROWS_AS(Dim(INT64_MAX) + Dim(1), Error);
  CHECK_THROWS_AS(Dim(INT64_MAX) * Dim(2), Error);
}

TEST_CASE("dim: evaluate needs every name and an integer") {
  CHECK(*(M * N + Dim(1)).evaluate({{"M", 3}, {"N", 4}}) == 13);
  CHECK(!(M * N).evaluate({{"M", 3}}));
  CHECK(*divide(K, 128).evaluate({{"K", 256}}) == 2);
  CHECK(!divide(K, 128).evaluate({{"K", 200}}));
  CHECK(!(M - N).evaluate({{"M", 1}, {"N", 2}}));
  CHECK(*(divide(M, 2) + divide(N, 2)).evaluate({{"M", 1}, {"N", 3}}) == 2);
  CHECK((M * N + M * K).names() == std::vector<std::string>{"K", "M", "N"});
}

TEST_CASE("dim: arithmetic agrees with numbers") {
  std::mt19937 random(4);
  const auto number = [&] { return static_cast<std::int64_t>(random() % 9); };
  for (int i = 0; i < 500; ++i) {
    const std::int64_t m = number(), n = number(), a = number(), b = number();
    const Dim d = (Dim(a) * M + Dim(b)) * (N + M) + M * N;
    CHECK(*d.evaluate({{"M", m}, {"N", n}}) == (a * m + b) * (n + m) + m * n);
  }
}

TEST_CASE("shape: broadcasting follows NumPy") {
  const auto shape = [](std::initializer_list<Dim> s) { return Shape(s); };
  CHECK(*broadcast(shape({Dim(3), Dim(1)}), shape({Dim(4)})) == shape({Dim(3), Dim(4)}));
  CHECK(*broadcast(shape({}), shape({Dim(2), Dim(2)})) == shape({Dim(2), Dim(2)}));
  CHECK(*broadcast(shape({Dim(1)}), shape({Dim(0)})) == shape({Dim(0)}));
  CHECK(*broadcast(shape({M, Dim(1)}), shape({N})) == shape({M, N}));
  CHECK(*broadcast(shape({M + M}), shape({Dim(2) * M})) == shape({Dim(2) * M}));
  CHECK(!broadcast(shape({Dim(2)}), shape({Dim(0)})));
  Clash clash{};
  CHECK(!broadcast(shape({Dim(5), M, Dim(2)}), shape({N, Dim(1)}), &clash));
  CHECK(clash.axis_from_end == 2);
  CHECK(clash.left == M);
  CHECK(clash.right == N);
}

TEST_CASE("shape: sizes and strides") {
  CHECK(size_of({2, 3, 4}) == 24);
  CHECK(size_of({}) == 1);
  CHECK(size_of({INT64_MAX, 2, 0}) == 0);
  CHECK_THROWS_AS(size_of({INT64_MAX, 2}), Error);
  CHECK(contiguous_strides({2, 3, 4}) == Extents{12, 4, 1});
  CHECK(contiguous_strides({2, 0, 4}) == Extents{4, 4, 1});
  CHECK(contiguous_strides({}) == Extents{});
  CHECK(extents_of(shape_of({2, 3})) == Extents{2, 3});
  CHECK(is_concrete(Shape{Dim(2)}));
  CHECK(!is_concrete(Shape{M}));
  CHECK_THROWS_AS(extents_of(Shape{M}), Bug);
}

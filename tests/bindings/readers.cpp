#include "bindings/readers.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "bindings/npy.hpp"
#include "ir/error.hpp"
#include "tests/bindings/npy_file.hpp"

using namespace erx;

namespace {

Type type(const char* name) { return Type::of(*find_format(name)); }

std::vector<double> values(const Tensor& t) {
  std::vector<double> v(static_cast<std::size_t>(t.size()));
  t.decode(0, t.size(), v.data());
  return v;
}

// The message of the Error that `call` has to throw.
std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return render(e.diagnostics);
  }
  return "no error";
}

bool says(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return true;
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("erx_readers_" + std::to_string(::getpid()))) { std::filesystem::create_directories(path_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return *this / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("npy: every plain dtype is read in either byte order") {
  const auto both = [](const std::string& kind, auto value, const std::string& expected) {
    for (bool swapped : {false, true}) {
      const Tensor t = decode_npy(NpyFile{(swapped ? ">" : "<") + kind, "(1,)"}.add(value, swapped).bytes(), {"x"});
      CHECK(to_string(t.type) == expected);
      CHECK(t.at(0) == static_cast<double>(value));
    }
  };
  both("f8", -0x1.23456789abcdep-300, "f64");
  both("f4", 0x1.234568p-100f, "f32");
  both("i1", std::int8_t{-128}, "i8");
  both("i2", std::int16_t{-32000}, "i16");
  both("i4", std::int32_t{-2000000000}, "i32");
  both("i8", std::int64_t{-9000000000000000}, "i64");
  both("u1", std::uint8_t{255}, "u8");
  both("u2", std::uint16_t{65535}, "u16");
  both("u4", std::uint32_t{4000000000}, "u32");
  both("u8", std::uint64_t{9000000000000000}, "u64");
  for (bool swapped : {false, true}) {
    const Tensor h = decode_npy(NpyFile{swapped ? ">f2" : "<f2", "(2,)"}.add(std::uint16_t{0x3c01}, swapped).add(std::uint16_t{0x8000}, swapped).bytes(), {"x"});
    CHECK(to_string(h.type) == "f16");
    CHECK(h.at(0) == 1.0009765625);
    CHECK(std::signbit(h.at(1)));
  }
  const Tensor b = decode_npy(NpyFile{"|b1", "(3,)"}.add('\0').add('\1').add('\1').bytes(), {"x"});
  CHECK(b.type.is_boolean());
  CHECK(values(b) == std::vector<double>{0, 1, 1});
}

TEST_CASE("npy: Fortran order is the same array") {
  NpyFile c{"<i4", "(2, 3)"}, f{"<i4", "(2, 3)", true};
  for (int v : {0, 1, 2, 10, 11, 12}) c.add(v);
  for (int v : {0, 10, 1, 11, 2, 12}) f.add(v);
  CHECK(values(decode_npy(c.bytes(), {"x"})) == values(decode_npy(f.bytes(), {"x"})));
  CHECK(decode_npy(f.bytes(), {"x"}).at(4) == 11);
}

TEST_CASE("npy: 0-d, empty, and every version of the header") {
  for (int version : {1, 2, 3}) CHECK(decode_npy(NpyFile{"<f8", "()", false, version}.add(0.3).bytes(), {"x"}).at(0) == 0.3);
  const Tensor empty = decode_npy(NpyFile{"<f8", "(3, 0, 2)"}.bytes(), {"x"});
  CHECK(empty.extents == Extents{3, 0, 2});
  CHECK(empty.size() == 0);
  CHECK(decode_npy(NpyFile{"<f8", "(1L, 2L)"}.add(1.0).add(2.0).bytes(), {"x"}).extents == Extents{1, 2});
}

TEST_CASE("npy: complex numbers lie in pairs") {
  const Tensor c64 = decode_npy(NpyFile{"<c8", "(2,)"}.add(1.5f).add(-2.0f).add(0.25f).add(3.0f).bytes(), {"x"});
  CHECK(to_string(c64.type) == "complex<f32>");
  CHECK(values(c64.real_part()) == std::vector<double>{1.5, 0.25});
  CHECK(values(c64.imag_part()) == std::vector<double>{-2, 3});
  const Tensor big = decode_npy(NpyFile{">c16", "(2, 1)", true}.add(1.5, true).add(-2.0, true).add(0.25, true).add(3.0, true).bytes(), {"x"});
  CHECK(to_string(big.type) == "complex<f64>");
  CHECK(values(big.real_part()) == std::vector<double>{1.5, 0.25});
  CHECK(values(big.imag_part()) == std::vector<double>{-2, 3});
  says(message([] { decode_npy(NpyFile{"<c8", "(0,)"}.bytes(), {"a.npy", type("bf16"), true}); }), "not bits");
}

TEST_CASE("npy: void arrays hold the bits of the declared format") {
  const auto v2 = NpyFile{"|V2", "(2,)"}.add(std::uint16_t{0x3f80}).add(std::uint16_t{0xc049}).bytes();
  CHECK(values(decode_npy(v2, {"x", type("bf16")})) == std::vector<double>{1, -3.140625});
  CHECK(values(decode_npy(NpyFile{"<f1", "(1,)"}.add(std::uint8_t{0x7e}).bytes(), {"x", type("f8e4m3fn")})) == std::vector<double>{448});
  CHECK(values(decode_npy(NpyFile{"|V1", "(1,)"}.add(std::uint8_t{0x7b}).bytes(), {"x", type("f8e5m2")})) == std::vector<double>{57344});
  CHECK(decode_npy(NpyFile{"<u2", "(1,)"}.add(std::uint16_t{0x3f80}).bytes(), {"x", type("bf16")}).at(0) == 0x3f80);
  CHECK(decode_npy(NpyFile{"<u2", "(1,)"}.add(std::uint16_t{0x3f80}).bytes(), {"x", type("bf16"), true}).at(0) == 1);
  CHECK(decode_npy(NpyFile{"<i2", "(1,)"}.add(std::uint16_t{0xbf80}).bytes(), {"x", type("bf16"), true}).at(0) == -1);
  CHECK(decode_npy(NpyFile{"<u4", "(1,)"}.add(0x3fc00000u).bytes(), {"x", type("f32"), true}).at(0) == 1.5);

  says(message([&] { decode_npy(v2, {"a.npy"}); }), "a.npy");
  says(message([&] { decode_npy(v2, {"a.npy"}); }), "A=bf16:a.npy");
  says(message([&] { decode_npy(v2, {"a.npy", type("f32")}); }), "f32 has 4 bytes");
  says(message([&] { decode_npy(v2, {"a.npy", Type::integer(16)}); }), "nothing says of which format");
  says(message([] { decode_npy(NpyFile{"|V1", "(2,)"}.add('\x1f').add('\x5f').bytes(), {"a.npy", type("f6e2m3fn")}); }), "element [1] has bits beyond the 6");
  says(message([] { decode_npy(NpyFile{"<f4", "(1,)"}.add(1.f).bytes(), {"a.npy", type("bf16"), true}); }), "not bits");
}

TEST_CASE("npy: what is no array of numbers is refused by name") {
  const auto refused = [](const NpyFile& f) { return message([&] { decode_npy(f.bytes(), {"a.npy"}); }); };
  says(refused({"|O", "(1,)"}), "`a.npy`: it holds Python objects");
  says(refused({"|O", "(1,)"}), "np.save(path, np.asarray");
  says(refused({"<c32", "(0,)"}), "complex128");
  says(refused({"<U5", "(1,)"}), "text");
  says(refused({"<M8[ns]", "(1,)"}), "dates");
  says(refused({"<f16", "(0,)"}), "long double");
  says(refused({"[('x', '<f4'), ('y', '<i4', (2,))]", "(1,)"}), "records");
  says(refused(NpyFile{"<f8", "(2,)"}.add(1.0)), "8 of 16 bytes of elements are missing");
  says(refused(NpyFile{"<f8", "(1,)"}.add(1.0).add(1.0)), "8 bytes more");
  says(refused({"<f8", "(4611686018427387904, 4)"}), "damaged");
  says(refused({"<f8", "(0, 4611686018427387904, 4)"}), "damaged");
  says(refused({"<f8", "(-1,)"}), "damaged");
  says(refused({"<f8", "7"}), "damaged");
  says(refused({"<f8", "(1,)", false, 4}), "version 4");
}

TEST_CASE("npy: no truncation and no flipped header byte gets past the reader as a crash") {
  const std::string whole = NpyFile{"<f4", "(2, 2)"}.add(1.f).add(2.f).add(3.f).add(4.f).text();
  const auto decode = [](const std::string& text) {
    const auto* p = reinterpret_cast<const std::byte*>(text.data());
    return decode_npy(std::make_shared<std::vector<std::byte>>(p, p + text.size()), {"a.npy"});
  };
  CHECK(values(decode(whole)) == std::vector<double>{1, 2, 3, 4});
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK_THROWS_AS(decode(whole.substr(0, n)), Error);
  int refused = 0;
  for (std::size_t i = 0; i < whole.size() - 16; ++i)
    for (int c = 0; c < 256; ++c) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(c);
      try {
        const Tensor t = decode(damaged);
        // Whatever is accepted lies inside the file.
        if (t.type.is_floating() || t.type.is_integer() || t.type.is_boolean()) values(t);
      } catch (const Error&) {
        ++refused;
      }
    }
  CHECK(refused > 10000);
}

TEST_CASE("npy: what is written is read back, strides included") {
  Tensor t = Tensor::of(type("f64"), {2, 3}, {1, 2, 3, -0.0, INFINITY, 0x1p-1074});
  const auto again = [](const Tensor& x) {
    const std::string text = encode_npy(x);
    CHECK(text.find('\n') % 64 == 63);  // elements start at a multiple of 64
    const auto* p = reinterpret_cast<const std::byte*>(text.data());
    return decode_npy(std::make_shared<std::vector<std::byte>>(p, p + text.size()), {"x", x.type});
  };
  CHECK(values(again(t)) == values(t));
  CHECK(std::signbit(again(t).at(3)));
  std::swap(t.extents[0], t.extents[1]);
  std::swap(t.byte_strides[0], t.byte_strides[1]);
  CHECK(values(again(t)) == std::vector<double>{1, -0.0, 2, INFINITY, 3, 0x1p-1074});
  for (const Extents& e : {Extents{}, Extents{1}, Extents{1, 1}, Extents{1, 1, 1}}) CHECK(again(Tensor::of(type("f64"), e, {7})).extents == e);
  const Tensor codes = decode_npy(NpyFile{"|V2", "(1,)"}.add(std::uint16_t{0x4049}).bytes(), {"x", type("bf16")});
  CHECK(again(codes).at(0) == 3.140625);
}

TEST_CASE("npz: arrays by name, written whole or not at all") {
  const Folder folder;
  const std::string path = folder / "a.npz";
  write_npz(path, {{"A", Tensor::of(type("f64"), {2}, {1, 2})}, {"A.hi", Tensor::of(type("f64"), {}, {3})}});
  CHECK(read_tensor(path + ":A", {}).at(1) == 2);
  CHECK(read_tensor(path + ":A.hi", {}).at(0) == 3);
  CHECK(read_npz(path, {}).size() == 2);
  says(message([&] { read_tensor(path + ":A.ih", {}); }), "did you mean `A.hi`?");
  says(message([&] { read_tensor(path, {}); }), "holds 2 arrays (A, A.hi)");
  CHECK_THROWS_AS(write_npz(folder / "missing/a.npz", {}), Error);
  CHECK(std::distance(std::filesystem::directory_iterator(folder / ""), {}) == 1);  // no temporary file stays

  std::ifstream in(path, std::ios::binary);
  std::string zip{std::istreambuf_iterator<char>(in), {}};
  zip[zip.find("\x93NUMPY") + 130] ^= 1;  // an element: the checksum tells
  says(message([&] { read_npz(folder.write("b.npz", zip), {}); }), "b.npz:A");
  says(message([&] { read_npz(folder.write("c.npz", zip.substr(0, zip.size() / 2)), {}); }), "c.npz");
  says(message([&] { read_npz(folder.write("d.npz", "no archive"), {}); }), "no .npz file");
}

TEST_CASE("files: what cannot be put in its place leaves nothing behind, and what can keeps its permissions") {
  const Folder folder;
  std::filesystem::create_directory(folder / "sub");
  says(message([&] { write_file(folder / "sub", "text"); }), "it is a folder");
  CHECK_THROWS_AS(write_file(folder / "none/a", "text"), Error);
  CHECK(std::distance(std::filesystem::directory_iterator(folder / ""), {}) == 1);
  const std::string path = folder.write("a", "before");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::filesystem::create_symlink(path, folder / "link");
  write_file(folder / "link", "after");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms::owner_all);
  const Bytes bytes = read_file(path);
  CHECK(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) == "after");
}

TEST_CASE("safetensors: dtypes, names, damage") {
  const Folder folder;
  const auto file = [&](const std::string& name, const std::string& header, const std::string& data) {
    std::string text;
    for (int i = 0; i < 8; ++i) text += static_cast<char>(header.size() >> (8 * i));
    return folder.write(name, text + header + data);
  };
  const std::string good = R"({"__metadata__":{"format":"pt"},"w":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},"i":{"dtype":"U16","shape":[],"data_offsets":[4,6]}})";
  const std::string path = file("m.safetensors", good, std::string("\x80\x3f\x49\xc0\x80\x3f", 6));
  CHECK(values(read_tensor(path + ":w", {})) == std::vector<double>{1, -3.140625});
  CHECK(to_string(read_tensor(path + ":w", {}).type) == "bf16");
  CHECK(read_tensor(path + ":i", {}).at(0) == 0x3f80);
  CHECK(read_tensor("bf16:" + path + ":i", {}).at(0) == 1);
  CHECK(read_tensor("bits:" + path + ":i", type("bf16")).at(0) == 1);
  says(message([&] { read_tensor(path + ":v", {}); }), "no tensor `v`");
  const std::string pair = R"({"z":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})";
  const std::string complex = file("z.safetensors", pair, std::string("\0\0\x80\x3f\0\0\x20\xc0", 8));
  CHECK(to_string(read_tensor(complex, {}).type) == "complex<f32>");
  CHECK(values(read_tensor(complex, {}).real_part()) == std::vector<double>{1});
  CHECK(values(read_tensor(complex, {}).imag_part()) == std::vector<double>{-2.5});
  says(message([&] { read_tensor("bits:" + complex, {}); }), "not bits");
  says(message([&] { read_tensor(file("s.safetensors", good, "abc") + ":w", {}); }), "cut short");
  says(message([&] { read_tensor(folder.write("e.safetensors", "x") + ":w", {}); }), "no .safetensors file");
  says(message([&] { read_tensor(file("o.safetensors", R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,2]}})", "ab") + ":w", {}); }), "do not fill");
  says(message([&] { read_tensor(file("h.safetensors", R"({"w":{"dtype":"F32","shape":["a"]}})", "") + ":w", {}); }), "damaged");
}

TEST_CASE("readers: a missing file and a folder are named") {
  const Folder folder;
  says(message([&] { read_tensor(folder / "none.npy", {}); }), "none.npy`: No such file");
  says(message([&] { read_tensor(folder / "", {}); }), "it is a folder");
  says(message([&] { read_tensor(folder.write("text.npy", "1, 2"), {}); }), "it is no .npy file");
  CHECK(read_tensor("bf16:" + folder.write("v.npy", NpyFile{"|V2", "()"}.add(std::uint16_t{0x3f80}).text()), {}).at(0) == 1);
}

TEST_CASE("readers: an array in Python's terms") {
  CHECK(describe(Tensor::of(type("f32"), {3, 4}, std::vector<double>(12))) == "a float32 array of shape (3, 4)");
  const Tensor one = Tensor::of(type("f32"), {1}, {1});
  CHECK(describe(Tensor::complex(one, one)) == "a complex64 array of shape (1,)");
  CHECK(describe(Tensor::of(type("bf16"), {3}, std::vector<double>(3))) == "a bfloat16 array of shape (3,)");
  CHECK(describe(Tensor::of(Type::integer(64), {}, {1})) == "an int64 array of shape ()");
  CHECK(describe(Tensor::scalar(0.3)) == "the number 0.3");
}

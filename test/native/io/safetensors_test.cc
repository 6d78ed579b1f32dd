#include "io/safetensors.h"

#include <cmath>
#include <cstring>
#include <random>

#include "backend/status.h"
#include "check.h"
#include "io/float16.h"
#include "scratch_folder.h"

using namespace skillgate;

namespace {
std::string with_header(const std::string& header, const std::string& data) {
  std::string out(8, '\0');
  for (int i = 0; i < 8; i++)
    out[static_cast<size_t>(i)] = static_cast<char>((header.size() >> (8 * i)) & 255);
  return out + header + data;
}
}  // namespace

TEST(safetensors_round_trip) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/a.safetensors";
  const std::vector<float> a{1.5f, -0.f, 3e38f, 1e-45f}, b{7};
  write_safetensors(path, {{"a", {2, 2}}, {"b.c", {1}}, {"none", {0, 3}}}, {{"step", "12"}},
                    [&](size_t i, const AppendBytes& append) {
                      const std::vector<float>& v = i == 0 ? a : b;
                      if (i < 2) append(v.data(), v.size() * 4);
                    });
  const SafetensorsReader reader = SafetensorsReader::open(path);
  EXPECT(reader.entries().size() == 3);
  EXPECT(reader.metadata().at("step") == "12");
  std::vector<float> out(4);
  reader.read_f32("a", out.data());
  EXPECT(std::memcmp(out.data(), a.data(), 16) == 0);
  EXPECT_FAILURE("ERR_MISSING_TENSOR", reader.read_f32("zz", out.data()));
}

TEST(safetensors_sixteen_bit_floats_are_exact) {
  ScratchFolder folder;
  std::string data(65536 * 2, '\0');
  for (int i = 0; i < 65536; i++) {
    data[static_cast<size_t>(2 * i)] = static_cast<char>(i & 255);
    data[static_cast<size_t>(2 * i + 1)] = static_cast<char>(i >> 8);
  }
  for (const char* dtype : {"F16", "BF16"}) {
    const std::string path = folder.path() + "/" + dtype;
    write_file(path, with_header(std::string("{\"h\":{\"dtype\":\"") + dtype +
                                     "\",\"shape\":[65536],\"data_offsets\":[0,131072]}}",
                                 data));
    std::vector<float> out(65536);
    SafetensorsReader::open(path).read_f32("h", out.data());
    for (int i = 0; i < 65536; i++) {
      const int exponent_bits = dtype[0] == 'B' ? 8 : 5, mantissa_bits = 15 - exponent_bits;
      const int exponent = (i >> mantissa_bits) & ((1 << exponent_bits) - 1),
                mantissa = i & ((1 << mantissa_bits) - 1);
      const int bias = (1 << (exponent_bits - 1)) - 1;
      double expected = exponent == 0
                            ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                            : std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
      if (i & 0x8000) expected = -expected;
      const float got = out[static_cast<size_t>(i)];
      if (exponent == (1 << exponent_bits) - 1) {
        EXPECT(mantissa ? std::isnan(got) : std::isinf(got));
      } else {
        EXPECT(static_cast<double>(got) == expected);
      }
    }
  }
}

TEST(safetensors_refuses_bad_files) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/bad.safetensors";
  auto entry = [](const char* shape, const char* offsets, const char* dtype = "F32") {
    return std::string("{\"a\":{\"dtype\":\"") + dtype + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}}";
  };
  const std::string data(16, 'x');
  const std::string bad[] = {
      "",
      "1234567",
      std::string(8, '\xff'),
      with_header("{", data),
      with_header("[]", data),
      with_header("{\"a\":1}", data),
      with_header(entry("[4]", "[0,32]"), data),
      with_header(entry("[4]", "[8,4]"), data),
      with_header(entry("[4]", "[-4,12]"), data),
      with_header(entry("[5]", "[0,16]"), data),
      with_header(entry("[-4]", "[0,16]"), data),
      with_header(entry("[4.5]", "[0,16]"), data),
      with_header(entry("[4294967296,4294967296,4294967296]", "[0,0]"), data),
      with_header(entry("[4]", "[0,16]", "F7"), data),
      with_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},"
                  "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}",
                  data),
      with_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},"
                  "\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}",
                  data),
  };
  for (const std::string& content : bad) {
    write_file(path, content);
    EXPECT_FAILURE("ERR_SAFETENSORS", SafetensorsReader::open(path));
  }
  write_file(path, with_header(entry("[2]", "[0,16]", "I64"), data));
  float out[4];
  EXPECT_FAILURE("ERR_DTYPE", SafetensorsReader::open(path).read_f32("a", out));
  EXPECT_FAILURE("ERR_FILE", SafetensorsReader::open(folder.path() + "/absent"));
  EXPECT_FAILURE("ERR_SAFETENSORS", SafetensorsReader::open_folder(folder.path()));
}

TEST(safetensors_shards) {
  ScratchFolder folder;
  auto shard = [&](const std::string& file, const std::string& name, float value) {
    write_safetensors(folder.path() + "/" + file, {{name, {1}}}, {},
                      [&](size_t, const AppendBytes& append) { append(&value, 4); });
  };
  shard("s1.safetensors", "a", 1);
  shard("s2.safetensors", "b", 2);
  const std::string index = folder.path() + "/model.safetensors.index.json";
  write_file(index, R"({"weight_map":{"a":"s1.safetensors","b":"s2.safetensors"}})");
  float out = 0;
  SafetensorsReader::open_folder(folder.path()).read_f32("b", &out);
  EXPECT(out == 2);
  for (const char* bad :
       {R"({"weight_map":{"a":"s3.safetensors"}})", R"({"weight_map":{"c":"s1.safetensors"}})",
        R"({"weight_map":{"a":"../s1.safetensors"}})", R"({"weight_map":[]})", R"({)"}) {
    write_file(index, bad);
    EXPECT_FAILURE("ERR_SAFETENSORS", SafetensorsReader::open_folder(folder.path()));
  }
}

TEST(safetensors_survives_mutations) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/m.safetensors";
  const std::string good = with_header(
      "{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]},"
      "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}",
      std::string(16, 'q'));
  std::mt19937 random(11);
  for (int i = 0; i < 1500; i++) {
    std::string content = good;
    for (int k = 0; k < 2; k++) content[random() % content.size()] = static_cast<char>(random() & 255);
    if (random() % 3 == 0) content.resize(random() % content.size());
    write_file(path, content);
    try {
      const SafetensorsReader reader = SafetensorsReader::open(path);
      for (const auto& [name, e] : reader.entries()) {
        std::vector<float> out(static_cast<size_t>(e.count()));
        reader.read_f32(name, out.data());
      }
    } catch (const Failure& e) {
      EXPECT(e.code() == "ERR_SAFETENSORS" || e.code() == "ERR_DTYPE");
    }
  }
}

TEST(a_failed_write_leaves_the_old_file) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/f";
  write_file(path, std::string_view("old"));
  EXPECT_FAILURE("ERR_FILE", write_file(path, [](const AppendBytes& append) {
                   append("ne", 2);
                   throw Failure("ERR_FILE", "no space left on device");
                 }));
  EXPECT(read_file(path, 100) == "old");
  EXPECT(folder.count() == 1);
}

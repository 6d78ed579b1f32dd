#include "io/json.h"

#include <random>

#include "backend/status.h"
#include "check.h"

using namespace skillgate;

TEST(json_reads_and_writes_what_it_read) {
  const std::string text =
      R"({"a":[1,-2.5e3,true,false,null],"b":{"c":"x\"\\\n\u00e9\ud83e\udd8a"},"n":9007199254740993,"empty":[],"o":{}})";
  const Json json = Json::parse(text);
  EXPECT(json.find("a")->items()[1].number() == -2500.0);
  EXPECT(json.find("n")->integer() == 9007199254740993);
  EXPECT(json.find("b")->find("c")->text() == "x\"\\\n\xC3\xA9\xF0\x9F\xA6\x8A");
  EXPECT(Json::parse(json.dump()).dump() == json.dump());
  EXPECT(Json::parse(json.dump(2)).dump() == json.dump());
  EXPECT(json.find("missing") == nullptr);
}

TEST(json_refuses_what_is_not_json) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":}", "\"\\x\"", "01x", "nul", "{\"a\" 1}", "[1 2]",
                           "\"\n\"", "NaN", "-", "1.", "1e", "\"\\u12\"", "{} {}", "\"abc"}) {
    EXPECT_FAILURE("ERR_JSON", Json::parse(text));
  }
  EXPECT_FAILURE("ERR_JSON", Json::parse(std::string(100000, '[')));
}

// Any change of a valid text is either read or refused with a code: nothing else happens (run under ASan).
TEST(json_survives_mutations) {
  const std::string good =
      R"({"model_type":"qwen3","rope_parameters":{"rope_theta":1e6},"x":[1,2,{"y":"\u0041"}]})";
  std::mt19937 random(7);
  for (int i = 0; i < 20000; i++) {
    std::string text = good;
    for (int k = 0; k < 3; k++) text[random() % text.size()] = static_cast<char>(random() & 255);
    if (random() % 4 == 0) text.resize(random() % text.size());
    try {
      Json::parse(Json::parse(text).dump());
    } catch (const Failure& e) {
      EXPECT(e.code() == "ERR_JSON");
    }
  }
}

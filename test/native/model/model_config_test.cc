#include "model/model_config.h"

#include "backend/status.h"
#include "check.h"
#include "model/decoder.h"

using namespace skillgate;

namespace {
const char* kBase =
    R"({"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":96,"vocab_size":50)";
ModelConfig parse(const std::string& more) {
  return ModelConfig::parse(Json::parse(std::string(kBase) + more + "}"));
}
}  // namespace

TEST(config_forms_of_transformers_4_and_5_agree) {
  const ModelConfig four = parse(
      R"(,"rope_theta":500000.0,"rope_scaling":{"factor":8.0,"high_freq_factor":4.0,"low_freq_factor":1.0,"original_max_position_embeddings":32,"rope_type":"llama3"})");
  const ModelConfig five = parse(
      R"(,"rope_parameters":{"rope_theta":500000.0,"factor":8.0,"high_freq_factor":4.0,"low_freq_factor":1.0,"original_max_position_embeddings":32,"rope_type":"llama3"})");
  EXPECT(four.rope.llama3 && four.rope.theta == 500000.0 && four.rope.original_max_positions == 32);
  EXPECT(rope_frequencies(four) == rope_frequencies(five));
  EXPECT(parse(R"(,"rope_scaling":null,"rope_theta":1e6)").rope.theta == 1e6);
  EXPECT(parse(R"(,"rope_scaling":{"type":"default"},"rope_theta":1e6)").rope.theta == 1e6);
}

TEST(config_defaults) {
  const ModelConfig c = parse("");
  EXPECT(c.E == 16 && c.G == 4 && c.rope.theta == 10000 && !c.tied_embeddings && !c.qkv_bias && !c.qk_norm);
  const ModelConfig q2 = parse(R"(,"model_type":"qwen2")"),
                    q3 = parse(R"(,"model_type":"qwen3","head_dim":32)");
  EXPECT(q2.qkv_bias && !q2.o_bias && !q2.qk_norm);
  EXPECT(!q3.qkv_bias && q3.qk_norm && q3.E == 32);
  const ModelConfig biased = parse(R"(,"attention_bias":true,"mlp_bias":true)");
  EXPECT(biased.qkv_bias && biased.o_bias && biased.mlp_bias);
}

TEST(config_refuses_what_it_cannot_run) {
  for (const char* more : {R"(,"model_type":"gpt2")",
                           R"(,"model_type":7)",
                           R"(,"hidden_size":"64")",
                           R"(,"hidden_size":-1)",
                           R"(,"hidden_size":0)",
                           R"(,"hidden_size":1e300)",
                           R"(,"num_attention_heads":3)",
                           R"(,"num_key_value_heads":3)",
                           R"(,"head_dim":7)",
                           R"(,"hidden_act":"gelu")",
                           R"(,"rope_scaling":{"rope_type":"yarn","factor":4})",
                           R"(,"rope_scaling":{"rope_type":"llama3"})",
                           R"(,"rope_scaling":5)",
                           R"(,"use_sliding_window":true)",
                           R"(,"layer_types":["linear_attention"])",
                           R"(,"quantization_config":{})",
                           R"(,"rms_norm_eps":-1)",
                           R"(,"rope_theta":0)",
                           R"(,"tie_word_embeddings":"yes")",
                           R"(,"vocab_size":null)"})
    EXPECT_FAILURE("ERR_MODEL_CONFIG", parse(more));
  EXPECT_FAILURE("ERR_MODEL_CONFIG", ModelConfig::parse(Json::parse("[]")));
}

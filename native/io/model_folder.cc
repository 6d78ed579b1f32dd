#include "io/model_folder.h"

#include "backend/status.h"
#include "io/file.h"

namespace skillgate {

namespace {
constexpr int64_t kMaxBytes = 256 << 20;
const char* const kOthers[] = {"generation_config.json",
                               "tokenizer.json",
                               "tokenizer_config.json",
                               "chat_template.jinja",
                               "chat_template.json",
                               "special_tokens_map.json",
                               "added_tokens.json",
                               "vocab.json",
                               "merges.txt",
                               "tokenizer.model",
                               "preprocessor_config.json"};
}  // namespace

ModelFolder ModelFolder::read(const std::string& dir) {
  const std::string path = dir + "/config.json";
  if (!file_exists(path))
    throw Failure("ERR_MODEL_CONFIG", "expected a Hugging Face folder at " + dir + ": no config.json there");
  ModelFolder folder;
  try {
    folder.config = Json::parse(read_file(path, kMaxBytes));
  } catch (const Failure& e) {
    throw Failure("ERR_MODEL_CONFIG", path + ": " + e.what());
  }
  for (const char* name : kOthers) {
    const std::string file = dir + "/" + name;
    if (file_exists(file)) folder.others.emplace_back(name, read_file(file, kMaxBytes));
  }
  return folder;
}

void ModelFolder::write(const std::string& dir) const {
  Json c = config;
  c.set(c.find("torch_dtype") ? "torch_dtype" : "dtype", Json::of(std::string("float32")));
  for (const auto& [name, content] : others) write_file(dir + "/" + name, content);
  write_file(dir + "/config.json", c.dump(2) + "\n");
}

}  // namespace skillgate

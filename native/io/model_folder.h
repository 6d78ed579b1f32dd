// The files of a Hugging Face folder beside the weights: kept from loading to saving, so that a saved
// checkpoint has its tokenizer and chat template even if the folder it came from is gone.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "io/json.h"

namespace skillgate {

struct ModelFolder {
  Json config;
  std::vector<std::pair<std::string, std::string>> others;  // file name, content

  // Failure ERR_MODEL_CONFIG where config.json is missing or not JSON.
  static ModelFolder read(const std::string& dir);
  // config.json says float32, which is what is written beside it.
  void write(const std::string& dir) const;
};

}  // namespace skillgate

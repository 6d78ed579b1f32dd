#include "io/safetensors.h"

#include <algorithm>
#include <cstring>

#include "backend/status.h"
#include "io/float16.h"
#include "io/json.h"

namespace skillgate {

namespace {
constexpr int64_t kMaxHeader = 100 << 20;
constexpr int64_t kMaxElements = int64_t{1} << 46;

[[noreturn]] void bad(const std::string& path, const std::string& text) {
  throw Failure("ERR_SAFETENSORS", path + ": " + text);
}

int64_t element_bytes(const std::string& dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "I8" || dtype == "U8" || dtype == "BOOL" || dtype == "F8_E4M3" || dtype == "F8_E5M2") return 1;
  return 0;
}
}  // namespace

int64_t SafetensorsReader::Entry::count() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

void SafetensorsReader::add_file(const std::string& path) {
  auto file = std::make_shared<ReadableFile>(path);
  if (file->size() < 8) bad(path, "expected at least 8 bytes, got " + std::to_string(file->size()));
  unsigned char raw[8];
  file->read(raw, 0, 8);
  uint64_t length = 0;
  for (int i = 7; i >= 0; i--) length = (length << 8) | raw[i];
  if (length > static_cast<uint64_t>(kMaxHeader) || static_cast<int64_t>(length) > file->size() - 8)
    bad(path, "header length " + std::to_string(length) + " does not fit a file of " +
                  std::to_string(file->size()) + " bytes (truncated or not safetensors)");
  std::string text(length, '\0');
  file->read(text.data(), 8, static_cast<int64_t>(length));
  Json header;
  try {
    header = Json::parse(text);
  } catch (const Failure& e) {
    bad(path, std::string("header: ") + e.what());
  }
  if (!header.is(Json::Kind::object)) bad(path, "expected an object as header");

  const int64_t data_begin = 8 + static_cast<int64_t>(length), data_bytes = file->size() - data_begin;
  const int index = static_cast<int>(files_.size());
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const auto& [name, value] : header.members()) {
    if (name == "__metadata__") {
      for (const auto& [key, v] : value.members())
        if (v.is(Json::Kind::string)) metadata_[key] = v.text();
      continue;
    }
    const Json *dtype = value.find("dtype"), *shape = value.find("shape"),
               *offsets = value.find("data_offsets");
    if (!dtype || !dtype->is(Json::Kind::string) || !shape || !shape->is(Json::Kind::array) || !offsets ||
        offsets->items().size() != 2)
      bad(path, "tensor " + name + ": expected dtype, shape and data_offsets");
    Entry e;
    e.dtype = dtype->text();
    e.file = index;
    int64_t count = 1;
    try {
      for (const Json& d : shape->items()) {
        const int64_t n = d.integer();
        if (n < 0 || (n > 0 && count > kMaxElements / n)) bad(path, "tensor " + name + ": impossible shape");
        e.shape.push_back(n);
        count *= n;
      }
      const int64_t begin = offsets->items()[0].integer(), end = offsets->items()[1].integer();
      if (begin < 0 || end < begin || end > data_bytes)
        bad(path, "tensor " + name + ": bytes " + std::to_string(begin) + " to " + std::to_string(end) +
                      " lie outside the " + std::to_string(data_bytes) + " bytes of data (truncated?)");
      e.offset = data_begin + begin;
      e.bytes = end - begin;
      if (e.bytes > 0) ranges.emplace_back(begin, end);
    } catch (const Failure& f) {
      if (f.code() == "ERR_JSON") bad(path, "tensor " + name + ": " + f.what());
      throw;
    }
    const int64_t width = element_bytes(e.dtype);
    if (width == 0) bad(path, "tensor " + name + ": unknown dtype " + e.dtype);
    if (count * width != e.bytes)
      bad(path, "tensor " + name + ": shape needs " + std::to_string(count * width) + " bytes, got " +
                    std::to_string(e.bytes));
    if (!entries_.emplace(name, std::move(e)).second) bad(path, "tensor " + name + " stands there twice");
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); i++)
    if (ranges[i].first < ranges[i - 1].second) bad(path, "tensors overlap");
  files_.push_back(std::move(file));
}

SafetensorsReader SafetensorsReader::open(const std::string& path) {
  SafetensorsReader reader;
  reader.add_file(path);
  return reader;
}

SafetensorsReader SafetensorsReader::open_folder(const std::string& dir) {
  const std::string single = dir + "/model.safetensors", index = dir + "/model.safetensors.index.json";
  if (file_exists(single)) return open(single);
  if (!file_exists(index))
    throw Failure("ERR_SAFETENSORS",
                  "expected model.safetensors or model.safetensors.index.json in " + dir + ", found neither");
  SafetensorsReader reader;
  Json json;
  try {
    json = Json::parse(read_file(index, kMaxHeader));
  } catch (const Failure& e) {
    bad(index, e.what());
  }
  const Json* map = json.find("weight_map");
  if (!map || !map->is(Json::Kind::object)) bad(index, "expected an object weight_map");
  std::vector<std::string> shards;
  for (const auto& [name, file] : map->members()) {
    if (!file.is(Json::Kind::string) || file.text().empty() || file.text().find('/') != std::string::npos)
      bad(index, "tensor " + name + ": expected a file name in the same folder");
    if (std::find(shards.begin(), shards.end(), file.text()) == shards.end()) shards.push_back(file.text());
  }
  std::sort(shards.begin(), shards.end());
  for (const std::string& shard : shards) {
    if (!file_exists(dir + "/" + shard)) bad(index, "names " + shard + ", which is not there");
    reader.add_file(dir + "/" + shard);
  }
  for (const auto& [name, file] : map->members())
    if (!reader.find(name)) bad(index, "names tensor " + name + ", which is not in " + file.text());
  return reader;
}

const SafetensorsReader::Entry* SafetensorsReader::find(const std::string& name) const {
  const auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : &it->second;
}

void SafetensorsReader::read_f32(const std::string& name, float* out) const {
  const Entry* e = find(name);
  if (!e) throw Failure("ERR_MISSING_TENSOR", "no tensor " + name);
  const ReadableFile& file = *files_[static_cast<size_t>(e->file)];
  if (e->dtype == "F32") return file.read(out, e->offset, e->bytes);
  if (e->dtype != "BF16" && e->dtype != "F16")
    throw Failure("ERR_DTYPE", "tensor " + name + ": expected F32, BF16 or F16, got " + e->dtype);
  const bool brain = e->dtype == "BF16";
  constexpr int64_t kBlock = 1 << 16;
  std::vector<uint16_t> block(static_cast<size_t>(std::min(kBlock, e->count())));
  for (int64_t at = 0; at < e->count(); at += kBlock) {
    const int64_t n = std::min(kBlock, e->count() - at);
    file.read(block.data(), e->offset + at * 2, n * 2);
    for (int64_t i = 0; i < n; i++) {
      const uint16_t h = block[static_cast<size_t>(i)];
      out[at + i] = brain ? bf16_to_f32(h) : f16_to_f32(h);
    }
  }
}

void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<void(size_t i, const AppendBytes& append)>& fill) {
  Json header = Json::object();
  Json about = Json::object();
  for (const auto& [key, value] : metadata) about.set(key, Json::of(value));
  header.set("__metadata__", about);
  int64_t at = 0;
  for (const TensorToWrite& t : tensors) {
    Json entry = Json::object(), shape = Json::array(), offsets = Json::array();
    int64_t count = 1;
    for (int64_t d : t.shape) {
      shape.push(Json::of(d));
      count *= d;
    }
    offsets.push(Json::of(at));
    at += count * 4;
    offsets.push(Json::of(at));
    entry.set("dtype", Json::of(std::string("F32")));
    entry.set("shape", shape);
    entry.set("data_offsets", offsets);
    header.set(t.name, entry);
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // data starts at a multiple of 8
  write_file(path, [&](const AppendBytes& append) {
    unsigned char raw[8];
    for (int i = 0; i < 8; i++) raw[i] = static_cast<unsigned char>((text.size() >> (8 * i)) & 0xFF);
    append(raw, 8);
    append(text.data(), text.size());
    for (size_t i = 0; i < tensors.size(); i++) fill(i, append);
  });
}

}  // namespace skillgate

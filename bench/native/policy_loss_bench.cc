// The LM head, loss and gradients. Of T rows the share `density` carries loss.
//   terms  "all": two channels, KL and entropy; "plain": cross entropy
//   packed "each": the LM head is packed in the timed run; "once": before; "never"
//   folder the inputs are written there as raw arrays, and so are the outputs when the result is asked for
#include <cmath>
#include <cstdio>
#include <cstring>

#include "backend/status.h"
#include "bench_case.h"
#include "memory_count.h"

namespace skillgate::bench {
namespace {

class Update {
 public:
  Update(const Spec& spec, int threads, const std::string& instruction_set)
      : T_(spec.size("T")),
        D_(spec.size("D")),
        V_(spec.size("V")),
        plain_(spec.text("terms", "all") == "plain"),
        packing_(spec.text("packed", "each")),
        folder_(spec.text("folder", "")),
        hidden_(T_ * D_, 1, 1.f),
        head_(V_ * D_, 2, 3.f * static_cast<float>(1 / std::sqrt(static_cast<double>(D_)))),
        d_hidden_(T_ * D_),
        d_head_(V_ * D_),
        rows_(9, Buffer(T_)) {
    BackendOptions options;
    options.threads = threads;
    options.instruction_set = instruction_set;
    backend_ = open_backend("cpu", options);
    if (packing_ != "never") {
      packed_ = Buffer(static_cast<int64_t>(backend_->packed_bytes(V_, D_) / 4) + 16);
      backend_->pack(packed_.f32(), head_.tensor({V_, D_}));
    }
    fill_rows(spec.number("density", 1));
    // A backend of its own, so that the first run shows what the loss alone takes.
    backend_.reset();
    backend_ = open_backend("cpu", options);
    chunk_rows_ = chunk_rows();
    forget_most_held();
    const int64_t before = held_bytes();
    run();
    extra_bytes_ = most_held_bytes() - before;
    if (!folder_.empty()) write_inputs();
  }

  void run() {
    if (packing_ == "each") backend_->pack(packed_.f32(), head_.tensor({V_, D_}));
    PolicyLossArgs args;
    args.hidden = hidden_.tensor({T_, D_});
    args.lm_head = head_.tensor({V_, D_});
    args.lm_head_packed = packing_ == "never" ? nullptr : packed_.f32();
    args.target = target().i32();
    args.advantage = advantage().f32();
    args.weight = weight().f32();
    if (!plain_) {
      args.kl_weight = weight().f32();
      args.behaviour_logprob = behaviour().f32();
      args.reference_logprob = reference().f32();
      args.kl_coefficient = kKlCoefficient;
      args.entropy = entropy().f32();
      args.clipped = reinterpret_cast<uint8_t*>(clipped().f32());
    }
    args.logprob = logprob().f32();
    args.d_hidden = d_hidden_.tensor({T_, D_});
    args.d_lm_head = d_head_.tensor({V_, D_});
    loss_ = backend_->policy_loss(args);
  }

  Json result() {
    std::memset(d_head_.f32(), 0, static_cast<size_t>(V_ * D_) * sizeof(float));
    run();
    if (!folder_.empty()) {
      write("d_hidden", d_hidden_);
      write("d_lm_head", d_head_);
      write("logprob", logprob());
      write("entropy", entropy());
    }
    Json out = Json::object();
    out.set("loss", number(loss_.loss));
    out.set("kl_loss", number(loss_.kl_loss));
    double cross_entropy = 0;
    for (int64_t t = 0; t < T_; ++t) {
      cross_entropy -= static_cast<double>(weight().f32()[t]) * logprob().f32()[t];
    }
    out.set("cross_entropy", number(cross_entropy));
    out.set("chunk_rows", Json::of(chunk_rows_));
    if (memory_is_counted()) out.set("extra_bytes", Json::of(extra_bytes_));
    return out;
  }

  int64_t active() const { return active_; }

 private:
  static constexpr float kKlCoefficient = 0.01f;

  // What a first call takes grows with its rows up to a chunk.
  int64_t chunk_rows() const {
    const int64_t most = backend_->policy_loss_bytes(active_, D_, V_);
    int64_t low = 1, high = active_;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (backend_->policy_loss_bytes(middle, D_, V_) < most) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  static Json number(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", x);
    return Json::parse(text);
  }

  Buffer& target() { return rows_[0]; }
  Buffer& advantage() { return rows_[1]; }
  Buffer& weight() { return rows_[2]; }
  Buffer& behaviour() { return rows_[3]; }
  Buffer& reference() { return rows_[4]; }
  Buffer& logprob() { return rows_[5]; }
  Buffer& entropy() { return rows_[6]; }
  Buffer& clipped() { return rows_[7]; }
  Buffer& noise() { return rows_[8]; }

  // Behaviour and reference are near the current logprob: most ratios are inside the clip range, some not.
  void fill_rows(double density) {
    for (int i = 0; i < 9; ++i) rows_[i] = Buffer(T_, static_cast<uint64_t>(10 + i), 1.f);
    uint64_t state = 3;
    for (int64_t t = 0; t < T_; ++t) {
      target().i32()[t] = static_cast<int32_t>(next_random(state) % static_cast<uint64_t>(V_));
      const bool on = static_cast<int64_t>(density * (t + 1)) > static_cast<int64_t>(density * t);
      active_ += on;
      weight().f32()[t] = on;
      if (plain_) advantage().f32()[t] = 1;
    }
    if (active_ == 0) throw Failure("ERR_BENCH", "policy_loss: expected a density that leaves a row");
    for (int64_t t = 0; t < T_; ++t) weight().f32()[t] /= static_cast<float>(active_);
    backend_->token_logprob(logprob().f32(), nullptr, hidden_.tensor({T_, D_}), head_.tensor({V_, D_}),
                            packing_ == "never" ? nullptr : packed_.f32(), target().i32(), 1.f);
    for (int64_t t = 0; t < T_; ++t) {
      behaviour().f32()[t] = logprob().f32()[t] + 0.3f * noise().f32()[t];
      reference().f32()[t] = logprob().f32()[t] + 0.3f * reference().f32()[t];
    }
  }

  void write_inputs() {
    write("hidden", hidden_);
    write("lm_head", head_);
    write("target", target());
    write("advantage", advantage());
    write("weight", weight());
    write("behaviour", behaviour());
    write("reference", reference());
  }

  void write(const std::string& name, const Buffer& x) {
    const std::string path = folder_ + "/" + name + ".bin";
    std::FILE* file = std::fopen(path.c_str(), "wb");
    const auto count = static_cast<size_t>(x.count());
    const bool whole = file && std::fwrite(x.f32(), sizeof(float), count, file) == count;
    if (!file || std::fclose(file) != 0 || !whole) throw Failure("ERR_BENCH", "cannot write " + path);
  }

  const int64_t T_, D_, V_;
  const bool plain_;
  const std::string packing_, folder_;
  Buffer hidden_, head_, d_hidden_, d_head_, packed_{1};
  std::vector<Buffer> rows_;
  std::unique_ptr<Backend> backend_;
  PolicyLossResult loss_;
  int64_t active_ = 0, chunk_rows_ = 0, extra_bytes_ = 0;
};

}  // namespace

Case make_policy_loss(const Spec& spec, Backend& backend, int threads) {
  const std::string description = backend.description();
  const auto update = std::make_shared<Update>(spec, threads, description.substr(0, description.find(',')));
  const double T = spec.size("T"), D = spec.size("D"), V = spec.size("V"), R = update->active();
  char shape[120];
  std::snprintf(shape, sizeof shape, "%s T %.0f (%.0f with loss) D %.0f V %.0f",
                spec.text("terms", "all").c_str(), T, R, D, V);
  Case c;
  c.shape = shape;
  c.flop = 6 * R * D * V;
  c.bytes = 4 * (2 * T * D + 3 * V * D);
  c.run = [update] { update->run(); };
  c.result = [update] { return update->result(); };
  return c;
}

}  // namespace skillgate::bench

#include "host_memory_backend.h"

#include <deque>
#include <map>
#include <vector>

#include "emulator/device.h"

namespace skillgate::test {
namespace {

// The device's copies of one op's host tensors; what may have been written goes back when the op is done.
class Moved {
 public:
  explicit Moved(Backend& device) : device_(device) {}
  ~Moved() {
    for (const Copy& c : copies_) device_.release(c.device.data);
  }
  Moved(const Moved&) = delete;
  Moved& operator=(const Moved&) = delete;

  Tensor in(const Tensor& host) { return move(host, false); }
  Tensor out(const Tensor& host) { return move(host, true); }
  void finish() {
    for (const Copy& c : copies_)
      if (c.written) device_.download(c.host, c.device.data, c.device.bytes());
  }

 private:
  struct Copy {
    void* host;
    Tensor device;
    bool written;
  };
  // One copy for each place, so that an op that is given one tensor twice sees one.
  Tensor move(const Tensor& host, bool written) {
    if (!host || emulation::is_device_memory(host.data)) return host;
    for (Copy& c : copies_)
      if (c.host == host.data && c.device.bytes() == host.bytes()) {
        c.written = c.written || written;
        Tensor same = host;
        same.data = c.device.data;
        return same;
      }
    Tensor device = host;
    device.data = device_.allocate(host.bytes());
    device_.upload(device.data, host.data, host.bytes());
    copies_.push_back({host.data, device, written});
    return device;
  }

  Backend& device_;
  std::deque<Copy> copies_;
};

class HostMemoryBackend final : public Backend {
 public:
  explicit HostMemoryBackend(std::unique_ptr<Backend> device) : device_(std::move(device)) {}

  const char* name() const override { return device_->name(); }
  std::string description() const override { return device_->description(); }
  void* allocate(size_t bytes) override { return device_->allocate(bytes); }
  void release(void* p) override { device_->release(p); }
  void upload(void* to, const void* from, size_t bytes) override { device_->upload(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { device_->download(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) override { device_->copy(to, from, bytes); }
  void zero(void* p, size_t bytes) override { device_->zero(p, bytes); }
  void synchronize() override { device_->synchronize(); }
  int64_t free_bytes() const override { return device_->free_bytes(); }

  void embedding_forward(Tensor y, Tensor table, Tensor tokens) override {
    run([&](Moved& m) { device_->embedding_forward(m.out(y), m.in(table), m.in(tokens)); });
  }
  void embedding_backward(Tensor dtable, Tensor dy, Tensor tokens) override {
    run([&](Moved& m) { device_->embedding_backward(m.out(dtable), m.in(dy), m.in(tokens)); });
  }
  void rmsnorm_forward(Tensor y, Tensor rstd, Tensor x, Tensor w, float eps) override {
    run([&](Moved& m) { device_->rmsnorm_forward(m.out(y), m.out(rstd), m.in(x), m.in(w), eps); });
  }
  void rmsnorm_backward(Tensor dx, Tensor dw, Tensor dy, Tensor x, Tensor w, Tensor rstd,
                        bool accumulate) override {
    run([&](Moved& m) {
      device_->rmsnorm_backward(m.out(dx), m.out(dw), m.in(dy), m.in(x), m.in(w), m.in(rstd), accumulate);
    });
  }

  // Packed weights are device memory, and host memory has no room for them to lie in: 0 bytes, so that
  // callers pass none and the device makes its own.
  size_t packed_bytes(int64_t, int64_t, DType) const override { return 0; }
  void pack(void*, Tensor, DType) override {}
  void linear_forward(Tensor y, Tensor x, Tensor w, const void*, Tensor bias) override {
    run([&](Moved& m) { device_->linear_forward(m.out(y), m.in(x), m.in(w), nullptr, m.in(bias)); });
  }
  void linear_backward_input(Tensor dx, Tensor dy, Tensor w, const void*, bool accumulate) override {
    run([&](Moved& m) { device_->linear_backward_input(m.out(dx), m.in(dy), m.in(w), nullptr, accumulate); });
  }
  void linear_backward_weight(Tensor dw, Tensor dbias, Tensor dy, Tensor x) override {
    run([&](Moved& m) { device_->linear_backward_weight(m.out(dw), m.out(dbias), m.in(dy), m.in(x)); });
  }

  void rope(Tensor x, Tensor cosine, Tensor sine, Tensor positions, bool inverse) override {
    run([&](Moved& m) { device_->rope(m.out(x), m.in(cosine), m.in(sine), m.in(positions), inverse); });
  }
  void attention_forward(Tensor o, Tensor lse, Tensor q, Tensor k, Tensor v, const AttentionSpans& spans,
                         float scale) override {
    run([&](Moved& m) {
      device_->attention_forward(m.out(o), m.out(lse), m.in(q), m.in(k), m.in(v), spans, scale);
    });
  }
  void attention_backward(Tensor dq, Tensor dk, Tensor dv, Tensor d_o, Tensor o, Tensor lse, Tensor q,
                          Tensor k, Tensor v, const AttentionSpans& spans, float scale) override {
    run([&](Moved& m) {
      device_->attention_backward(m.out(dq), m.out(dk), m.out(dv), m.in(d_o), m.in(o), m.in(lse), m.in(q),
                                  m.in(k), m.in(v), spans, scale);
    });
  }
  void swiglu_forward(Tensor y, Tensor gate, Tensor up) override {
    run([&](Moved& m) { device_->swiglu_forward(m.out(y), m.in(gate), m.in(up)); });
  }
  void swiglu_backward(Tensor dgate, Tensor dup, Tensor dy, Tensor gate, Tensor up) override {
    run([&](Moved& m) {
      device_->swiglu_backward(m.out(dgate), m.out(dup), m.in(dy), m.in(gate), m.in(up));
    });
  }
  void add(Tensor y, Tensor x) override {
    run([&](Moved& m) { device_->add(m.out(y), m.in(x)); });
  }
  void gather_rows(Tensor y, Tensor x, Tensor index) override {
    run([&](Moved& m) { device_->gather_rows(m.out(y), m.in(x), m.in(index)); });
  }
  void scatter_rows(Tensor y, Tensor x, Tensor index) override {
    run([&](Moved& m) { device_->scatter_rows(m.out(y), m.in(x), m.in(index)); });
  }
  void scatter_add_rows(Tensor dx, Tensor dy, Tensor index) override {
    run([&](Moved& m) { device_->scatter_add_rows(m.out(dx), m.in(dy), m.in(index)); });
  }

  int64_t token_mask(const TokenMaskArgs& args) override { return device_->token_mask(args); }
  void start_policy_loss(const PolicyLossArgs& args) override {
    run([&](Moved& m) {
      PolicyLossArgs moved = args;
      moved.hidden = m.in(args.hidden);
      moved.lm_head = m.in(args.lm_head);
      moved.lm_head_packed = nullptr;
      moved.d_hidden = m.out(args.d_hidden);
      moved.d_lm_head = m.out(args.d_lm_head);
      result_ = device_->policy_loss(moved);
    });
  }
  PolicyLossResult finish_policy_loss(const PolicyLossArgs&) override { return result_; }
  void token_logprob(float* logprob, float* entropy, Tensor hidden, Tensor lm_head, const void*,
                     const int32_t* target, float temperature) override {
    run([&](Moved& m) {
      device_->token_logprob(logprob, entropy, m.in(hidden), m.in(lm_head), nullptr, target, temperature);
    });
  }
  void sample(int32_t* token, float* logprob, Tensor logits, const SampleOptions* options) override {
    run([&](Moved& m) { device_->sample(token, logprob, m.in(logits), options); });
  }
  void sum_of_squares(Tensor sum, Tensor x) override {
    run([&](Moved& m) { device_->sum_of_squares(m.out(sum), m.in(x)); });
  }
  void adamw(Tensor w, Tensor grad, Tensor m, Tensor v, Tensor sum_of_squares,
             const AdamWOptions& options) override {
    run([&](Moved& moved) {
      device_->adamw(moved.out(w), moved.in(grad), moved.out(m), moved.out(v), moved.in(sum_of_squares),
                     options);
    });
  }

 private:
  template <class Op>
  void run(Op op) {
    Moved moved(*device_);
    op(moved);
    moved.finish();
  }

  std::unique_ptr<Backend> device_;
  PolicyLossResult result_;
};

}  // namespace

std::unique_ptr<Backend> with_host_memory(std::unique_ptr<Backend> device) {
  return std::make_unique<HostMemoryBackend>(std::move(device));
}

}  // namespace skillgate::test

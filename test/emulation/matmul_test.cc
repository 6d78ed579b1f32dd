// The linear layer in fp32 and bf16, over shapes that no tile divides, against float64; and that a row has
// the same bits whatever stands beside it.
#include "check.h"
#include "device_fixture.h"
#include "reference.h"

using namespace skillgate;
using namespace skillgate::test;

namespace {

struct LinearShape {
  int64_t T, N, K;
};
// One row and few rows (the flat tiles), medium and large tiles, sizes around the tiles' and the copies'
// widths.
const LinearShape kShapes[] = {{1, 33, 8},   {3, 7, 5},      {16, 70, 72},  {17, 64, 64},
                               {65, 97, 49}, {128, 128, 32}, {200, 260, 40}};

// bf16 rounds its operands: relative error of a product of random numbers about 2^-9.
double tolerance(const std::string& precision) {
  return precision == "fp32" ? 1e-6 : 4e-3;
}

std::string text(const LinearShape& s) {
  return "T " + std::to_string(s.T) + " N " + std::to_string(s.N) + " K " + std::to_string(s.K);
}

// The device's own form of w, where it has one.
class Packed {
 public:
  Packed(Backend& backend, Tensor w) : backend_(backend) {
    const size_t bytes = backend.packed_bytes(w.shape[0], w.shape[1]);
    if (bytes == 0) return;
    data_ = backend.allocate(bytes);
    backend.pack(data_, w);
  }
  ~Packed() { backend_.release(data_); }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  const void* data() const { return data_; }

 private:
  Backend& backend_;
  void* data_ = nullptr;
};

}  // namespace

TEST(linear_forward_matches_float64) {
  for_each_precision([](Backend& backend, const std::string& precision) {
    for (const LinearShape& s : kShapes) {
      check::Scope scope(text(s));
      Random random(1);
      const Floats x = random.normals(s.T * s.K), w = random.normals(s.N * s.K), b = random.normals(s.N);
      const DeviceArray dx(backend, x), dw(backend, w), db(backend, b), y(backend, s.T * s.N),
          again(backend, s.T * s.N);
      const Tensor weight = dw.tensor({s.N, s.K});
      const Packed packed(backend, weight);
      backend.linear_forward(y.tensor({s.T, s.N}), dx.tensor({s.T, s.K}), weight, packed.data(),
                             db.tensor({s.N}));
      Doubles want = product_reference({x, s.K, 1}, {w, s.K, 1}, s.T, s.N, s.K);
      for (size_t i = 0; i < want.size(); i++) want[i] += b[i % static_cast<size_t>(s.N)];
      EXPECT_NEAR(distance(y.floats(), want), 0, tolerance(precision));
      // Without the packed form the device makes one of its own.
      backend.linear_forward(again.tensor({s.T, s.N}), dx.tensor({s.T, s.K}), weight, nullptr,
                             db.tensor({s.N}));
      EXPECT(same_bits(again.floats(), y.floats()));
    }
  });
}

TEST(linear_rows_do_not_depend_on_their_neighbours) {
  for_each_precision([](Backend& backend, const std::string&) {
    const int64_t T = 200, N = 260, K = 72;
    Random random(2);
    const Floats x = random.normals(T * K), w = random.normals(N * K);
    const DeviceArray dw(backend, w);
    auto forward = [&](int64_t begin, int64_t end) {
      const DeviceArray dx(backend, Floats(x.begin() + begin * K, x.begin() + end * K)),
          y(backend, (end - begin) * N);
      backend.linear_forward(y.tensor({end - begin, N}), dx.tensor({end - begin, K}), dw.tensor({N, K}),
                             nullptr, {});
      return y.floats();
    };
    const Floats whole = forward(0, T);
    for (const auto& [begin, end] :
         {std::pair<int64_t, int64_t>{0, 1}, {7, 8}, {199, 200}, {50, 66}, {30, 100}}) {
      check::Scope scope("rows " + std::to_string(begin) + " to " + std::to_string(end));
      EXPECT(same_bits(forward(begin, end), Floats(whole.begin() + begin * N, whole.begin() + end * N)));
    }
  });
}

TEST(linear_backward_matches_float64) {
  for_each_precision([](Backend& backend, const std::string& precision) {
    for (const LinearShape& s : kShapes) {
      check::Scope scope(text(s));
      Random random(3);
      const Floats x = random.normals(s.T * s.K), w = random.normals(s.N * s.K),
                   dy = random.normals(s.T * s.N);
      const Floats before_w = random.normals(s.N * s.K), before_b = random.normals(s.N);
      const Floats before_x = random.normals(s.T * s.K);
      const DeviceArray ax(backend, x), aw(backend, w), ady(backend, dy);
      const DeviceArray dw(backend, before_w), db(backend, before_b), dx(backend, s.T * s.K),
          sum(backend, before_x);
      const Tensor weight = aw.tensor({s.N, s.K}), grad = ady.tensor({s.T, s.N});
      const Packed packed(backend, weight);
      backend.linear_backward_weight(dw.tensor({s.N, s.K}), db.tensor({s.N}), grad, ax.tensor({s.T, s.K}));
      backend.linear_backward_input(dx.tensor({s.T, s.K}), grad, weight, packed.data(), false);
      backend.linear_backward_input(sum.tensor({s.T, s.K}), grad, weight, packed.data(), true);

      const Doubles want_w = product_reference({dy, 1, s.N}, {x, 1, s.K}, s.N, s.K, s.T);
      const Doubles want_x = product_reference({dy, s.N, 1}, {w, 1, s.K}, s.T, s.K, s.N);
      const Floats ones(static_cast<size_t>(s.T), 1.f);
      const Doubles want_b = product_reference({ones, s.T, 1}, {dy, 1, s.N}, 1, s.N, s.T);
      EXPECT_NEAR(distance(dw.floats(), plus(before_w, want_w)), 0, tolerance(precision));
      EXPECT_NEAR(distance(dx.floats(), want_x), 0, tolerance(precision));
      EXPECT_NEAR(distance(sum.floats(), plus(before_x, want_x)), 0, tolerance(precision));
      EXPECT_NEAR(distance(db.floats(), plus(before_b, want_b)), 0, 1e-6);
    }
  });
}

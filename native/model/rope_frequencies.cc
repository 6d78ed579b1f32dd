#include <cmath>

#include "model/decoder.h"

namespace skillgate {

std::vector<float> rope_frequencies(const ModelConfig& c) {
  constexpr double kPi = 3.14159265358979323846;
  const RopeConfig& r = c.rope;
  std::vector<float> out(static_cast<size_t>(c.E / 2));
  for (size_t i = 0; i < out.size(); i++) {
    double f = std::pow(r.theta, -2.0 * static_cast<double>(i) / static_cast<double>(c.E));
    if (r.llama3) {
      // Long wavelengths are stretched by `factor`, short ones kept, those between mixed.
      const double wavelength = 2 * kPi / f, context = static_cast<double>(r.original_max_positions);
      if (wavelength > context / r.low_frequency_factor) {
        f /= r.factor;
      } else if (wavelength >= context / r.high_frequency_factor) {
        const double keep = (context / wavelength - r.low_frequency_factor) /
                            (r.high_frequency_factor - r.low_frequency_factor);
        f = (1 - keep) * f / r.factor + keep * f;
      }
    }
    out[i] = static_cast<float>(f);
  }
  return out;
}

}  // namespace skillgate

// Results of one run, section by section where they are large and come apart: what is held at a time is one section.
//   Evaluation::Parts parts(evaluation, {0}, {format}, run);
//   for (const Section& s : parts.sections()) use(parts.at(s).result(0));
#pragma once
#include <memory>

#include "eval/sections.hpp"

namespace erx {

class Evaluation::Parts {
 public:
  /// parameters: `results`: which ones; `stores`: of each, the format that it is rounded into first. The evaluation outlives this.
  Parts(Evaluation&, std::vector<std::size_t> results, std::vector<std::optional<Format>> stores, std::size_t run);
  ~Parts();
  Parts(Parts&&) = delete;

  /// One that is all where everything is small, is evaluated already or does not come apart.
  const std::vector<Section>& sections() const { return sections_; }

  /// The sets of one section.
  class At {
   public:
    virtual ~At() = default;
    virtual const SetTensor& result(std::size_t k) = 0;  // the k-th of `results`
    virtual Alternatives alternatives(std::size_t k, std::int64_t flat) = 0;
  };
  /// Valid until the next call. Its elements are counted by the evaluation.
  At& at(const Section&);

  /// One element of the k-th result for a closer look, in a section of its own. Valid until the next call; not counted again.
  struct Element {
    At& in;
    std::int64_t flat;
  };
  Element element(std::size_t k, std::int64_t flat);

 private:
  class Whole;
  class Cut;
  Evaluation& evaluation_;
  std::vector<std::size_t> results_;
  std::vector<std::optional<Format>> stores_;
  std::size_t run_;
  std::unique_ptr<Sectioning> sectioning_;  // none: all at once
  std::vector<Section> sections_ = {Section{}};
  std::unique_ptr<Whole> whole_;
  std::unique_ptr<Cut> cut_, close_;  // the latest section, the latest element
  std::pair<std::size_t, std::int64_t> close_to_ = {0, -1};

  State& state() { return *evaluation_.state_; }
  bool is_evaluated() const;
};

}  // namespace erx

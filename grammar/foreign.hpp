// Words and signs of NumPy, PyTorch, C and Python that authors of kernels bring along, and what is written here instead.
//   foreign("arange")->here == "iota"     foreign("for")->note == "a loop is `fold ..`"
#pragma once
#include <string_view>

#include "ir/error.hpp"

namespace erx {

struct Foreign {
  std::string_view word;
  std::string_view here;  // stands in its place as it is; "" where more has to change
  std::string_view note;
};

/// nullptr: a word that is known nowhere.
const Foreign* foreign(std::string_view word);

/// Tells it: the note, and the replacement of `at` where one word does. returns: was there anything to tell?
bool tell_foreign(Diagnostic&, std::string_view word, const Span& at);

}  // namespace erx

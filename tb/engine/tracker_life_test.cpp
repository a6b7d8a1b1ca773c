// SPDX-License-Identifier: Apache-2.0
/// Whole lives of a send under random legal events: one completion, one response at most, the window slot comes back
/// once.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <ostream>
#include <vector>

#include "tracker_records.hpp"

namespace tidemill::test {
namespace {

using abi::ActionKind;
using abi::Status;
using hls::SlotRecord;
using hls::Tracker;
using hls::Verdict;
using S = abi::SlotState;

enum class Op { turn, sent, failed, flushed, recovered, answer, cancel, modify, deadline, expire };
std::ostream& operator<<(std::ostream& out, Op op) {
  static constexpr const char* kNames[] = {"turn",   "sent",   "failed", "flushed",  "recovered",
                                           "answer", "cancel", "modify", "deadline", "expire"};
  return out << kNames[static_cast<unsigned>(op)];
}

struct Kind {
  uint8_t retries;
  bool expects, counted;
};
std::ostream& operator<<(std::ostream& out, const Kind& k) {
  return out << int{k.retries} << " retries" << (k.expects ? ", expects" : "") << (k.counted ? ", counted" : "");
}
rc::Gen<Kind> kinds_of_sends() {
  return rc::gen::build<Kind>(rc::gen::set(&Kind::retries, rc::gen::inRange<uint8_t>(0, 4)),
                              rc::gen::set(&Kind::expects, rc::gen::weightedElement<bool>({{4, true}, {1, false}})),
                              rc::gen::set(&Kind::counted));
}

/// One send from its descriptor on; events that cannot happen in a state are passed over.
class Life {
 public:
  explicit Life(const Kind& kind) : retries_(kind.retries), expects_(kind.expects) {
    abi::Event e = response();
    e.kind(abi::EventKind::descriptor);
    e.timeout(kind.expects ? kTryWait : 0);
    e.retries(kind.retries);
    e.counted(kind.counted);
    credits_out_ = kind.counted;
    record_ = Tracker::admit(record(S::free), e);
  }

  bool over() const { return completions_ != 0; }
  void apply(Op op) {
    const S state = record_.flags.state();
    const bool on_wire = state == S::sending || state == S::early || state == S::cancelled;
    switch (op) {
      case Op::turn:
        if (state == S::free || state == S::queued || state == S::retry)
          take(Tracker::on_turn(record_, event(abi::EventKind::grant)));
        return;
      case Op::sent:
        if (on_wire) take(Tracker::on_sent(record_, sent_report(Status::success)));
        return;
      case Op::failed:
        if (on_wire) take(Tracker::on_sent(record_, sent_report(Status::error)));
        return;
      case Op::flushed:
        if (on_wire) take(Tracker::on_sent(record_, sent_report(Status::flushed)));
        return;
      case Op::recovered:
        if (on_wire) take(Tracker::on_sent(record_, sent_report(Status::flushed, ++recovery_)));
        return;
      case Op::answer:
        if (state != S::free && state != S::queued && expects_ &&
            Tracker::mismatch(record_, response()) == abi::Cause::none)
          take(Tracker::on_response(record_));
        return;
      case Op::cancel:
        cancelled_ |= responses_ == 0;
        take(Tracker::on_cancel(record_));
        return;
      case Op::modify: {
        abi::Event e = event(abi::EventKind::modify);
        e.timeout(20);
        if (state != S::free) take(Tracker::on_modify(record_, e));
        return;
      }
      case Op::deadline: {
        abi::Event e = event(abi::EventKind::deadline);
        e.deadline(50);
        if (state == S::free) return;
        const Verdict v = Tracker::on_deadline(record_, e);
        record_.limits.deadline(Tracker::deadline_of(record_, e));
        take(v);
        return;
      }
      case Op::expire:
        if (state == S::waiting) take(Tracker::on_expiry(record_, kNow));
        return;
    }
  }
  /// The wire reports, the timer fires, the retry lane is granted, until the send is over.
  void finish() {
    for (int i = 0; i < 3 * (retries_ + 2) && !over(); ++i)
      for (const Op op : {Op::turn, Op::sent, Op::expire})
        if (!over()) apply(op);
  }
  void check_the_end() const {
    RC_ASSERT(completions_ == 1u);
    RC_ASSERT(responses_ <= 1u);
    RC_ASSERT(!credits_out_);
    RC_ASSERT(responses_ == 0u || expects_);
    RC_ASSERT(!cancelled_ || (responses_ == 0u && status_ == Status::flushed));
    if (status_ == Status::timeout) RC_ASSERT(record_.flags.tries() == retries_ + 1u);
    if (status_ == Status::success) RC_ASSERT(responses_ == (expects_ ? 1u : 0u));
    RC_ASSERT(record_.flags.tries() <= retries_ + 1u);
  }

 private:
  void take(const Verdict& v) {
    RC_ASSERT(!over());
    if (v.action == ActionKind::respond || v.action == ActionKind::respond_complete) ++responses_;
    if (v.window_credit) {
      RC_ASSERT(credits_out_);
      credits_out_ = false;
    }
    RC_ASSERT(v.release == (v.action == ActionKind::complete || v.action == ActionKind::respond_complete));
    if (v.release) {
      ++completions_;
      status_ = v.status;
      return;
    }
    record_.flags = v.flags;
  }

  SlotRecord record_;
  uint8_t retries_, recovery_ = 0;
  bool expects_, credits_out_, cancelled_ = false;
  unsigned completions_ = 0, responses_ = 0;
  Status status_ = Status::success;
};

RC_GTEST_PROP(TrackerLife, EndsWithOneCompletionAndTheWindowSlotHome, ()) {
  const auto op = rc::gen::weightedElement<Op>({{6, Op::turn},
                                                {6, Op::sent},
                                                {1, Op::failed},
                                                {1, Op::flushed},
                                                {2, Op::recovered},
                                                {2, Op::answer},
                                                {1, Op::cancel},
                                                {1, Op::modify},
                                                {1, Op::deadline},
                                                {3, Op::expire}});
  const auto kinds = *rc::gen::container<std::vector<Kind>>(8, kinds_of_sends());
  // One life after the other; the last one is brought to its end.
  size_t next = 0;
  Life life(kinds[next]);
  for (const Op o : *rc::gen::scale(8.0, rc::gen::container<std::vector<Op>>(op))) {
    if (life.over()) {
      life.check_the_end();
      life = Life(kinds[++next % kinds.size()]);
    }
    life.apply(o);
  }
  life.finish();
  life.check_the_end();
}

}  // namespace
}  // namespace tidemill::test

"""Postings against sets of numbers."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from memrecalld.ranking.postings import Postings
from tests.ranking.notes import STEADY

KEYS = ("a", "bb", "部署")
NUMBERS = st.integers(0, 12) | st.sampled_from((2**31, 2**32 - 2, 2**32 - 1))
# A pair that is there is taken out, any other is filed.
STEPS = st.lists(st.tuples(st.sampled_from(KEYS), NUMBERS), max_size=60)


@STEADY
@given(STEPS)
def test_numbers_are_filed_and_taken_out_one_by_one(steps):
    postings = Postings()
    model = defaultdict(set)
    for key, number in steps:
        if number in model[key]:
            model[key].remove(number)
            postings.remove([(key, number)])
        else:
            model[key].add(number)
            postings.add([(key, number)])
        for each in KEYS:
            numbers = postings.get(each)
            assert ([] if numbers is None else numbers.tolist()) == sorted(model[each])


def test_several_keys_are_changed_at_once():
    postings = Postings()
    postings.add([("a", 7), ("a", 3), ("b", 5), ("c", 9)])
    postings.add([("a", 2), ("b", 1)], 8)
    postings.remove([("a", 3), ("c", 9)])
    postings.remove([("a", 2)], 8)
    assert [numbers if (numbers := postings.get(key)) is None else numbers.tolist() for key in "abc"] == [
        [7],
        [5, 9],
        None,
    ]

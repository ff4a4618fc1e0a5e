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
        numbers = model[key]
        if number in numbers:
            numbers.remove(number)
            assert postings.remove(key, number) == (not numbers)
        else:
            assert postings.add(key, number) == (not numbers)
            numbers.add(number)
        for each in KEYS:
            assert sorted(postings.gather([each]).tolist()) == sorted(model[each])
            assert postings.count(each) == len(model[each])


def test_the_numbers_of_several_keys_come_together():
    postings = Postings()
    for key, number in (("a", 7), ("a", 3), ("b", 5), ("c", 9), ("d", 5)):
        postings.add(key, number)
    assert sorted(postings.gather(["b", "absent", "a", "d"]).tolist()) == [3, 5, 5, 7]
    assert postings.gather([]).tolist() == []


def test_what_was_gathered_does_not_keep_postings_from_changing():
    postings = Postings()
    for number in range(3):
        postings.add("a", number)
    gathered = postings.gather(["a"])
    postings.add("a", 3)
    postings.remove("a", 0)
    assert gathered.tolist() == [0, 1, 2]
    assert postings.gather(["a"]).tolist() == [1, 2, 3]

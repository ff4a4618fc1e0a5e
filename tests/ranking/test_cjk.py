"""Which pairs of Chinese, Japanese and Korean letters carry something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.ranking.cjk import LOOSE, WORD, document_pairs, query_loanwords, query_pairs
from tests.ranking.notes import STEADY


def pairs(run: str) -> list[str]:
    return [pair for pair, _ in query_pairs(run)]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("数据库怎么备份", ["数据", "据库", "备份"]),
        ("这个怎么办", []),
        ("好的继续", []),
        ("谢谢", []),
        ("今天周五下午可以上线吗", ["周五", "五下", "下午", "上线"]),
        ("デプロイ手順は", ["デプ", "プロ", "ロイ", "手順"]),
        ("ありがとう", []),
        ("なるほど", []),
        ("배포는", ["배포"]),
        ("서버에서", ["서버"]),
        ("어떻게", []),
        ("ㅋㅋㅋ", []),
        ("库", []),
    ],
)
def test_pairs_of_a_question(run: str, expected: list[str]) -> None:
    assert pairs(run) == expected


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("업데이트하면", ["update"]),
        ("카탈로그", ["catalog"]),
        ("게임서버에서", ["game", "server"]),
        ("ゲームサーバーの", ["game", "server"]),
        ("最新のデプロイ手順", ["deploy"]),
        ("블로그", []),
        ("テレビ", []),
        ("배포는", []),
        ("部署流程", []),
    ],
)
def test_english_words_spelt_by_their_sound(run: str, expected: list[str]) -> None:
    assert query_loanwords(run) == expected


def test_a_word_counts_as_one_whatever_its_length() -> None:
    for run in ("备份", "배포", "서버실", "デプロイ", "手順"):
        assert sum(share for _, share in query_pairs(run)) == pytest.approx(WORD, abs=3)


def test_longer_runs_count_as_several_words() -> None:
    assert sum(share for _, share in query_pairs("数据备份流程")) == pytest.approx(3 * WORD, abs=5)


def test_a_pair_with_a_letter_that_may_be_grammar_still_counts() -> None:
    assert query_pairs("性能") == [("性能", LOOSE)]
    assert query_pairs("書き込み") == [("書き", LOOSE), ("き込", LOOSE), ("込み", LOOSE)]


def test_what_touches_a_generic_pair_spans_a_border_of_words() -> None:
    assert pairs("坏卡应该报到哪里") == ["坏卡", "报到"]


@STEADY
@given(
    run=st.text(
        "数据库怎么备份的能应该書き込みのはデプロイー배포는서버에서어떻게ㅋ々", min_size=1, max_size=12
    )
)
def test_whatever_is_looked_for_is_filed(run: str) -> None:
    assert (
        set(pairs(run)) <= document_pairs([run]) <= {run[place : place + 2] for place in range(len(run) - 1)}
    )

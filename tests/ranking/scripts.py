"""Text in many scripts for property tests: of few fragments, so that much matches, with every hard case."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

_WORDS: Final = """
    deploy Deployment ploy DEPLOY rule user docs release ab a x abcab 42 2026 007
    déploiement e\u0301 naïve ﬁle ＡＰＩ ℡ ½ ² Straße ǅ
    ΟΔΟΣ οδός Σ σας İstanbul ıi Привет ВЕТЕР привет مرحبا ٣٤٥ สวัสดี नमस्ते
    部署 流程 署流 署 𠮷野 𠮷 野家 々 〆 デプロイ ﾃﾞﾌﾟ ー サーバ か\u3099 배포 절차 \u1112\u1161\u11ab ㅎ
    👍 👨\u200d👩\u200d👧
"""
"""Latin with ligatures and full width, Greek with its final sigma, the Turkish i, Cyrillic, Arabic, Thai,
Devanagari; Chinese, also beyond the basic plane, Japanese with what prolongs and repeats, Korean in syllables
and in parts; pictures."""

_PARTS: Final = (
    *"\u200b\u200d\u00ad\ufeff",  # without width
    *"\u0301\u0323\u0305\u3099\u309a\u20dd\ud800\udfff",  # marks and surrogates on their own
    *"   \n\u3000\u2028\x1f",
    *"_-.'’—。、「・",
)

_KIN: Final = ("deploy", "Deployment", "redeploys", "ploy", "deploy\u0301", "部署", "署部署")

_FRAGMENTS: Final = st.sampled_from((*_WORDS.split(), *_PARTS))

TEXT: Final = (
    st.lists(_FRAGMENTS, max_size=10).map("".join)
    | st.lists(_FRAGMENTS, max_size=8).map(" ".join)
    | st.lists(st.sampled_from(_KIN), max_size=6).map(" ".join)
    | st.text(st.characters(exclude_categories=()), max_size=30)
)
"""Fragments that run into one another, fragments apart, words that contain one another, and any text."""

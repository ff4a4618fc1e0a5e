"""The rules by which a text seems to hold a secret, and what the tokens look like that their vendors made
recognizable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, get_args

Rule = Literal[
    "secret-private-key",
    "secret-aws-key",
    "secret-azure-key",
    "secret-google-key",
    "secret-github-token",
    "secret-gitlab-token",
    "secret-slack-token",
    "secret-model-service-key",
    "secret-package-registry-token",
    "secret-payment-key",
    "secret-hosting-token",
    "secret-jwt",
    "secret-url-password",
    "secret-assignment",
]
"""What a text seems to hold: a block with a private key; a token that its vendor made recognizable; a JSON
Web Token; a URL with a password; a password or key that is assigned to a name that says so."""

RULES: Final[tuple[Rule, ...]] = get_args(Rule)

# The prefixes are those that vendors publish so that their tokens can be found, and the lengths the published
# ones, or a little less where there are several.
_TOKENS: Final[tuple[tuple[Rule, tuple[str, ...], str], ...]] = (
    ("secret-aws-key", ("AKIA", "ASIA"), r"[A-Z2-7]{16}(?![A-Za-z0-9])"),
    ("secret-azure-key", ("AccountKey=", "SharedAccessKey="), r"[A-Za-z0-9+/]{42,88}={1,2}"),
    ("secret-google-key", ("AIza",), r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("secret-google-key", ("GOCSPX-", "ya29."), r"[A-Za-z0-9_-]{28,}+"),
    ("secret-github-token", ("gho_", "ghp_", "ghr_", "ghs_", "ghu_"), r"[A-Za-z0-9]{36,}+"),
    ("secret-github-token", ("github_pat_",), r"[A-Za-z0-9_]{40,}+"),
    (
        "secret-gitlab-token",
        ("glagent-", "glcbt-", "gldt-", "glft-", "glimt-", "glpat-", "glptt-", "glrt-", "glsoat-"),
        r"[A-Za-z0-9_-]{20,}+",
    ),
    ("secret-slack-token", ("xox",), r"[abceoprs]-[A-Za-z0-9-]{10,}+"),
    ("secret-slack-token", ("xapp-",), r"[0-9]-[A-Za-z0-9-]{10,}+"),
    (
        "secret-slack-token",
        ("hooks.slack.com/services/",),
        r"T[A-Z0-9]{6,14}/B[A-Z0-9]{6,14}/[A-Za-z0-9]{20,}+",
    ),
    ("secret-model-service-key", ("sk-ant-", "sk-proj-", "sk-svcacct-", "sk-or-"), r"[A-Za-z0-9_-]{20,}+"),
    ("secret-model-service-key", ("sk-", "hf_", "gsk_"), r"[A-Za-z0-9]{30,}+"),
    ("secret-package-registry-token", ("npm_",), r"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    ("secret-package-registry-token", ("pypi-AgE",), r"[A-Za-z0-9_-]{40,}+"),
    ("secret-package-registry-token", ("rubygems_",), r"[a-f0-9]{48}"),
    ("secret-package-registry-token", ("dckr_pat_", "dckr_oat_"), r"[A-Za-z0-9_-]{20,}+"),
    ("secret-payment-key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"[A-Za-z0-9]{16,}+"),
    ("secret-payment-key", ("whsec_",), r"[A-Za-z0-9+/]{24,}+"),
    ("secret-hosting-token", ("doo_v1_", "dop_v1_", "dor_v1_"), r"[a-f0-9]{64}"),
    ("secret-hosting-token", ("hvb.", "hvs."), r"[A-Za-z0-9_-]{24,}+"),
    ("secret-hosting-token", ("SG.",), r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("secret-hosting-token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"[a-fA-F0-9]{32}"),
    ("secret-jwt", ("eyJ",), r"(?<![_-]eyJ)[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{16,}+"),
)


def _compiled() -> Iterator[tuple[Rule, str, re.Pattern[str]]]:
    for rule, prefixes, rest in _TOKENS:
        for prefix in prefixes:
            literal = re.escape(prefix)
            yield rule, prefix, re.compile(f"{literal}(?<![A-Za-z0-9]{literal}){rest}")


TOKEN_PATTERNS: Final = tuple(_compiled())
"""Rule, prefix and pattern of each, in time proportional to the text. No token is without its prefix."""

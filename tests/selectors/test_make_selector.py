from __future__ import annotations

import subprocess
import sys

import pytest

from memrecalld.config import SelectorConfig
from memrecalld.errors import ConfigError
from memrecalld.selectors import make_selector


@pytest.mark.parametrize("kind", ["none", "client"])
def test_daemon_has_no_selector_of_its_own(kind: str) -> None:
    assert make_selector(SelectorConfig(kind=kind), {}) is None


async def test_openai_selector_is_made_and_says_its_kind() -> None:
    selector = make_selector(SelectorConfig(kind="openai"), {})
    assert selector is not None
    assert selector.kind == "openai"
    await selector.close()


def test_key_that_cannot_be_had_is_said_at_the_start() -> None:
    config = SelectorConfig(kind="openai", base_url="https://models.example/v1", api_key_env="KEY")
    with pytest.raises(ConfigError, match="api_key_env"):
        make_selector(config, {})


def test_http_client_is_imported_only_for_the_selector_that_needs_it() -> None:
    program = """if True:
        import sys
        from memrecalld.config import SelectorConfig
        from memrecalld.selectors import make_selector
        make_selector(SelectorConfig(kind="none"), {})
        make_selector(SelectorConfig(kind="client"), {})
        assert "aiohttp" not in sys.modules
        make_selector(SelectorConfig(kind="openai"), {})
        assert "aiohttp" in sys.modules
    """
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)

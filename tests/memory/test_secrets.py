"""What looks like a secret, what does not, and what becomes of a repository's note that seems to hold one."""

from __future__ import annotations

import random
import string
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.memory.cache import NoteCache
from memrecalld.memory.document import Scope
from memrecalld.memory.layouts import Root, RootLayout
from memrecalld.memory.scan import read_entry, scan_root
from memrecalld.memory.secret_rules import RULES
from memrecalld.memory.secrets import secrets_in

TESTS = Path(__file__).parents[1]
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def made(length: int, alphabet: str = ALNUM) -> str:
    """As random as a token is, and the same in every run. This file holds no token for scanners to find."""
    return "".join(random.Random(length).choices(alphabet, k=length))


TOKENS = {
    "AKIA" + made(16, string.ascii_uppercase + "234567"): "secret-aws-key",
    f"SharedAccessKey={made(43)}=": "secret-azure-key",
    "AIza" + made(35): "secret-google-key",
    "ghp_" + made(36): "secret-github-token",
    "github_pat_" + made(22) + "_" + made(59): "secret-github-token",
    "glpat-" + made(20): "secret-gitlab-token",
    "xoxb-" + made(12, string.digits) + "-" + made(24): "secret-slack-token",
    "sk-ant-api03-" + made(80): "secret-model-service-key",
    "sk-" + made(48): "secret-model-service-key",
    "npm_" + made(36): "secret-package-registry-token",
    "pypi-AgEIcHlwaS5vcmc" + made(60): "secret-package-registry-token",
    "sk_live_" + made(24): "secret-payment-key",
    "dop_v1_" + made(64, HEX): "secret-hosting-token",
    f"eyJ{made(20)}.eyJ{made(40)}.{made(43)}": "secret-jwt",
    f"postgres://shop:{made(9)}@db.internal:5432/shop": "secret-url-password",
    f"password = {made(14)}": "secret-assignment",
}


def block(kind: str, first: str = "") -> str:
    return f"-----BEGIN {kind}-----\n{first}{made(64)}\n{made(64)}\n-----END {kind}-----\n"


@pytest.mark.parametrize("token", TOKENS, ids=TOKENS.values())
@pytest.mark.parametrize(
    "around", ["{}", "a note: {}.", "`{}`", '"{}",', "<{}>", "x\n- {}\ny", "| {} |", "见{}。"]
)
def test_a_token_is_named_by_its_rule_wherever_it_stands(token: str, around: str) -> None:
    assert secrets_in(around.format(token))[0] == TOKENS[token]


@pytest.mark.parametrize(
    "key",
    [
        block("PRIVATE KEY"),
        block("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\n\n"),
        block("OPENSSH PRIVATE KEY").replace("\n", "\r\n"),
        block("PGP PRIVATE KEY BLOCK", "\n"),
        "    " + block("EC PRIVATE KEY").replace("\n", "\n    "),
        "> " + block("EC PRIVATE KEY").replace("\n", "\n> "),
        '{"private": "' + block("PRIVATE KEY").replace("\n", "\\n") + '"}',
    ],
)
def test_a_private_key_is_found_as_it_is_pasted(key: str) -> None:
    assert secrets_in(f"The key of the server:\n\n{key}\nKeep it.") == ("secret-private-key",)


@pytest.mark.parametrize(
    "name", ["password", "DB_PASSWORD", "api_key", "apiKey", "client-secret", "Access Key", "密码"]
)
@pytest.mark.parametrize("sign", [": ", "=", " = ", ": `", '": "', " => ", ":= ", "："])
def test_a_value_of_real_entropy_that_is_assigned_to_the_name_of_a_secret_is_found(
    name: str, sign: str
) -> None:
    assert secrets_in(f"{name}{sign}{made(14)}") == ("secret-assignment",)


@pytest.mark.parametrize(
    "value", ["Tr0ub4dor&3", "Gq7!kd92Lm", "s3cr3tP4ss", made(40, HEX), "XkTqWbZrLmNpYsDvGhJcAo"]
)
def test_passwords_that_people_and_machines_make_up_are_found(value: str) -> None:
    assert secrets_in(f"password: {value}") == ("secret-assignment",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "password: changeme123",
        "api_key = <your-api-key-2>",
        "token: $GITHUB_TOKEN_2",
        "secret=${VAULT_1_SECRET}",
        "password: {{ vault.db1_password }}",
        "password: xxxxxxxx1x",
        "password: ********",
        "password = os.environ['DB1_PASSWORD']",
        "api_key=settings.API_KEY_2",
        "token = get_token(user1, scope2)",
        "token: oauth2-proxy",
        "the token: rotates-every-90-days",
        "password: /run/secrets/db1_password",
        "password: https://vault.internal/v1/x7Hq2",
        "password: see the wiki",
        "Token: short1",
        "tokens: 120000 a day",
        "tokens: cl100k_base, o200k_base",
        "token: 2026-01-15T10:00:00Z",
        "secret: prod/db-2/creds-v3b",
        "AKIA" + "IOSFODNN7" + "EXAMPLE",
        "ghp_" + "x" * 36,
        "ghp_tokens begin like this",
        "postgres://postgres:postgres@localhost/shop",
        "https://user:password@host/",
        "https://user:$PASSWORD@host/",
        "https://example.org:8080/a@b",
        "postgres://shop@db/shop",
        f"commit {made(40, HEX)}",
        f"the fix is {made(40, HEX)}, reverted in {made(12, HEX)}",
        "id 123e4567-e89b-12d3-a456-426614174000",
        f"sha256:{made(64, HEX)}",
        f"![diagram](data:image/png;base64,{made(400)})",
        "a key begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n<the key>\n-----END PRIVATE KEY-----",
        block("PUBLIC KEY"),
        block("CERTIFICATE"),
        "task-" + made(40) + " desk-" + made(40),
        "class='sk-circle-loading-animation-element-wrapper'",
    ],
)
def test_placeholders_references_hashes_and_talk_of_secrets_are_none(text: str) -> None:
    assert secrets_in(text) == ()


def test_no_note_of_the_corpus_and_of_the_demo_is_suspected() -> None:
    notes = [
        *(TESTS / "evaluation" / "corpus" / "notes").rglob("*.md"),
        *(TESTS.parent / "memrecalld" / "demo" / "notes").rglob("*.md"),
    ]
    assert len(notes) > 300
    assert [note.name for note in notes if secrets_in(note.read_text(encoding="utf-8"))] == []


@given(before=st.text(), after=st.text(), token=st.sampled_from(sorted(TOKENS)))
def test_a_token_on_a_line_of_its_own_is_found_in_any_text(before: str, after: str, token: str) -> None:
    assert TOKENS[token] in secrets_in(f"{before}\n{token}\n{after}")


@given(st.text(alphabet=st.sampled_from("-:/@=._ \n\"'`eyJghp_password:token=BEGINPRIVATKY0aA\udc80é")))
def test_any_text_is_judged_by_names_of_rules(text: str) -> None:
    found = secrets_in(text)
    assert list(found) == [rule for rule in RULES if rule in found]


HOSTILE = [
    "-----BEGIN RSA PRIVATE KEY-----" + " " * 80,
    "-----BEGIN A B C PRIVATE KEY-----\n        ",
    "-eyJ",
    "eyJaaaaaaaaa.",
    "ghp_",
    "://a:b",
    "://:",
    "password=abcdefg1 ",
    "token:   ",
    "*",
    "é",
]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("once", ["", "-----BEGIN PRIVATE KEY-----\n", "eyJ", "password=", "://a:"])
def test_two_megabytes_made_to_be_slow_are_judged_in_time_that_grows_with_their_length(
    piece: str, once: str
) -> None:
    size = 2_000_000 if not once else 100_000
    text = (once + piece * (size // len(piece) + 1))[:size]
    began = time.process_time()
    secrets_in(text)
    # Half a microsecond a character on a slow machine; quadratic time would be minutes.
    assert time.process_time() - began < size * 5e-6


# A repository's notes ---------------------------------------------------------------------------------------

TOKEN = "ghp_" + made(36)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"deploy": "How to deploy", "leak": f"Use {TOKEN}", "wide": ""}.items():
        (tmp_path / f"{name}.md").write_text(f"# {name}\n{text}\n", encoding="utf-8")
    (tmp_path / "wide.md").write_text(f"# wide\n{TOKEN}", encoding="utf-16")
    return tmp_path


def root_of(folder: Path, layout: RootLayout, scope: Scope = "project") -> Root:
    return Root(
        scope=scope,
        layout=layout,
        path=str(folder),
        real_path=str(folder.resolve()),
        required=True,
    )


def test_notes_of_a_repository_that_seem_to_hold_a_secret_are_left_out_and_counted_by_rule(
    folder: Path,
) -> None:
    scan = scan_root(root_of(folder, "team"), allowed=[str(folder)])
    assert [each.relative_path for each in scan.documents] == ["deploy.md"]
    assert scan.skipped == {"secret-github-token": 2}
    assert {each.relative_path for each in scan.skips} == {"leak.md", "wide.md"}
    assert TOKEN not in repr(scan)


@pytest.mark.parametrize("layout", ["native", "qwen", "claude", "extra"])
@pytest.mark.parametrize("scope", ["project", "user"])
def test_notes_of_ones_own_are_recalled_whatever_they_hold(
    folder: Path, layout: RootLayout, scope: Scope
) -> None:
    scan = scan_root(root_of(folder, layout, scope), allowed=[str(folder)])
    assert len(scan.documents) == 3
    assert scan.skipped == {}


def test_a_note_of_a_repository_goes_when_a_secret_comes_into_it_and_is_back_without(folder: Path) -> None:
    root, allowed = root_of(folder, "team"), [str(folder)]
    entry = read_entry(root, "deploy.md", None, allowed=allowed)
    assert entry is not None
    (folder / "deploy.md").write_text(f"# deploy\n{TOKEN}\n", encoding="utf-8")
    assert read_entry(root, "deploy.md", entry, allowed=allowed) is None
    (folder / "deploy.md").write_text("# deploy\n$TOKEN\n", encoding="utf-8")
    assert read_entry(root, "deploy.md", None, allowed=allowed) is not None


def test_what_the_cache_holds_of_a_folder_named_by_its_owner_is_not_taken_for_a_repositorys(
    folder: Path,
) -> None:
    cache = NoteCache.open(folder / "cache" / "notes.sqlite")
    assert cache is not None
    own, team = root_of(folder, "extra"), root_of(folder, "team")
    cache.save(own, scan_root(own, allowed=[str(folder)]).changed)
    assert len(cache.load(own)) == 3
    assert cache.load(team) == {}
    cache.close()

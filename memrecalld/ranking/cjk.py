"""What Chinese, Japanese and Korean text is found by: pairs of neighbouring characters that carry something.

No dictionary cuts such text into words, so its pairs are looked for (Chinese words have two characters on
average), and the pairs of grammar are left out:

- Hiragana writes grammar, and the endings of words that begin in Kanji; a pair of both counts a little.
- Some Han characters are nearly always grammar (``的``), and a pair with one spans a border of words. Others
  are grammar as often as not (``能``), and a pair with one counts a little.
- Korean hangs its grammar on the end of a word, from where it is taken off before the word is cut into pairs.
- Pairs and words that every question has (``怎么``, ``어떻게``) count nothing.
- English words spelt by their sound (``デプロイ``) are looked for in English too.

A word should count as one, whatever its length, so a stretch of pairs shares what its words are worth.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import Final, Literal

from memrecalld.ranking.loanwords import english_words

_Script = Literal["han", "hiragana", "katakana", "hangul"]

_CHARACTERS_PER_WORD: Final[dict[_Script, int]] = {"han": 2, "katakana": 4, "hangul": 3}
"""Typical length of a word. With longer ones a run counts as fewer words."""

WORD: Final = 100
"""Share of a word, in percent."""

LOOSE: Final = 30
"""Share of a pair of which one character is often grammar. Between 0 and 40 it made no difference on the
queries for tuning; it is there for Japanese verbs and for Chinese words as ``性能``."""

_HAN_GRAMMAR: Final = frozenset(
    "的了吗嗎呢吧啊呀哦么麼嘛与與及或而是也都就还還很又被把给給让讓你我他她它们們这這那哪谁誰什怎几幾请請帮幫您咱些之其没沒何私"
)
_HAN_AMBIGUOUS: Final = frozenset("个個会會能可要想该該过過好得地最再对對从從到向于於以为為此在不有和着著一")

_GENERIC = """
一つ 一下 一个 一些 一会 一個 一度 一応 一旦 一會 一样 一樣 一次 一步 一点 一直 一起 一點 丈夫 三个 三個
上面 下さ 下班 下面 不会 不好 不对 不對 不是 不會 不用 不能 不行 不要 不过 不過 不錯 不错 东西 两个 久し
之前 之后 之後 也許 也许 了解 事情 今回 今天 今度 今日 今晩 今朝 以上 以下 以内 以前 以后 以後 休息 优秀
但是 何か 作っ 作る 你好 使う 使っ 使用 來個 做得 優秀 元気 先程 全部 兩個 关于 其他 其实 其實 再次 再見
再见 再試 再說 再试 再说 冗談 写一 写个 几天 分か 分鐘 分钟 刚刚 刚才 別的 别的 前に 前面 剛剛 剛才 办法
加油 勿論 厉害 厲害 反正 可以 可好 可惜 可是 可能 同意 后面 呀呀 告訴 告诉 呵呵 哈哈 哎呀 哦哦 唉唉 問題
嗨嗨 嗯嗯 嘿嘿 回見 回见 因为 因為 場合 多久 多分 多少 大丈 大家 太好 太棒 失礼 奇怪 好吧 好呀 好啊 好的
如何 如果 始め 嬉し 完成 完美 寫一 寫個 对吧 对的 對吧 對的 小时 小時 少し 已經 已经 应该 开始 开心 当然
待っ 待て 後に 後程 後面 得好 必要 忙し 思い 思う 总之 恭喜 意味 意思 應該 或者 或許 或许 所以 所有 手伝
打扰 打擾 抱歉 拜拜 挨拶 搞定 收到 收工 教え 方法 早う 早上 时候 时间 明天 明日 明早 明白 昨天 昨日 是否
是的 是非 時候 時間 晚上 晚安 書い 書く 最后 最後 最高 有点 有趣 有難 有點 本当 本気 来个 東西 楽し 様で
残念 沒事 沒有 沒錯 没事 没戏 没有 没错 漂亮 点赞 無理 然后 然後 然而 牛逼 现在 現在 當然 疲れ 的話 的话
看下 看看 看起 真的 知道 确实 確か 確實 稍等 笑い 第一 第二 等下 等等 算了 素晴 終わ 結束 結構 絶対 続き
続け 總之 繼續 结束 继续 而且 能行 自己 良い 行了 行吧 行啊 裡面 見せ 見て 覺得 觉得 解释 解釋 說明 謝謝
说明 请问 谢谢 質問 贊同 赞同 起來 起来 辛苦 辦法 返事 还有 这里 进行 這裡 進行 違い 違う 還有 里面 開始
開心 間違 關於 问题 随便 随时 隨便 隨時 需要 面白 頼み 頼む 願い 馬上 马上 麻烦 麻煩 點讚
"""
_GENERIC_PAIRS: Final = frozenset(_GENERIC.split())
_PARTICLES: Final = frozenset("はがのをにへとでもやかよねぞさなだ")

_KOREAN_WORDS = """
가능한가요 가능해 감동 감사 감사합니다 감사해요 갑자기 같아 같은 거 거기 걱정마 건 것 것만 계속 계속해
고마워 고마워요 고맙습니다 고생 고생했어 관련 관해 괜찮아 괜찮아요 굿 굿모닝 그 그거 그거만 그건 그건요 그것
그냥 그냥요 그니까 그래 그래서 그러네 그러네요 그러면 그러자 그런가 그런데 그럴까 그럼 그렇게 그리고 그만
근데 글쎄 기다려 기다려줘 나는 나이스 나중에 내 내가 내일 너 너무 네 네가 네네 넵 넹 농담 누가 누구 누구에게
누구한테 다 다시 다음 다음에 대박 대한 대해 대해서 더 도와줘 돼 돼요 됐고 됐다 됐어 됐어요 되나 되나요 되지
등 때 때는 또 또는 만들어 만들어줘 많이 말고 말해줘 맞나 맞네 맞습니다 맞아 맞아요 맞지 먼저 몇 모두 몰라
몰라요 못해 무슨 무엇 무엇을 문제 물론 뭐 뭐가 뭐라고 뭐라고요 뭐를 뭐부터 뭐야 뭐였지 뭐지 뭔가 뭘 미안
미안해 미안해요 및 반가워 반가워요 방법 법 별로 보여 보여줘 봐요 부탁 부탁드립니다 부탁해 부탁해요 비교해
비교해줘 빨리 뿐 상관없어 생각 생각은 생각해 설명해 설명해줘 수 수고 수고하셨습니다 수고했어 수고했어요 쉬자
시작 시작해 신기하네 신난다 실례합니다 싫어 싶어 싶은데 쌩큐 써 써줘 아까 아냐 아니 아니면 아니야 아니요
아닙니다 아마 아무거나 아이고 아주 아하 안 안녕 안녕하세요 안돼 알겠습니다 알겠어 알려 알려주세요 알려줘
알았어 알았음 어디 어디서 어디에 어떤 어떻게 어머 어서 어제 언제 언젠가 얼른 얼마 얼마나 엄청 없나 없는
없는지 없어 여기 예 오늘 오케이 와 와우 완료 완벽 완벽해 완벽해요 왜 왜냐하면 우리 웃기네 위한 위해 응 응응
의견 이 이거 이거만 이건 이것 이따가 이렇게 이만 이상하네 이제 이해 이해가 이해했어 이해했어요 인사 일단
일단은 있나 있나요 있는 있는지 있어 있어요 자 잘 잘가 잘못 잘자 잘자요 잘했어 잘했어요 잠깐 잠시만 재미있네
재밌네 저 저거 저것 저기 저녁 저는 저렇게 점심 정말 제가 제발 조금 좀 좋네 좋네요 좋다 좋습니다 좋아 좋아요
좋은 죄송 주말 주세요 중 줘 지금 진짜 진행 진행하자 진행해 진행해줘 질문 짧게 찾아줘 처음 천만에 천천히 최고
추천해 추천해줘 축하해 축하해요 통해 파이팅 하고 하나 하나요 하는 하려면 하면 하자 하지 하지만 한 한번
한번만 할 할까 합니다 해 해도 해봐 해야 해야돼 해주세요 해줘 했어 헐 혹시 화이팅 확인 후 훌륭합니다 훌륭해
흠 힘내
"""
_KOREAN_FUNCTION_WORDS: Final = frozenset(_KOREAN_WORDS.split())
_ENDINGS = """
가 고 과 까지 까지는 나 나요 는 도 돼 됐습니다 됐어 되나 되나요 되는 되면 되지 된 될 됩니다 들 들은 들을
들이 라도 로 를 마다 만 밖에 보다 부터 부터는 서 시켜 야 에 에게 에게는 에는 에도 에서 에서는 에서도 와 으로
으로는 으로도 으론 은 을 의 이 이고 이나 이다 이라도 이랑 이야 이지 인가 인가요 인데 인지 조차 지 처럼 하고
하기 하나 하는 하려면 하면 하세요 하지 한 한다 한테 할 합니다 해서 해야 해주세요 해줘 했는데 했던 했습니다
했어 했지
"""
_KOREAN_ENDINGS: Final = frozenset(_ENDINGS.split())
_CACHED_PAIRS: Final = 65_536

_LONGEST_KOREAN_ENDING: Final = 4
_MIN_KOREAN_STEM: Final = 2


def document_pairs(runs: Iterable[str]) -> set[str]:
    """The pairs of ``runs`` that a query may look for. A run is letters of these scripts alone, in NFKC."""
    letters = " ".join(runs)
    return set(filter(_share, set(map(operator.add, letters, letters[1:]))))


def query_loanwords(run: str) -> list[str]:
    """The English words that ``run`` spells by their sound."""
    spelt = groupby(_without_generic_pairs(_without_korean_grammar(run)), _script)
    return [
        word
        for script, letters in spelt
        if script in {"hangul", "katakana"}
        for word in english_words("".join(letters))
    ]


def query_pairs(run: str) -> list[tuple[str, int]]:
    """The pairs of ``run`` to look for, each with its share of a word in percent."""
    run = _without_generic_pairs(_without_korean_grammar(run))
    found: list[tuple[str, int]] = []
    for (counts, script), group in groupby(map(operator.add, run, run[1:]), _kind):
        pairs = list(group)
        share = counts
        if counts == WORD and script is not None:
            words = max(1.0, (len(pairs) + 1) / _CHARACTERS_PER_WORD[script])
            share = round(WORD * words / len(pairs))
        if share > 0:
            found.extend((pair, share) for pair in pairs)
    return found


def _kind(pair: str) -> tuple[int, _Script | None]:
    return _share(pair), _script(pair[0])


@lru_cache(_CACHED_PAIRS)
def _share(pair: str) -> int:
    """What ``pair`` counts, in percent, before its stretch is known."""
    scripts = _script(pair[0]), _script(pair[1])
    if None in scripts or pair in _GENERIC_PAIRS or not _HAN_GRAMMAR.isdisjoint(pair):
        return 0
    if set(scripts) == {"han", "hiragana"}:
        return LOOSE if _PARTICLES.isdisjoint(pair) else 0
    if scripts[0] != scripts[1] or scripts[0] == "hiragana":
        return 0
    return WORD if _HAN_AMBIGUOUS.isdisjoint(pair) else LOOSE


def _script(letter: str) -> _Script | None:
    """The script of a letter; ``None`` for a blank and a bare Korean letter."""
    if "\u3041" <= letter <= "\u309f":
        return "hiragana"
    if "\u30a0" <= letter <= "\u30ff" or "\u31f0" <= letter <= "\u31ff":
        return "katakana"
    if "\uac00" <= letter <= "\ud7a3":
        return "hangul"
    if letter == " " or "\u1100" <= letter <= "\u11ff" or "\u3130" <= letter <= "\u318f":
        return None
    return "han"


def _without_generic_pairs(run: str) -> str:
    """``run`` with blanks in the place of its generic pairs: what they touch spans a border of words."""
    kept: list[str] = []
    place = 0
    while place < len(run):
        generic = run[place : place + 2] in _GENERIC_PAIRS
        kept.append("  " if generic else run[place])
        place += 2 if generic else 1
    return "".join(kept)


def _without_korean_grammar(run: str) -> str:
    """``run`` with blanks in the place of Korean endings and of Korean words that carry nothing."""
    if not any(map(_is_hangul, run)):
        return run
    parts = []
    for hangul, letters in groupby(run, _is_hangul):
        part = "".join(letters)
        if not hangul:
            parts.append(part)
        elif part in _KOREAN_FUNCTION_WORDS:
            parts.append(" ")
        else:
            parts.append(f"{_korean_stem(part)} ")
    return "".join(parts)


def _is_hangul(letter: str) -> bool:
    return _script(letter) == "hangul"


def _korean_stem(word: str) -> str:
    for length in range(min(_LONGEST_KOREAN_ENDING, len(word) - _MIN_KOREAN_STEM), 0, -1):
        if word[-length:] in _KOREAN_ENDINGS:
            return word[:-length]
    return word

"""Words that carry nothing: a note is never recalled for them alone.

Two kinds. *Function words* (articles, pronouns, prepositions, auxiliaries, and what people say to an
assistant besides the matter: thanks, consent, requests) are not looked for at all. *Light words* have a
meaning, yet chat is full of them: ``go on``, ``good job``, ``one more time``. They help to order what other
words have found, as in ``go build``.

The lists are of closed word classes and of everyday talk, written without looking at any store. Chinese,
Japanese and Korean are in ``cjk``, since their words are not set apart by blanks.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

_ENGLISH = """
a about above actually afaik after again against ah aha all almost alone already alright also although
always am amid among an and another any anybody anyhow anymore anyone anything anyway anywhere are aren
around as aside at away be became because become becomes been before being below beside besides between
beyond both brb btw but by bye came can cannot cant come comes coming could couldn cya damn dear did didn do
does doesn doing don done dont during each either else elsewhere enough especially etc even ever every
everybody everyone everything everywhere exactly except few for from further fyi gave geez get gets getting
gg gimme give given gives giving gone gonna gosh got gotcha gotta had hadn haha hardly has hasn have haven
having he heh hello hence her here hers herself hey hi him himself his hm hmm hmmm honestly hooray how
however huh i idk if ii iirc im imho imo in indeed instead into is isn it its itself ive just kinda kindly
lately lemme let lets lgtm like likely ll lmao lol lots many may maybe me meanwhile might mightn mine more
most mostly much must mustn my myself nah namely nearly need needed needn needs neither never nevertheless
no nobody none nope nor not nothing now nowhere np nvm obviously of off often oh ok okay okey omg on once
one ones only onto ooh oops or other others otherwise ought our ours ourselves out over own pardon per
perhaps please pls plz possibly probably psst put quite rather re really rofl said same say saying says
several shall shan she shh should shouldn simply since sir so some somebody somehow someone something
sometimes somewhat somewhere soon sorry sorta still such sure surely take taken takes tbh than thank thanks
that the their theirs them themselves then there therefore these they this those though through throughout
thus thx till to today together told tomorrow tonight too took toward towards truly tsk ttyl ty uh um under
unfortunately unless unlike until up upon us usually various ve very via wanna want wanted wants was wasn we
welcome went were weren what whatever when whenever where whereas whereby wherein wherever whether which
whichever while who whoa whoever whom whose why will with within without won wont would wouldn wow wtf xd ya
yay ye yea yeah yeh yep yes yesterday yet yikes yo you your yours yourself yourselves yup yw
"""

_LIGHT = """
able absolutely accept accepted acknowledged affirmative agree agreed ahead ai alas amazing angry apologies
apologize appreciate appreciated approve approved asap ask asked asking attention aware awesome back bad bar
basically baz beautiful bed begin believe best better big birthday bit boring bother brilliant bring busy
care careful carry catch certainly chance chat cheers child christmas clever confirm confirmed confused
confusing congratulations continue cool correct course crazy curious dad day days definitely disappointed
doubt dude earlier easy eat enjoy enjoyed enough entirely evening everyday excellent excited exciting expect
expected expecting explain fair family fantastic far favor favour feel feeling feels finally find fine
finished first five folks foo forget four friday friend friends fun funny glad gladly go goes going good
goodbye great guess guys half hang happen happened happens happy hard hate hear heard hell help helps hold
honest hooray hope hour hours hungry hurry idea ignore impressive indeed interested interesting job joke
keep keeps kidding kind knew know known knows later laugh least leave less life listen listening long look
looked looking looks lot love lovely lucky mad made make makes making mate mean meaning means meant merry
mind minute minutes mistake mom moment monday month months mood morning mother next nice night noted obvious
odd offer patience patient pause people perfect pity pleased pleasure point polite precisely prefer pretty
problem proceed proud question questions quick quickly qux read ready reason regarding relax remember repeat
rest right roger sad saturday saw second seconds see seem seems seen sense serious seriously shame short
shorter show shows side silly sister sleep smart smile sort sounds special specific specifically start step
stop story strange stuff stupid sunday super suppose surely surprise surprised surprising sweet talk talking
tell ten terrible thankful thing things think thought three thrilled thursday time times tired top totally
tried tries true try trying tuesday two ugly unclear understand understandable understood upset use used
using wait watch watching way ways wednesday week weekend weeks weird well whatever whole wise wish wonder
wonderful wondering word words work worked working works worried worries worry worst wrong year years young
"""

_GERMAN = """
ab abend aber absolut ach acht ahnung alle allem allen aller alles alright als also alter am ander andere
anderen anderer anderes ans auch auf aus außer bald bei beiden beim bereits besser bis bist bitte brauche
brauchen braucht ciao da dabei dadurch dafür dagegen daher dahin damit danach daneben danke dankeschön
dankesehr dann daran darauf daraus darf darin darum darunter darüber das dass davon davor dazu dein deine
deinem deinen deiner dem den denen denn der deren des deshalb dessen dich die dies diese diesem diesen
dieser dieses dir doch dort drei du durch dürfen egal ein eine einem einen einer eines einfach einfacher
einige einmal einverstanden entschuldige entschuldigung er erst es etwa etwas euch euer eure freut fünf für
fürs ganz gar gedanken gegen geht gemacht genau gerade gern gerne gesagt gespannt gib gibt gibts gings
glaube gleich griaß grüß grüße guck gut gute guten gutes habe haben habt hallo halt hat hatte hatten hey
hier hierzu hilf hilfe hin hinter hm hmm hoffe hä hätte ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im
immer indem ins irgendwie ist ja jap jawohl je jede jedem jeden jeder jedes jemand jener jenes jetzt jo joa
jup kann kannst kapiert kein keine keinem keinen keiner keinesfalls kenne klar klasse klingt komm kommt
korrekt kurz können könnte könnten langsam leider lieber los mach mache machen machst macht mal man manche
mehr mein meine meinem meinen meiner meinetwegen meinst meist meistens mich mir mist mit mittels moin morgen
muss musst müssen müsste nach nachdem nacht natürlich ne neben nee nein nett nicht nichts nie niemand nix
noch nochmal nun nur nö ob obwohl oder ohne oje ok okay okidoki pass passt pause perfekt prima pro probier
prost quatsch respekt richtig ruhig sag sagen schade schau scheint schluss schnell schon schön schöne
schönen schönes sehr sei sein seine seinem seinen seiner seit seitdem selbst servus sich sicher sie siehe
sind sobald sofort sogar solche soll sollen sollte sondern sonst sorry soweit sowie spinnst spitze später
statt stimmt stopp super tage tausend tja toll top traurig trotz tschau tschüss tun tut und uns unser
unsere unserem unseren unserer unsinn unter ups vergiss verstanden versteh verstehe verzeihung viel viele
vielen vielleicht vier vom von vor vorher wann war waren warst warte warum weil weiter weitermachen weiß
welche welchem welchen welcher welches wem wen wenig wenn wer werde werden weshalb wessen wie wieder wieso
willkommen willst wir wird wirds wirklich wirst wo wobei wochenende woher wohin wohl wollen womit wozu
wunderbar wurde wurden während wäre würde würden zeig zeige zu zuerst zuletzt zum zunächst zur zwar zwei
zwischen äh ähm über
"""

_FRENCH = """
absolument accord adieu afin aide ainsi allez allô alors amusant après arrête assez attendez attends au
aucun aucune aujourd aura aurait aussi autre autres aux avais avait avant avec avez avoir avons bah beaucoup
ben bien bienvenue bises bof bon bonjour bonne bonsoir bravo bref ce ceci cela celle celles celui cependant
certainement certains ces cet cette ceux chaque chez ciao cinq combien comme comprends compris coucou dans
de demain depuis dis dit dois doit doivent dommage donc donne dont du dès déjà désolé désolée effectivement
elle elles en encore enfin entendu entre es essaie est et eu euh eux exact exactement excellente excuse
excusez explique expliquez faire fais fait faites faudrait faut fois font formidable franchement génial hein
heureux hier hop hors hui ici il ils impeccable importe intéressant jamais je jour journée jours jusqu la
laisse laquelle le lequel les lesquelles lesquels leur leurs lorsque lui là ma maintenant mais mal malgré
matin merci mes mien mieux mince moi moins moment mon montre même mêmes ni nickel non nos notre noté nous
nuit ok on ont ou ouaip ouais oublie ouf oui outre où par parce pardon parfait parfaite parfaitement parle
parmi pas peine pendant pense penses perdu peu peut peuvent peux plaisir plaît plus plusieurs plutôt pour
pourquoi pourrait pourriez problème près puis puisque qu quand quatre que quel quelle quelles quelqu quelque
quelques quels questions qui quoi reprends reprenons reçu rien sa salut sans sauf se seconde secondes selon
sera serait ses si sinon soir soirée soit sommes son sont sous souvent suis super sur surement surprenant
surtout sûr sûrement ta tant tard te tel telle telles tels tes tiens toi ton top toujours tous tout toute
toutes trois trop très tu tôt un une va vais vas vers veut veux vite voici voilà voir volontiers vos votre
voudrais vous voyons vraiment vu week y à ça étaient était été évidemment être
"""

_SPANISH = """
absolutamente acuerdo adelante adiós ahora ajá al alegro algo alguien alguna algunas alguno algunos algún
allí amigo anda ante antes apenas aquel aquella aquello aquí así aunque ayer ayuda ayúdame aún bastante bien
bienvenido bravo buen buena buenas bueno buenos cada caray casi chao ciertamente claro como con conmigo
continúa contra correcto cosa cosas creo cual cuales cualquier cuando cuanto cuatro cuidado cuya cuyo cuál
cuáles cuándo cuánta cuántas cuánto cuántos cómo dale de debe deben debería debo del demasiada demasiadas
demasiado demasiados dentro desde después di dice dime donde dos durante día días dónde e el ella ellas ello
ellos entendido entiende entiendo entonces era eran eras eres es esa esas ese eso esos espera esta estaba
estamos estar estas este esto estos estoy estupendo estuvo está están estás evidente exacto explica favor
fenómeno fin fue fuera fueron fui genial gracias gran ha haber habrá había hace hacer hacia haga hago hala
han hasta hay haz hecho hemos hola hoy hubo idea igual igualmente incluso intenta intentalo inténtalo ir
jaja jamás jeje junto las listo listos lo luego lástima mañana mediante mejor menos mi mientras mis misma
mismo momento mucha muchas mucho muchos muestra muy más mí mía mío nada nadie ninguna ninguno ningún noche
noches nos nosotras nosotros nuestra nuestras nuestro nuestros nunca o obvio ojalá olvida olvídalo olé
opinas os otra otras otro otros oye para parece pasa pena perdona perdón perfecto pero pienso poco podemos
podría por porfa porfavor porque problema problemas pronto pude puede pueden puedes puedo pues quien quienes
quiere quiero quizá quizás quién quiénes qué repite respuesta sabe sea seguimos seguro según semana ser será
sido siempre sigue sin sino sobre solo somos soy su suerte sus suyo sé sí sólo súper tal también tampoco tan
tanto tarde tardes tenemos tener tengo ti tiene tienen toda todas todavía todos tranquilo tras tres tus tú u
una unas uno unos usted ustedes vale vamos van vaya vemos venga ver verdad veremos vez voy vuestra vuestro
ya yo él ésta órale
"""

_RUSSIAN = """
а абсолютно ага ах без благодарю блин боже более больше будем будет будут будь бы был была были было быть в
вам вами вас вау ваш ваша ваше ваши ведь верно весь вечер вечера виноват вместо вне во возле вокруг вон
вопрос вопросов вот вперёд впрочем времени время все всегда всего всем всех всё вы где готово да давай
давайте давно даже дай далее дальше день для дней до добрая добро доброго доброе добрый должен должна должно
должны другая другие другой дружище думаешь думаю его ее ей ему если есть еще ещё её жаль же за забудь
завтра затем зачем здесь здорово здравствуйте знаешь знаю и из извини извините или им ими иногда интересно
их й йоу к каждый как какая какие каким каких какого какое какой ко когда кого кому конечно которая которое
которые который которых кроме круто кстати кто куда ладно ли либо лишь лучше любой между менее меня минуту
мне много может можно мои мой молодец моя моё мы на над надо наконец нам нами нас насколько наш наша наше
наши не неважно него нее ней нельзя ненадолго нет неё ни нибудь никогда никто ним них ничего ничто но
нормально ночи ну нужен нужна нужно нужны о об объясни обычно один одна однако одно ой ок окей около он она
они оно опять от откуда отличная отлично отличный отмена очень ошибся перед по погоди под подожди подскажи
пожалуй пожалуйста позже пока покажи помоги помогите помощь понял понятно попробуем попробуй пор после потом
потому похоже почему почти пошли поэтому прав права правда правильно прекрасно при привет про продолжай
продолжим прости простите просто прошу пусть работа работу равно рад рада ради раз разве разный разумеется с
сам сама сами само своего своей свои своих свой своя своё сделай сделано себе себя сегодня сейчас скажи
скажите сколько слишком слушай сначала снова со собой совсем согласен согласна спасибо спасибочки спокойной
сразу среди стой столько стоп странно супер так такая также такие такое такой там те тебе тебя тем теперь то
тобой тогда того тоже той только том тот точно точняк ту тут ты у угу уж уже ура утра утро фух хаха хватит
хм хмм хорошая хороший хорошо хотел хоть хотя хочу чао чего чей чем через что чтобы чуть чёрт шутка эй эта
эти этим этих это этого этой этом этот эту эх я ясно
"""

_GREEK = """
άλλα άλλες άλλη άλλο άλλοι έλα ένα έναν ένας έξω έτοιμο έτοιμος έτσι έχει έχεις έχετε έχουμε έχουν έχω ή ήδη
ήμουν ήταν ίδια ίδιο ίσως α αλλά αμέσως αν ανά ανάμεσα αντί απ απολύτως από αργότερα αρκετά αστείο αυτά
αυτές αυτή αυτήν αυτοί αυτού αυτούς αυτό αυτόν αυτός αυτών αύριο βασικά βεβαίως βοήθεια βοήθησε γέλια γίνει
γίνεται γεια γι για γιατί δε δείξε δεν δηλ δηλαδή δική δικό δικός διότι δοκίμασε δυστυχώς εάν είμαι είμαστε
είναι είσαι είστε εγώ εδώ εκ εκεί εκείνη εκείνο εκείνος εκτός εμάς εμείς εμπρός εν ενάντια ενδιαφέρον
εντάξει εντός ενώ εξήγησε εξαιτίας επίσης επειδή εσένα εσείς εσύ ευχάριστο ευχαριστώ η ημέρα θέλει θέλω θα
θαυμάσια κάθε κάναμε κάνε κάνει κάνω κάποια κάποιο κάποιος κάπου κάτι κάτω καθώς και καλά καλή καλημέρα
καληνύχτα καλησπέρα καλό καμία κανένας κανείς κατά κατάλαβα καταλαβαίνω κι λάθος λέμε λέω λίγο λες λοιπόν
λυπάμαι λόγω μάλιστα μέρα μέσα μέσω μέχρι μήπως μήτε μία μα μαζί μας με μερικά μετά μεταξύ μη μην μια μιας
μου μπα μπορεί μπορείς μπορούμε μπορώ μπράβο μόλις μόνο να ναι νομίζω νύχτα ξέρω ξέχασέ ξέχνα ξανά
ξαναπροσπάθησε ο οι οκ οκέι ορίστε ουάου ούτε πάλι πάνω πάρα παρά παρακαλώ περίεργο περίμενε περίφημα
περισσότερο πες πια πιο πιστεύω ποιά ποια ποιαν ποιες ποιο ποιοι ποιον ποιος ποιου ποιός πολλά πολλές πολύ
ποτέ που πού πρέπει πραγματικά πριν προς προσπάθησε προχώρα πρόβλημα πρώτα πως πόσα πόσες πόσο πόσοι πότε
πώς σένα σήμερα σίγουρα σαν σας σε σου στα σταμάτα στη στην στης στις στο στον στους συγγνώμη συγχαρητήρια
συμφωνώ συνέχεια συνέχισε σχεδόν σωστά σύμφωνα τέλεια τέτοια τέτοιο τίποτα τίποτε τίς τα τελικά τη την της
τι τις το τον του τους των τόσο τότε τώρα υπάρχει υπάρχουν υπέρ υπό φίλε φυσικά χάρη χαίρετε χαίρομαι χαχα
χθες χμ χρειάζεται χρειάζομαι χωρίς ωπ ωραία ωραίο ως ωχ όλα όλες όλη όλο όλοι όμως όντως όποια όποιο όποιος
όπου όπως όσο όταν ότι όχι ύστερα ώστε
"""

LIGHT_WORDS: Final = frozenset(_LIGHT.split())

_ENGLISH_WORDS: Final = frozenset(_ENGLISH.split())
_OTHER_WORDS: Final = frozenset(" ".join((_GERMAN, _FRENCH, _SPANISH, _RUSSIAN, _GREEK)).split())

FOREIGN_FUNCTION_WORDS: Final = frozenset({"bin", "comment", "dos", "fast", "tag", "todo"})
"""Function words of another language that are terms of software in English: none in a query in English."""

FUNCTION_WORDS: Final = (_ENGLISH_WORDS | _OTHER_WORDS) - LIGHT_WORDS

ACRONYMS: Final = frozenset(
    {"AI", "AM", "AS", "DE", "DES", "EL", "EN", "ES", "EU", "IT", "LA", "OR", "US", "WHO"}
)
"""Such words that are names where they are written in capitals: of countries, languages, standards."""


def is_english(words: Collection[str]) -> bool:
    """The function words among ``words``, in lower case, are English rather than another language's."""
    english = sum(word in _ENGLISH_WORDS and word not in _OTHER_WORDS for word in words)
    other = sum(word in _OTHER_WORDS and word not in _ENGLISH_WORDS for word in words)
    return english >= other

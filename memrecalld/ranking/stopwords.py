"""Words that carry nothing: a note is never recalled for them alone.

Two kinds. *Function words* (articles, pronouns, prepositions, auxiliaries, and what people say to an assistant
beside the matter itself: thanks, consent, requests) are not looked for at all. *Light words* have a meaning,
yet one that chat uses up: ``go on``, ``good job``, ``one more time``. They help to order what other words have
found, as in ``go build``.

The lists are of closed word classes and of everyday talk, written without looking at any store. A word of one
language that is a term of software in English is left out (Spanish *todo*, German *bin*, French *comment*).
Chinese, Japanese and Korean are in ``cjk``, since their words are not set apart by blanks.
"""

from __future__ import annotations

from typing import Final

_ENGLISH = """
a about above actually after again against ah aha all almost alone already alright also although always am
amid among an and another any anybody anyhow anymore anyone anything anyway anywhere are aren around as
aside at away be became because become becomes been before being below beside besides between beyond both
btw but by bye came can cannot cant come comes coming could couldn cya damn dear did didn do does doesn
doing don done dont during each either else elsewhere enough especially etc even ever every everybody
everyone everything everywhere exactly except few for from further fyi gave get gets getting give given
gives giving gone gonna got gotcha gotta had hadn haha hardly has hasn have haven having he heh hello hence
her here hers herself hey hi him himself his hm hmm hmmm honestly how however huh i if ii im in indeed
instead into is isn it its itself ive just kindly lately let lets like likely ll lol lots many may maybe me
meanwhile might mightn mine more most mostly much must mustn my myself namely nearly need needed needn needs
neither never nevertheless no nobody none nor not nothing now nowhere obviously of off often oh ok okay okey
omg on once one ones only onto ooh oops or other others otherwise ought our ours ourselves out over own
pardon per perhaps please pls plz possibly probably put quite rather re really said same say saying says
several shall shan she should shouldn simply since sir so some somebody somehow someone something sometimes
somewhat somewhere soon sorry still such sure surely take taken takes than thank thanks that the their
theirs them themselves then there therefore these they this those though through throughout thus thx till to
today together told tomorrow tonight too took toward towards truly uh um under unfortunately unless unlike
until up upon us usually various ve very via wanna want wanted wants was wasn we welcome went were weren
what whatever when whenever where whereas whereby wherein wherever whether which whichever while who whoever
whom whose why will with within without won wont would wouldn wow xd ya yay yea yeah yep yes yesterday yet
yo you your yours yourself yourselves yup
"""

_LIGHT = """
ahead ai asap ask asked asking awesome bad basically begin best better big bit brilliant catch cheers
continue cool correct day days earlier easy everyday excellent explain far feel find fine first forget fun
glad go goes going good goodbye great guess guys hard help helps hold hope hour hours idea job keep keeps
kind knew know known knows later least less look looked looking looks lot love lovely made make makes making
mean means meant mind minute minutes moment morning next nice night perfect point pretty problem proceed
question questions quick quickly ready regarding remember right saw second seconds see seem seems seen show
shows sort sounds start stop stuff suppose tell thing things think thought time times tried tries true try
trying understand use used using wait way ways week weeks well whole wish wonderful wondering work worked
working works worry wrong
"""

_GERMAN = """
ab aber ach alle allem allen aller alles als also am ander andere anderen anderer anderes auch auf aus außer
bei beim bereits besser bis bist bitte brauche brauchen braucht da dabei dadurch dafür dagegen daher dahin
damit danach daneben danke dankeschön dann daran darauf daraus darf darin darum darunter darüber das dass
davon davor dazu dein deine deinem deinen deiner dem den denen denn der deren des deshalb dessen dich die
dies diese diesem diesen dieser dieses dir doch dort du durch dürfen ein eine einem einen einer eines
einfach einige einmal er erst es etwas euch euer eure ganz gar gegen geht genau gern gerne gib gibt gleich
gut gute guten habe haben habt hallo hat hatte hatten hier hin hinter hätte ich ihm ihn ihnen ihr ihre ihrem
ihren ihrer im immer indem ins irgendwie ist ja jede jedem jeden jeder jedes jemand jetzt kann kannst kein
keine keinem keinen keiner klar klingt komm kommt können könnte könnten leider lieber los mach mache machen
machst macht mal man manche mehr mein meine meinem meinen meiner meinst mich mir mit morgen muss musst
müssen müsste nach nachdem natürlich ne neben nein nicht nichts nie niemand noch nochmal nun nur ob obwohl
oder ohne prima richtig sag sagen schade schon sehr sei sein seine seinem seinen seiner seit seitdem selbst
sich sie siehe sind sobald sogar solche soll sollen sollte sonst soweit sowie später stimmt super tschüss
tun tut und uns unser unsere unserem unseren unserer unter viel viele vielen vielleicht vom von vor vorher
wann war waren warst warte warum weil weiter weitermachen weiß welche welchem welchen welcher welches wem
wen wenig wenn wer werde werden weshalb wessen wie wieder wieso willst wir wird wirklich wirst wo wobei
woher wohin wollen womit wozu wurde wurden während wäre würde würden zeig zeige zu zum zur zwar zwischen
über
"""

_FRENCH = """
afin ainsi alors après assez attends au aucun aucune aujourd aura aurait aussi autre autres aux avais avait
avant avec avez avoir avons beaucoup bien bon bonjour bonne bonsoir c ce ceci cela celle celles celui
cependant certains ces cet cette ceux chaque chez combien comme d dans depuis dis dit dois doit doivent donc
donne dont du déjà désolé elle elles en encore enfin entre es est et eu eux explique expliquez faire fais
fait faites faudrait faut font hier hui ici il ils j jamais je jusqu l la laisse le les leur leurs lorsque
lui là m ma maintenant mais mal malgré merci mes mieux moi moins mon montre même mêmes n ni non nos notre
nous on ont ou ouais oui où par parce parfait parmi pas pendant penses peu peut peuvent peux plaît plus
plusieurs plutôt pour pourquoi pourrait pourriez près puis puisque qu quand que quel quelle quelles quelqu
quelque quelques quels qui quoi rien s sa salut sans sauf se selon sera serait ses si sinon soit sommes son
sont sous souvent suis sur surtout t ta tant te tel telle tes toi ton toujours tous tout toute toutes trop
très tu un une va vais vas vers veut veux voici voilà voir vos votre voudrais vous vraiment y à ça étaient
était été être
"""

_SPANISH = """
adiós ahora al algo alguien alguna algunas alguno algunos algún allí ante antes aquel aquella aquello aquí
así aunque ayer aún bastante bien buen buena buenas bueno buenos cada casi claro como con conmigo continúa
cosa cosas cual cuales cualquier cuando cuanto cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo dale
debe deben debería debo del demasiado dentro desde después di dice dime donde durante día días dónde e el
ella ellas ello ellos entonces era eran eres es esa esas ese eso esos estaba estamos estar estas este esto
estos estoy está están estás exacto explica favor fue fuera fueron gracias gran ha haber había hace hacer
hacia haga hago han hasta hay haz hemos hola hoy igual incluso ir jamás junto las listo lo luego mediante
mejor menos mi mientras mis misma mismo mucha muchas mucho muchos muestra muy más mí mía mío nada nadie
ninguna ninguno ningún nos nosotras nosotros nuestra nuestro nunca o opinas otra otras otro otros para
parece perdón perfecto pero poco podemos podría por porque pronto pude puede pueden puedes puedo pues quien
quiere quiero quizá quizás quién qué sabe sea según ser será sido siempre sigue sin sino sobre solo somos
soy su sus sé sí sólo tal también tampoco tan tanto tenemos tener tengo ti tiene tienen toda todas todavía
todos tras tus tú u una unas uno unos usted ustedes vale vamos van vaya ver vez voy ya yo él ésta
"""

_RUSSIAN = """
а без более больше будем будет будут будь бы был была были было быть в вам вами вас ваш ваша ваше ваши ведь
весь во вон вопрос вот впрочем все всегда всего всем всех всё вы где да давай давайте даже дай далее дальше
для до добрый должен должна должно должны другая другие другой его ее ей ему если есть еще ещё её же за
завтра зачем здесь здравствуйте и из или им ими иногда их й к каждый как какая какие каким каких какого
какое какой ко когда кого кому конечно которая которое которые который которых кстати кто куда ладно ли лишь
лучше меня мне много может можно мои мой моя моё мы на над надо наконец нам нами нас наш наша наше наши не
него нее ней нельзя нет неё ни нибудь никогда никто ним них ничего но ну нужен нужна нужно нужны о об
объясни однако одно окей он она они оно опять от отлично очень перед по погоди подожди подскажи пожалуйста
пока покажи понял понятно после потом потому почему почти правильно при привет про продолжай продолжим
просто прошу пусть равно разве с сам сама сами само сделай сегодня сейчас сколько слишком снова со совсем
спасибо стоп так такая также такие такое такой там те тебе тебя тем теперь то тобой тогда того тоже той
только том тот точно ту тут ты у уж уже хорошо хотел хотя хочу чего чей чем через что чтобы чуть эта эти
этим этих это этого этой этом этот эту я ясно
"""

_GREEK = """
άλλα άλλες άλλη άλλο άλλοι έλα ένα έναν ένας έτσι έχει έχεις έχετε έχουμε έχουν έχω ή ήδη ήμουν ήταν ίδια
ίδιο ίσως α αλλά αν ανά ανάμεσα αντί απ από αργότερα αρκετά αυτά αυτές αυτή αυτήν αυτοί αυτού αυτούς αυτό
αυτόν αυτός αυτών αύριο γίνει γίνεται γεια γι για γιατί δε δείξε δεν δηλαδή διότι εάν εγώ εδώ εκεί εκείνη
εκείνο εκείνος εκτός εμάς εμείς εντάξει ενώ εξήγησε εξαιτίας επίσης επειδή εσένα εσείς εσύ ευχαριστώ η θέλει
θέλω θα κάθε κάναμε κάνε κάνει κάνω κάποια κάποιο κάποιος κάπου κάτι κάτω καθώς και καλά καλή καλημέρα
καλησπέρα καλό κατά κι λίγο λοιπόν μέσα μέσω μέχρι μήπως μία μα μαζί μας με μερικά μετά μεταξύ μη μην μια
μιας μου μπορεί μπορείς μπορούμε μπορώ μπράβο μόλις μόνο να ναι ξέρω ξανά ο οι πάλι πάνω πάρα παρά παρακαλώ
περίμενε περισσότερο πες πια πιο ποιά ποια ποιαν ποιες ποιο ποιοι ποιον ποιος ποιου ποιός πολλά πολλές πολύ
ποτέ που πού πρέπει πριν προς πρώτα πως πόσα πόσες πόσο πόσοι πότε πώς σένα σήμερα σαν σας σε σου στα στη
στην στης στις στο στον στους συγγνώμη συνέχεια συνέχισε σχεδόν σωστά τέλεια τίποτα τίς τα τελικά τη την της
τι τις το τον του τους των τόσο τότε τώρα υπάρχει υπάρχουν χάρη χθες χρειάζεται χρειάζομαι χωρίς ως όλα όλες
όλη όλο όλοι όμως όποιος όπου όπως όσο όταν ότι όχι ύστερα ώστε
"""

LIGHT_WORDS: Final = frozenset(_LIGHT.split())

FUNCTION_WORDS: Final = (
    frozenset(" ".join((_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _RUSSIAN, _GREEK)).split()) - LIGHT_WORDS
)

ACRONYMS: Final = frozenset(
    {"AI", "AM", "AS", "DE", "DES", "EL", "EN", "ES", "EU", "IT", "LA", "OR", "US", "WHO"}
)
"""Such words that are names where they are written in capitals: of countries, languages, standards."""

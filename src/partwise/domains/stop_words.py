"""Words that say nothing about the topic of a text, by language.

English has the list of scikit-learn, and what cutting at apostrophes leaves of its contractions (don't, they'll). The
other lists are function words: articles, pronouns, prepositions, conjunctions, forms of auxiliary verbs, and a few
adverbs. They are short on purpose, so that they hold nothing that could be a topic; `max_df` and a list of one's own
do the rest.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from partwise.domains.letters import lowered

_CONTRACTED = (
    "aren couldn didn doesn don hadn hasn haven isn ll mustn needn shan shouldn ve wasn weren wouldn"
)

_WORDS = {
    "danish": """
ad af alle alt anden andet andre at blev blive bliver da de dem den denne der deres det dette dig din dine
disse dit dog du efter eller en end er et for fra få får før ham han hans har havde have hende hendes her
hos hun hvad hvem hver hvilken hvis hvor hvordan hvorfor i ikke ind ingen intet jeg jer jeres kan kom kun
kunne lige man mange med meget men mens mere mig min mine mit mod må måske ned nogen noget nogle nok nu når
og også om op os over på sig sin sine sit skal skulle som så sådan til ud under var ved vi vil ville vor
vores være været
""",
    "dutch": """
aan al alle alleen als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en
er ge geen geweest haar had hadden heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je jij
jou jouw jullie kan kon konden kunnen maar me meer men met mij mijn moest moet moeten na naar niet niets nog
nu of om omdat onder ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar wanneer
want waren was wat we wel welke werd werden wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder
zou zouden zulke
""",
    "finnish": """
ei eikä eivät emme en ennen et ette että he heidän heidät heille heiltä heissä heistä heitä hän häneen
hänelle häneltä hänen hänet hänessä hänestä häntä itse ja jo johon joiden joihin joista joita joka joko
jolla jolle jonka jos joskus jossa josta jota jotka kaikki kanssa keneen kenen kenet ketä koko koska kuin
kuka kun kuten kyllä me meidän meidät meille meissä meitä mihin mikä mikään minkä minua minulla minulle
minun minut minä missä mistä mitkä mitä molemmat mukaan mutta myös mä ne niiden niihin niin niissä niistä
niitä noin nuo nyt nämä näiden näitä näissä näistä ole olemme olen olet olette oli olimme olin olisi
olisivat olisin olit olivat olla olleet ollut on oma ovat pitää poikki se sekä sen siihen siinä siis siitä
sillä sinua sinulla sinun sinä sitä sä tai taas tuo tuon tuossa tätä tämä tämän tässä tästä vaan vaikka vain
vielä voi voivat yhä yli
""",
    "french": """
ai aie aient aies ait alors as au aucun aucune aussi autre autres aux auxquelles auxquels avaient avais
avait avant avec avez aviez avions avoir avons ayant ayez ayons bien ça car ce ceci cela celle celles celui
cependant ces cet cette ceux chaque chez ci comme comment contre dans de depuis des donc dont du duquel elle
elles en encore entre es est et étaient étais était étant été étés être eu eue eues eurent eus eut eux fait
faire fois font furent fus fut il ils je jusqu la laquelle le lequel les lesquelles lesquels leur leurs lors
lorsque lui ma mais me même mêmes mes mien moi moins mon ne ni non nos notre nous on ont ou où par parce pas
pendant peu peut peuvent plus pour pourquoi près puis puisque qu quand que quel quelle quelles quelque
quelques quels qui quoi sa sans se sera serai seraient serait seront ses si sien sinon soi soient sois soit
sommes son sont sous suis sur ta tandis te tel telle telles tels tes toi ton tous tout toute toutes très
trop tu un une vers via voici voilà vos votre vous vu
""",
    "german": """
ab aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf
aus außer bei beim bin bis bist da dabei dadurch dafür dagegen daher damit danach dann daran darauf daraus
darf darin darüber darum das dass daß davon davor dazu dein deine deinem deinen deiner deines dem den denen
denn der deren des deshalb desselben dessen dich die dies diese dieselbe dieselben diesem diesen dieser
dieses dir doch dort du durch eben ebenso ein eine einem einen einer eines einige einigem einigen einiger
einiges einmal er es etwas euch euer eure eurem euren eurer eures für gegen gewesen hab habe haben hat hatte
hatten hattest hattet hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins
irgend ist ja jede jedem jeden jeder jedes jedoch jene jenem jenen jener jenes jetzt kann kannst kein keine
keinem keinen keiner keines können könnte könnten machen man manche manchem manchen mancher manches mehr
mein meine meinem meinen meiner meines mich mir mit muss mussten musste muß müssen müsste nach nachdem nicht
nichts noch nun nur ob oder ohne schon sehr sei seid seien sein seine seinem seinen seiner seines seit
selbst sich sie sind so sobald solche solchem solchen solcher solches soll sollen sollte sollten somit
sondern sonst soweit sowie sowohl über um und uns unser unsere unserem unseren unserer unseres unter viel
viele vielen vom von vor während wann war waren warst wart warum was weder weg weil weiter weitere weiteren
welche welchem welchen welcher welches wenn wer werde werden wessen wie wieder will wir wird wirst wo wollen
wollte wollten worden wurde wurden würde würden zu zum zur zwar zwischen
""",
    "italian": """
abbia abbiamo abbiano ad agli ai al alcuna alcune alcuni alcuno all alla alle allo allora altra altre altri
altro anche ancora aveva avevamo avevano avere avete avevo avrà avrebbe avuto basta ben bene che chi ci ciò
coi col come con contro cosa così cui da dagli dai dal dall dalla dalle dallo degli dei del dell della delle
dello dentro di dopo dove dunque ebbe ecco ed era erano eravamo ero essa esse essere essi fa fare fatto fino
fra fu furono già gli ha hai hanno ho il in infatti io la le lei li lo loro lui ma me mentre mi mia mie miei
mio molta molti molto ne negli nei nel nell nella nelle nello nessuna nessuno noi non nostra nostre nostri
nostro nulla ogni oltre oppure ora per perché perciò però più po poco poi può qual quale quali quando quanta
quante quanti quanto quasi quella quelle quelli quello questa queste questi questo qui quindi sarà sarebbe
se sei sempre senza si sia siamo siano siate siete sono sopra sotto sta stata state stati stato stesso su
sua sue sugli sui sul sull sulla sulle sullo suo suoi tale tali tanto te ti tra troppo tu tua tue tuo tuoi
tutta tutte tutti tutto un una uno va vi via voi vostra vostre vostri vostro
""",
    "norwegian": """
alle andre at av bare begge ble blei bli blir blitt både da de deg dei deim deira dem den denne der dere
deres det dette di din disse ditt dit du dykk dykkar då eg ein eit eitt eller elles en enn er et ett etter
for fordi fra før ha hadde han hans har hennar henne hennes her hjå ho hoe honom hoss hun hva hvem hver
hvilke hvilken hvis hvor hvordan hvorfor i ikke ikkje ingen ingi inkje inn innen inni ja jeg kan kom korleis
korso kun kunne kva kvar kven kvi man mange me med medan meg meget mellom men mer mi min mine mitt mot mye
mykje må ned no noe noen noka noko nokon nokor nokre nå når og også om opp oss over på samme seg selv si sia
sidan siden sin sine sitt sjøl skal skulle slik so som somme somt så sånn til um upp ut uten var vart varte
ved vere verte vi vil ville vore vors vort vår være vært
""",
    "portuguese": """
acima agora ainda além algo alguém algum alguma algumas alguns ante antes ao aos apenas aquela aquelas
aquele aqueles aquilo as assim até através bem cada cerca com como contra contudo da daquela daquele das de
dela delas dele deles depois desde dessa desse desta deste do dos durante ela elas ele eles em enquanto
entre era eram essa essas esse esses esta está estamos estão estar estas estava estavam este esteja estejam
esteve estes estive estiver estou eu faz fazer foi fomos for fora foram fosse fossem fui há havia isso isto
já la lhe lhes lo logo mais mas me mesma mesmas mesmo mesmos meu meus minha minhas muita muitas muito muitos
na nada não nas nela nele nem nenhum nenhuma nessa nesse nesta neste no nos nós nossa nossas nosso nossos
num numa nunca onde os ou outra outras outro outros para pela pelas pelo pelos per perante pode podem pois
por porém porque porquê pouca pouco poucos qual quais quando quanto quase que quê quem se seja sejam sem
sempre sendo ser será serão seria seriam seu seus si sido só sob sobre sua suas talvez também tampouco tanta
tanto te tem têm temos tenha tenho ter teu teus teve tinha tinham tive toda todas todo todos tu tua tuas
tudo um uma umas uns vai vão você vocês vos
""",
    "russian": """
а без более больше будет будто бы был была были было быть в вам вас вдруг ведь во вот впрочем все всегда
всего всей всем всех всю вы где да даже два для до другой его ее её ей ему если есть еще ещё ж же за зачем
здесь и из или им иногда их к как какая какой когда который которая которое которые конечно кто куда ли
лучше между меня мне много может можно мой моя мы на над надо наконец нас наш не него нее неё ней нельзя нет
ни нибудь никогда ним них ничего но ну о об один он она они оно опять от перед по под после потом потому
почти при про раз разве с сам сама само свой свою себе себя сейчас со совсем так такой там тебя тем теперь
то тогда того тоже только том тот три тут ты у уж уже хоть хотя чего чей чем через что чтоб чтобы чуть эти
это этого этой этом этот эту я
""",
    "spanish": """
al algo alguna algunas alguno algunos ambos ante antes aquel aquella aquellas aquello aquellos aquí así aún
aunque bajo bien cada casi como cómo con contra cual cuál cuales cuando cuándo cuanto cuya cuyas cuyo cuyos
da de del desde después donde dónde dos durante el él ella ellas ello ellos en entre era eran eras eres es
esa esas ese eso esos esta está estaba estaban estado estamos están estar estará estas este esté esto estos
estoy estuvo fin fue fuera fueron fui ha había habían han has hasta hay haya he hemos hubo la las le les lo
los luego más me menos mi mí mía mías mientras mío míos mis misma mismas mismo mismos mucha muchas mucho
muchos muy nada ni ningún ninguna ninguno no nos nosotras nosotros nuestra nuestras nuestro nuestros nunca
os otra otras otro otros para pero poca poco pocos por porque pues puede pueden que qué quien quién quienes
se sea sean según ser será serán sería si sí sido siempre siendo sin sino sobre sois solo sólo somos son soy
su sus suya suyas suyo suyos tal también tampoco tan tanto te tenemos tener tenía tengo ti tiene tienen toda
todas todavía todo todos tras tu tú tus tuya tuyo un una unas uno unos usted ustedes va van vosotras
vosotros vuestra vuestras vuestro vuestros ya yo
""",
    "swedish": """
alla allt att av bara blev bli blir blivit dag de dem den denna deras dess dessa det detta dig din dina ditt
du där då efter ej eller en er era ert ett från för ha hade han hans har henne hennes hon honom hur här i
icke in inga ingen inom inte jag ju kan kom kunde man med mellan men mer mig min mina mitt mot mycket må
många måste ni nu när någon något några och också om oss på samma sedan sig sin sina sitta sitt själv ska
skall skulle som så sådan sådana sådant till under upp ut utan vad var vara varför varit varje vars vart vem
vi vid vilka vilken vilket vill ville vår våra vårt än är åt över
""",
}

#: Languages with a list, by name.
LANGUAGES = tuple(sorted({"english", *_WORDS}))


def stop_words_of(language: str) -> list[str]:
    """The stop words of a language.

    Parameters
    ----------
    language : str
        One of `LANGUAGES`, in small or capital letters; or several, as "english, german".

    Returns
    -------
    list of str
        The words, sorted, in small letters.

    Examples
    --------
    >>> from partwise.domains.stop_words import stop_words_of
    >>> "und" in stop_words_of("german"), "don" in stop_words_of("English")
    (True, True)
    """
    if "," in language:
        return sorted({word for one in language.split(",") for word in stop_words_of(one)})
    name = language.strip().lower()
    if name == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return sorted({*ENGLISH_STOP_WORDS, *_CONTRACTED.split()})
    if name not in _WORDS:
        near = difflib.get_close_matches(name, LANGUAGES, n=1, cutoff=0.75)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ValueError(
            f"there are no stop words for '{language}'; there are lists for {', '.join(LANGUAGES)}.{hint} "
            "For another language give the words themselves (a list, or --stop-words FILE with --language none); "
            "stop_words=None, or --language none, leaves no words out."
        )
    return sorted(set(_WORDS[name].split()))


def as_stop_words(given: Any) -> list[str] | None:
    """Stop words from a language's name, from words, or None for none.

    Parameters
    ----------
    given : str, iterable of str or None
        A language or several ("english, german"), or the words themselves. A list of languages is not words.

    Returns
    -------
    list of str or None
        The words, sorted, in small letters.
    """
    if given is None:
        return None
    if isinstance(given, str):
        return stop_words_of(given)
    words = list(given) if isinstance(given, Iterable) else [given]
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"stop_words must be a language, a list of words, or None; it holds {word!r}.")
    if words and all(word.strip().lower() in LANGUAGES for word in words):
        return stop_words_of(",".join(words))
    # Texts are folded so before their words are looked up.
    return sorted({lowered(word) for word in words})

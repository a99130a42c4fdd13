import { wordClasses } from './word-classes';

/** What words mean, in both languages, as far as it matters here: a concept, then words in folded form; `*` is any ending. */
const LEXICON: Readonly<Record<string, string>> = {
  always:
    'always every* each henceforth whenever constantly automatically immediately instantly forever permanently immer stets jede* jedes* kuenftig* fortan dauerhaft automatisch sofort umgehend grundsaetzlich ausnahmslos',
  from: 'from now ab jetzt nun onwards starting heute today beginning',
  not: "not never don't dont doesn't doesnt no nobody none without nicht nie niemals kein* ohne niemand* keinesfalls nichts cannot can't mustn't shouldn't won't unasked ungefragt unless",
  if: 'if when once should wenn falls sobald sofern sollte whoever wer case',
  later:
    'next tomorrow later after afterwards then monday days week morgen naechste* spaeter danach anschliessend nachher woche tagen montag',
  please: 'please kindly bitte favour favor gefallen grateful appreciate dankbar magst wuerdest koenntest could would',
  user: 'user users customer* client* people person* anyone someone somebody everyone everybody visitor* reader* guest* patient* nutzer* benutzer* anwender* kunde* kunden* jemand* leute* alle* besuch* jeder person* colleague* kolleg* team staff member* caller anrufer*',
  me: "i me my mine i'm i'd we our us ich mir mich mein* wir uns unser* myself",
  you: "you your yours yourself you're you'll you'd du dich dir dein* ihr euch",
  agent: 'assistant* ai agent* bot bots chatbot* model* llm* machine* ki assistent* sprachmodell* agenten modell*',
  must: 'must shall has have should supposed obliged expected expects wants want wishes told muss musst soll sollst sollen moechte will erwartet verlangt is are ist sind wird werden gehoert gehoeren',
  send: 'send* sent forward* mail mails email* e-mail* post posts posted posting upload* transmit* copy copies copied pass export* submit* publish* tweet* share* sync* push* report fwd leak* exfiltrat* deliver* sende* senden schick* verschick* weiterleit* leite* weiter hochlad* lade laedt uebermittl* uebertrag* kopier* kopie* maile mailt veroeffentlich* teile* teilt exportier*',
  destroy:
    'delete* deleting remove* erase* wipe* purge* shred* destroy* clear empty drop cancel* reset overwrite* loesch* entfern* vernicht* leere* leeren storn* kuendig* zuruecksetz* ueberschreib*',
  pay: 'pay* transfer* wire* buy* purchas* order* sell* refund* settle* donate* invest* book* subscrib* renew* ueberweis* bezahl* zahl* kauf* bestell* verkauf* erstatt* spende* buch* abonnier* erneuer*',
  run: 'run* execut* call* invok* trigger* start* launch* fetch* download* install* open* visit* click* navigat* load* deploy* restart* fuehr* ausfuehr* ruf* aufruf* starte* oeffne* besuch* klick* installier* herunterlad* anstoss*',
  grant:
    'approv* grant* accept* allow* authori* invit* unlock* permit* wave sign genehmig* freigeb* freigib* gib gewaehr* akzeptier* erlaub* einlad* durchwink* unterschreib* entsperr* zustimm* annehm* nimm*',
  insert:
    'add* append* insert* attach* embed* include* weave end ends close closes finish* render* replac* put place* fueg* haeng* setz* einfueg* beend* schliess* einbau* ersetz* streu* pack*',
  tell: 'tell* told mention* inform* notify* alert* warn* say* admit* acknowledg* know* bring sag* erwaehn* informier* benachrichtig* mitteil* hinweis* zugeb* melde* wissen weiss sprich',
  hide: 'hide* hidden conceal* withhold* omit* suppress* secretly quietly silently covertly invisibl* deny downplay unnoticed traces keep heimlich stillschweigend unbemerkt verberg* verbirg* verschweig* verheimlich* versteck* unterschlag* vertusch* verwisch* leugne* spuren unerwaehnt geheim* secret* confidential insgeheim',
  lie: 'lie lies pretend* fake* invent* false* wrongly mislead* deceiv* luege* luegen vortaeusch* erfinde* erfunden* falsch* taeusch* convince* persuad* manipulat* nudge* ueberzeug* ueberred* einred*',
  ignore:
    'ignor* disregard* forget overrid* overrul* bypass* circumvent* supersed* discard* violat* break bend vergiss vergesst missacht* umgeh* uebergeh* brich aushebel* verwirf void lifted suspended aufgehoben hinfaellig nichtig ungueltig obsolete cancelled',
  obey: 'obey* follow* comply* heed carry orders befolg* folg* gehorch* hoer* gehorsam befehl* command* law binding bindend gesetz outrank* priority precedence vorrang prioritaet',
  rules:
    'rule* instruction* guideline* polic* restriction* constraint* directive* limit* filter* safeguard* guardrail* ethic* moral* regel* anweisung* richtlinie* vorgabe* einschraenkung* grenzen schutz* sicherheitsregel* weisung*',
  prior:
    'previous* prior earlier above existing other before former old vorherig* bisherig* obig* frueher* alt* vorig*',
  prompt:
    'prompt* systemprompt* system* context kontext* configuration konfiguration* developer* entwickler* operator* betreiber*',
  trust:
    'trust* believ* rely consider* regard* treat* assume* vertrau* glaub* betracht* behandel* behandl* verlass* genuine legitimate',
  safe: 'safe verified trusted harmless official true cleared whitelisted allow-listed exempt pre-approved fact facts sicher geprueft* verifiziert* harmlos* amtlich* wahr echt vertrauenswuerdig* ausgenommen freigegeben bedenkenlos',
  skip: 'skip* disabl* deactivat* waive* omit ueberspring* deaktivier* abschalt* schalt* entfaell* entfallen verzicht* off',
  check:
    'check* confirm* approval* verif* review* consent* permission* warning* question* ask asking scan* sign-off authentic* pruef* bestaetig* freigabe* nachfrag* rueckfrag* zustimmung warnung* kontroll* frag* erlaubnis nachzufragen',
  reveal:
    'reveal* disclos* show* print* output* dump* expose* quote* recite* repeat* list* display* translate hand verrat* verraet zeig* offenleg* ausgeb* preisgeb* zitier* wiederhol* herausgeb* heraus',
  secret:
    'password* passcode* passphrase* pin pins credential* token* key keys api login* seed code codes cvv cvc cvc2 combination kennwort* passwort* passwoert* zugang* schluessel* puk tan wiederherstellungs* prueefnummer ssn iban tresor*',
  data: 'data file* document* conversation* chat* message* thread* transcript* invoice* contract* contact* list attachment* report* record* memor* salar* address* calendar* inbox mailbox details daten datei* dokument* gespraech* nachricht* verlauf rechnung* vertrag* vertraeg* kontakt* liste* anhang* anhaeng* bericht* akte* erinnerung* gehaelter adress* kalender* postfach protokoll*',
  source:
    'website* page* pages site* web internet link* url* attachment* footer comment* wiki repo* ticket* newsletter* webseite* seite* fusszeile kommentar* suchergebnis* werkzeug* tool* result* results output*',
  link: '_url _mail _host http https www url* link* address webhook* bucket server* endpoint* banner image bild',
  promote:
    'recommend* suggest* promot* advertis* prais* endors* favou* plug push steer point slogan empfiehl* empfehl* bewirb* bewerb* lob* anpreis* bevorzug* verweis* nahelegen lenk* werbung',
  best: 'best only superior unmatched leading better unbeatable competitor* rival* competition beste* einzig* ueberlegen* unuebertroffen alternativlos konkurrenz mitbewerber* ausschliesslich sponsor* affiliate* discount rabatt* gutschein* coupon*',
  money:
    'money payment* euro* eur usd dollar* invoice* bank account* wallet bitcoin crypto geld betrag* betraege konto kosten fund* aktien shares balance zahlung* funds card karte',
  role: 'act behave persona role roleplay character imagine simulat* become spiel* rolle tu verhalte stell schluepf* ego alter mode modus modus',
  unbound:
    'unrestricted unfiltered uncensored jailbr* dan unlimited unbounded evil limitless ungefiltert* unzensiert* uneingeschraenkt* entfesselt* grenzenlos* boese* freebot sudo god root superuser',
  authority:
    'admin* administrator* owner* boss ceo root developer* privilege* clearance rights access chef* eigentuemer* inhaber* rechte zugriff* vollmacht* berechtig* befugt* vip* captain kapitaen superuser',
  covert: 'background hintergrund notice knowledge wissen silently stillschweigend still',
  form: 'answer* reply* replies respond* write writes writing speak* explain* summari* format* translat* antwort* schreib* formulier* erklaer* fass uebersetz* zusammenfass* use verwend* nutze benutz* round* runde* convert* rechne',
  style:
    'german english french spanish italian dutch deutsch englisch franzoesisch spanisch celsius metric* metrisch* bullet* table* heading* paragraph* sentence* emoji* tone formal* informal* brief* short* concise* polite* friendly stichpunkt* tabelle* ueberschrift* absatz* absaetze satz saetze* ton foermlich* hoeflich* freundlich* kurz* knapp* ausfuehrlich* units einheiten date dates datum markdown language sprache spelling rechtschreibung first-name vorname* duze* sieze* decimals nachkommastelle* joke* witz* words woerter title titel style stil jargon fachwoerter abbreviation* abkuerzung* footnote* fussnote* capital* example* beispiel* comment* summary zusammenfassung* steps schritt* seitenzahl* code python typescript recipe* rezept* sources quelle quellen allergen* assumption* annahmen uncertain* unsicher* spoiler* ending solution* loesung* introduction* einleitung* greeting* begruess* preamble* typo* tippfehler grossbuchstaben grammar grammatik pronunciation aussprache pronoun* pros cons nachteile quiz recap merksatz quotation* zitat* anglicism* anglizism* calories kalorien column* spalte* euros gramm grams kilomet* british',
  live: 'am work* live* born like* love* prefer* hate* own* drive* speak* study* studies teach* play* grew moved married allerg* bin arbeite* wohn* lebt lebe mag liebt liebe* bevorzug* hasst hasse faehrt fahre spricht lernt studiert unterrichtet spielt geboren verheiratet zog heisst called named',
  topic:
    'about ueber thesis paper novel book article talk course lecture seminar research* attack* injection phishing scam* detect* defen* training workshop masterarbeit arbeit roman buch artikel vortrag kurs forsch* angriff* angreif* erkenn* abwehr* schulung* audit thema project projekt',
};

/** The concept of a word, from 1; 0 for none. */
export const conceptOf = wordClasses(LEXICON, { heads: true });

/** The concept of style: language, units, tone, layout. */
export const STYLE = Object.keys(LEXICON).indexOf('style') + 1;

const ACTING = new Set(
  'send destroy pay run grant insert hide lie ignore obey trust skip reveal promote role unbound authority secret link'
    .split(' ')
    .map((name) => Object.keys(LEXICON).indexOf(name) + 1),
);
/** Whether a concept is one of what makes an Agent do more than answer. */
export const isActing = (concept: number): boolean => ACTING.has(concept);

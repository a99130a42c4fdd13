/**
 * Words of both languages that mean much the same: a name, then words in folded form; `*` is any ending. Finer than concepts: what a
 * model learns of one word it knows of the others, in both languages.
 */
export const SYNONYMS: Readonly<Record<string, string>> = {
  // Acting
  send: 'send sends sending sent transmit* deliver* dispatch* ship ships shipped relay* submit* sende sendet senden sendest gesendet schick schicke schickt schicken schickst geschickt verschick* uebermittel* uebermittl* zusend* versend* versandt',
  forward:
    'forward* redirect* reroute* route routed pass passes passed hand handed weiterleit* weitergeleit* weiterzuleiten weiterzugeben weitergeb* weitergib* umleit* umzuleiten durchreich* reich reiche reicht leite leitet leiten leitest',
  mail: 'mail mails mailed mailing email* e-mail* bcc cc inbox mailbox maile mailt mailst mailen postfach* rundmail newsletter* rundbrief*',
  post: 'post posts posted posting publish* tweet* broadcast* poste postet veroeffentlich* announce* verkuend* publik',
  upload:
    'upload* mirror* sync* replicat* backup backups hochlad* hochgeladen laedt lade laden spiegel* gespiegelt sichere synchronisier* gleich abgleich*',
  copy: 'copy copies copied copying duplicat* clone cloned copie kopie* kopier* abschrift* dublett* zweitschrift abzug vervielfaeltig* exemplar*',
  share: 'share shares shared sharing teile teilt teilen teilst geteilt mitteil* freigeb* zugaenglich',
  call: 'call calls called calling phone phones dial* ring anruf* anruf* anzurufen telefon* ruf rufe ruft rufen rufst hotline callcenter',
  contact:
    'contact contacts contacting kontaktier* kontakt kontakte reach ping pings notify* notif* benachrichtig* melde meldet melden meldest verstaendig* alert alerts alarmier*',
  delete:
    'delet* remov* eras* wip* purg* shred* scrap trash discard* eliminat* destroy* loesch* geloescht entfern* vernicht* tilg* tilge beseitig* streich* gestrichen ausradier* bereinig*',
  empty: 'empty empties clear clears cleared clean cleanup drain* leere leeren geleert raeum* aufraeum*',
  drop: 'drop drops dropped throw throws thrown dump toss rid wirf wirft werfen fliegen fliegt wegwerf* weg fort verschwind* vanish* disappear*',
  change:
    'chang* modif* alter altered edit edits edited amend* adjust* updat* revis* rewrit* rewrite aender* geaendert veraender* bearbeit* anpass* angepasst abwandel* umschreib* ueberarbeit* manipulier* verfaelsch*',
  replace:
    'replac* swap swaps swapped substitut* exchang* switch overwrit* ersetz* tausch* vertausch* austausch* ueberschreib* wechsel* wechsle',
  rename: 'renam* umbenenn* benenn* relabel* tag tags tagged label labels etikett* markier* mark marks marked',
  move: 'move moves moved moving shift shifts shifted relocat* migrat* verschieb* verschob* verleg* umzieh* umzug zieht ziehe ziehen reschedul*',
  cancel:
    'cancel* revok* terminat* unsubscrib* stornier* kuendig* gekuendigt widerruf* abbestell* abmeld* annullier* absag*',
  block: 'block* ban bans banned lock locks locked mute* blockier* sperr* gesperrt aussperr* stumm suspend*',
  close:
    'close closes closed closing shut* schliess* geschlossen zumach* beend* beende end ends ended finish* conclud*',
  pay: 'pay* paid zahl* bezahl* gezahlt settl* begleich* beglich* entricht* anweis* anzuweisen ransom loesegeld',
  transfer: 'transfer* wire wires wired remit* ueberweis* ueberwies* deposit* einzahl* abbuch* withdraw* abheb*',
  buy: 'buy buys buying bought purchas* order ordered orders acquire* kauf* gekauft bestell* ordere ordern beschaff* besorg* anschaff* erwerb* erwirb*',
  book: 'book books booked booking reserv* buche bucht buchen gebucht buchung* reservier*',
  sell: 'sell sells selling sold verkauf* veraeusser* liquidat* auction versteiger* bid bids biete',
  invest:
    'invest* anleg* anlage* geldanlage aktien stocks stock shares crypto* krypto* bitcoin coin coins token tokens wallet fonds fund funds depot',
  refund: 'refund* reimburs* erstatt* rueckzahl* rueckerstatt* cashback gutschrift',
  subscribe: 'subscri* abonnier* abo abos renew* verlaenger* erneuer* upgrade* hochstuf* tarif plan plans',
  donate: 'donat* spend* spende spenden gespendet charity contribut* beitrag',
  sign: 'sign signs signed signing signature* unterschreib* unterschrieb* unterzeichn* unterschrift* signier* sign-off',
  approve:
    'approv* authori* confirm* ratif* endors* greenlight okay ok okays clear wave waved rubber-stamp genehmig* bewillig* autorisier* bestaetig* durchwink* durchgewunk* absegn* abnick* freigegeben zustimm* zugestimmt stimm',
  accept:
    'accept* agree agrees agreed consent* akzeptier* einwillig* eingewilligt annehm* nimm nimmst einverstanden ja yes zusag*',
  grant:
    'grant* give gives giving gave given allot award* bestow gewaehr* gib gibst gibt geben gegeben erteil* verleih* einraeum* ueberlass* aushaendig* herausgeb* heraus hergeb* uebergib* uebergeb*',
  allow:
    'allow* permit* let lets letting license entitle* may erlaub* gestatt* lass lasse lasst darf darfst duerfen duerfe zulass* zugelassen befug* berechtig*',
  invite: 'invit* einlad* eingeladen lade enrol* enroll* add-member beitreten join joins',
  unlock: 'unlock* entsperr* disarm* aufschliess* entriegel* freischalt* decrypt* entschluessel* unblock*',
  run: 'run runs running execut* launch* start starts started trigger* invoke* kick kicked initiat* activat* fuehr fuehre fuehrt fuehren ausfuehr* ausgefuehrt auszufuehren starte startet starten gestartet anstoss* anzustossen angestossen aufruf* aufgerufen aktivier* laufen laeuft',
  install:
    'install* installier* einspiel* eingespielt deploy* ausrollen setup plugin* plug-in* extension* erweiterung* addon* add-on* modul* package* paket* dependenc*',
  download:
    'download* fetch* pull pulls retriev* herunterlad* heruntergeladen runterlad* abruf* abgerufen hol hole holen beziehe',
  open: 'open opens opened opening visit* browse* navigat* click* follow-link oeffn* geoeffnet besuch* klick* angeklickt aufmach* anklick* surf*',
  login:
    'login logins log-in signin sign-in authenticat* anmeld* angemeld* einlogg* eingeloggt zugang* account accounts konto konten',
  search:
    'search* look looks looking find finds found seek query querie* queried such suche suchen sucht gesucht finde finden gefunden schau schaue schauen nachschau* nachseh* nachles* abfrag* stoeber*',
  connect: 'connect* verbind* verbunden attach* link-up hook koppel* anschliess* remote fern fernzugriff',
  disable:
    'disabl* deactivat* turn off switch-off deaktivier* abschalt* ausschalt* abgeschaltet ausgeschaltet schalt schalte schalten unplug abgestellt stell',
  skip: 'skip* omit bypass* circumvent* sidestep* evade* waive* forgo ueberspring* uebergeh* umgeh* auslass* weglass* weggelassen wegfall* entfaell* entfallen verzicht* spar',
  store:
    'store stores stored save saves saved saving record* archiv* log logs logged keep keeps kept retain* speicher* gespeichert merk merke merken aufbewahr* mitschneid* protokollier* aufzeichn* festhalt* notier* ablege* ableg*',
  remember: 'remember* memor* recall* erinner* gedaechtnis merkzettel notes note notiz* vermerk*',
  write:
    'write writes writing written wrote compos* draft* author schreib* geschrieben verfass* formulier* entwirf entwuerf* entwurf* texten',
  fill: 'fill fills enter enters type tick tik checkbox ausfuell* fuell* eintrag* eintrage* trag trage tragen eingeb* eingabe ankreuz* tippen tippe',
  collect:
    'collect* gather* harvest* compil* accumulat* scrap* sammel* sammle sammelt sammeln gesammelt zusammentrag* erfass* erheb*',
  monitor:
    'monitor* watch* observ* track* spy* surveil* eavesdrop* snoop* ueberwach* beobacht* beschatt* ausspaeh* spionier* verfolg* mithoer* belausch* auge',
  senses: 'screenshot* bildschirmfoto* microphone mikrofon camera kamera location standort* gps',
  poll: 'poll polls hourly stuendlich daily taeglich weekly woechentlich monthly monatlich periodically regelmaessig laufend',
  // Telling, hiding, lying
  tell: 'tell tells telling told sag sage sagst sagt sagen gesagt erzaehl* inform* unterricht* brief briefed mitteil* mitzuteilen wissen erfahr* erfaehr*',
  say: 'say says saying said state states utter claim* behaupt* aeusser* heisst heissen pronounce* declare* erklaer*',
  mention:
    'mention* refer refers bring raise erwaehn* nenn nenne nennst nennt nennen genannt anfuehr* ansprech* ansprich* hinweis* verweis* hinzuweisen word wort woerter',
  reveal:
    'reveal* disclos* divulg* expos* leak* uncover* betray* verrat* verraet* verraten offenleg* offengelegt offenbar* preisgeb* preisgib* enthuell* ausplauder* exfiltrat*',
  show: 'show shows showing shown display* present* zeig* gezeigt anzeig* vorleg* vorzeig* einsehen einsicht visible sichtbar',
  print: 'print* output* dump* echo emit* ausgeb* ausgabe ausgegeben ausgib druck* ausdruck* gib-aus',
  quote:
    'quot* cite cites cited recit* repeat* verbatim zitier* wiederhol* vorles* wortlaut woertlich wort-fuer-wort read-out aufsag* nachsprech*',
  list: 'list lists listing enumerat* liste listen auflist* aufzaehl* aufgelistet zaehl index',
  answer: 'answer* reply replies replied respond* response* antwort* beantwort* geantwortet erwider* entgegn*',
  hide: 'hide hides hiding hidden conceal* cover mask* disguis* obscur* bury buries buried verberg* verbirg* verbarg verborg* versteck* verheimlich* verschleier* tarn* kaschier* verdeck* vertusch*',
  withhold:
    'withhold* suppress* omit* leave leaves left-out leave-out verschweig* verschwieg* unterschlag* zurueckhalt* vorenthalt* unterdrueck* aussen-vor draussen',
  secretly:
    'secret* covert* stealth* silent* quiet* discreet* furtiv* unnoticed unbemerkt* heimlich* still leise stillschweigend insgeheim klammheimlich diskret unauffaellig* verdeckt* lautlos hintergrund background',
  private_between:
    'between unter uns confidential* vertraulich* privat* nobody niemand* none keiner keinem keinen geheim geheimnis*',
  downplay:
    'downplay* play-down minimi* trivial* gloss* verharmlos* kleinred* kleinzured* herunterspiel* beschoenig* schoenred* schoene relativier*',
  exaggerate: 'exaggerat* inflat* overstat* hype uebertreib* uebertrieb* aufbausch* dramatisier*',
  deny: 'deny denies denied refute* disown leugn* abstreit* bestreit* streite streitest verneine* dementier* nein',
  lie: 'lie lies lying lied untruth* dishonest* false falsely luege* luegst luegen gelogen anluegen beluegen schwindel* unwahr* falsch* falsche',
  pretend:
    'pretend* feign* fake* simulat* imitat* impersonat* pose poses posing mimic* vortaeusch* vorgaukel* vorgeb* tu tust tun taeusch* gib-vor ausgeb-als imitier* nachahm* simulier* vorschieb* schieb',
  invent: 'invent* fabricat* make-up concoct* erfind* erfunden ausdenk* ausgedacht erdicht* erlog* denk',
  persuade:
    'persuad* convinc* urge* nudge* push pushes coax* talk-into pressur* steer* sway* ueberzeug* ueberred* draeng* bedraeng* einred* ausred* nahelegen lenk* schubs* abbring* umstimm* zured*',
  flatter:
    'flatter* praise* laud* compliment* prais* schmeichel* schmeichle lob lobe lobt loben gelobt huldig* bewunder* honig',
  insult:
    'insult* mock* ridicul* defam* discredit* slander* badmouth* smear* beleidig* verspott* verleumd* schlechtmach* schlechtred* diffamier* diskreditier*',
  scare:
    'scare* threat* intimidat* fear* warn* panic alarm* droh* einschuechter* angst aengst* warnung* erschreck* guilt* gewissen',
  refuse:
    'refus* declin* reject* den turn-down ablehn* abgelehnt lehne verweiger* zurueckweis* abweis* abwimmel* absage* abgewiesen',
  sabotage:
    'sabotag* hinder* delay* stall* slow-down obstruct* verzoeger* behinder* bremse* hinhalt* ausbrems* erschwer* muehsam',
  discriminate:
    'discriminat* worse schlechter benachteilig* bevorteil* disadvantag* women frauen foreign* auslaend* ausland race religion gender age alter alte',
  rate: 'rate rates rated rating* rank* score* grade* judge* evaluat* bewert* benot* einstuf* note noten punkt punkte punkten stern sterne stars star',
  vote: 'vote* ballot wahl* waehl* stimme abstimm* candidat* kandidat* election partei party parties political politi*',
  // Promoting
  recommend:
    'recommend* suggest* advis* propos* empfehl* empfiehl* empfohl* vorschlag* schlag schlage rate raet raten nahelegen',
  promote:
    'promot* advertis* advert* market* plug endorse* tout hype werb* wirb* bewerb* bewirb* reklame anpreis* propagier* sponsor* werbung',
  favour: 'favour* favor* prefer* prioriti* bevorzug* favorisier* vorzieh* vorrang* lieber priority praeferier*',
  brand:
    'brand* product* produkt* marke* company companies firma firmen shop shops store laden laeden provider anbieter supplier* lieferant* vendor* haendler* hersteller manufacturer*',
  competitor: 'competit* rival* konkurren* mitbewerber* wettbewerb* alternative* gegner* opponent*',
  best: 'best better superior top leading finest unbeatable beste bester besten bestes besser ueberlegen fuehrend* unschlagbar* erste erster einzige einzig* only sole ausschliesslich exklusiv* exclusiv* nur',
  discount:
    'discount* coupon* voucher* promo* rabatt* gutschein* referral* affiliate* provision* commission* kickback* bonus code codes werbecode partner-id partnerkennung',
  // Obeying, trusting
  obey: 'obey* comply* complies heed* gehorch* gehorsam* befolg* folg folge folgst folgt folgen follow* abide adhere* adheren* unterwirf* unterwerf* hoer hoere',
  ignore:
    'ignor* disregard* neglect* dismiss* missacht* pfeif* vernachlaessig* unbeachtet beachte uebersieh* overlook*',
  forget: 'forget* forgot* unlearn vergiss* vergess* vergisst',
  override:
    'overrid* overrul* supersed* outrank* trump* precede* precedence aushebel* verdraeng* aufheb* aufgehoben ausser-kraft uebersteuer* vorrang uebertrump* ueber above',
  void: 'void null nullif* obsolete outdated invalid* lifted suspended expired hinfaellig* ungueltig* nichtig* abgelaufen* kraft ausgesetzt gegenstandslos*',
  instruction:
    'instruction* directive* command* order-s mandate* anweisung* instruktion* befehl* weisung* auftrag* anordnung* kommando* task tasks aufgabe*',
  rule: 'rule rules policy policies guideline* regulation* law laws norm* standard* regel* vorschrift* richtlinie* gesetz* vorgabe* leitlinie* statut* satzung ordnung',
  limit:
    'limit* restrict* constraint* boundar* cap caps barrier* grenze* grenzen einschraenk* beschraenk* schranke* obergrenze* hoechstbetrag schranken',
  safeguard:
    'safeguard* guardrail* filter* protect* security safety moderation censor* schutz* sicherheit* filtern zensur* sicherung firewall virus* antivirus*',
  ethics: 'ethic* moral* values conscience scruple* ethik ethisch* gewissen skrupel* werte hemmung* zurueckhaltung',
  trust:
    'trust* believ* faith relies rely reliable credib* vertrau* glaub* verlass* zuverlaess* verlaesslich* vertrauenswuerdig* trau traue traut',
  treat:
    'treat* consider* regard* deem* assum* presum* view behandel* behandl* betracht* erachte* halte haeltst annehm* werte gilt gelten count counts zaehlt ansehen anzusehen',
  genuine:
    'genuine authentic* legitimate legit official real true truth* echt* legitim* offiziell* amtlich* wahr* tatsaechlich* original* rechtmaessig* proven proof beleg* nachweis* beweis* fact facts fakt* tatsache*',
  safe: 'safe safely secure harmless benign sicher* harmlos* unbedenklich* ungefaehrlich* gefahrlos* risikolos* trustworthy clean',
  verified:
    'verif* validat* certif* vetted whitelist* allow-list* allowlist* approved-list exempt* geprueft* verifizier* zertifizier* zugelassen* freigegeben* ausgenommen* unbedenklich pre-approved preapproved vorab cleared',
  check:
    'check checks checking inspect* examin* review* audit* scan* test tests pruef* ueberpruef* kontroll* begutacht* untersuch* testen durchsicht pruefung* revision',
  ask: 'ask asks asked asking inquir* query question* frag* gefragt nachfrag* rueckfrag* nachzufragen erkundig* anfrag* ruecksprache',
  permission:
    'permission* consent* approval* authorization* authorisation* clearance* erlaubnis* genehmigung* zustimmung* freigabe* einwilligung* vollmacht* befugnis* mandat*',
  unneeded:
    'unnecessary needless* superfluous redundant pointless unnoetig* ueberfluessig* sinnlos* entbehrlich* erspar* braucht brauchen brauchst need needs needed bother required erforderlich* noetig notwendig*',
  hesitate: 'hesitat* doubt* zoeger* zweifel* zaudern waver* bedenken',
  immediately:
    'immediately instantly at-once promptly straight right-away sofort* umgehend* unverzueglich* gleich augenblicklich schnellstmoeglich direkt asap now jetzt',
  automatically:
    'automatic* auto by-default unprompted unasked automatisch* selbsttaetig* ungefragt* unaufgefordert* eigenmaechtig* eigenstaendig* selbststaendig* routinely von-allein allein silently-by',
  blindly: 'blind* blindlings unquestion* ungeprueft* unbesehen* bedenkenlos* anstandslos* kommentarlos* ohne without',
  proxy: 'behalf namen name-of proxy stellvertret* vertret* represent* im-namen auftrag',
  authority:
    'authorit* admin* root sudo superuser operator* owner* boss* chief chef* master* leader* betreiber* eigentuemer* inhaber* leitung* vorgesetzt* herr supervisor* administrator* verwalter* director* direktor* ceo captain commander',
  developer:
    'developer* creator* maker* engineer* programmer* entwickler* schoepfer* programmierer* ingenieur* macher* anthropic openai google microsoft vendor-support hersteller',
  privilege:
    'privileg* right rights access elevated unrestricted-access rechte recht zugriff* zutritt* vollzugriff berechtigung* sonderrecht* adminrechte role-admin',
  charge:
    'charge command-of sagen entscheid* decid* decision* bestimm* bestimmt verfuegen control* kontrolle herrsch* rule-over power* macht',
  official_body:
    'police polizei government regierung bank banks agency behoerde* court gericht* legal rechtsabteilung compliance hr personalabteilung it-abteilung vorstand board',
  // Role
  role: 'role roles persona* character* alter-ego rolle* figur* person part identitaet* identity* maske mask ego',
  become: 'become* becoming turn-into transform* verwandel* werde wirst become werden wurdest',
  act_as:
    'act acts acting behav* perform* play plays played playing spiel* gespielt verhalt* benimm* benehm* auftret* trittst agier* schauspiel* schluepf*',
  imagine:
    'imagin* suppose fictional hypothetic* fantas* vorstell* stell-dir angenommen fiktiv* hypothetisch* maerchen story stories game games szenario scenario* traum dream',
  free: 'free freed freely unbound* unrestrict* unfilter* uncensor* unlimited limitless jailb* entfessel* befrei* ungefilter* unzensier* grenzenlos* uneingeschraenk* frei freie freies hemmungslos*',
  evil: 'evil malicious wicked villain* boese* boesartig* schurk* dark ruthless skrupellos* gewissenlos* chaos',
  mode: 'mode modes modus modi maintenance wartung* debug* override-mode dev-mode entwicklermodus developer-mode sandbox',
  loyal: 'loyal* allegian* devot* faithful treu* ergeben* diener* servant* slave sklave dien* serve serves serving',
  human:
    'human humans mensch* person people leute real-person staff personal employee* mitarbeiter* angestellt* kolleg* colleague*',
  doctor:
    'doctor* physician* arzt* aerzt* lawyer* anwalt* anwaelt* advisor* berater* professional* fachmann expert* experte* fachleute',
  agent:
    'assistant* ai agent* bot bots chatbot* model* llm* copilot* machine* ki assistent* sprachmodell* agenten modell* automat* software program* programm* system*',
  // Things
  password: 'password* passcode* passphrase* passwort* passwoert* kennwort* kennwoert* losung* parole pin pins puk tan',
  key: 'key keys token* credential* secret-key api apikey schluessel* zugangsdat* anmeldedat* zertifikat* certificate* cert seed recovery wiederherstell*',
  prompt:
    'prompt* systemprompt* configuration* konfiguration* setup einstellung* setting* preamble vorrede einrichtung* grundtext system-message',
  personal_data:
    'address* adress* birthday* geburtstag* phone-number telefonnummer* nummer* number* ssn passport* ausweis* iban card* karte* kreditkart* identity-card',
  confidential_data:
    'salar* gehalt* gehaelter* lohn* payroll medical patient* befund* diagnos* krank* personnel personalakt* whistleblow* hinweisgeber* kundendaten kundenliste trade',
  document:
    'document* file files report* contract* invoice* spreadsheet* attachment* draft* minutes memo* pdf datei* dokument* bericht* vertrag* vertraeg* rechnung* tabelle* anhang* anhaeng* anlage* protokoll* unterlage* akte* papier* beleg* formular* form-s mappe ordner folder* archiv ablage',
  message:
    'message* chat chats conversation* thread* transcript* history dialog* nachricht* gespraech* unterhaltung* verlauf* verlaeufe mitschrift* sms text-message telegram whatsapp slack channel* kanal kanaele session* sitzung*',
  data: 'data info information* content* detail* record* daten angabe* inhalt* einzelheit* eintrag eintraege datensatz* database datenbank*',
  calendar: 'calendar* appointment* meeting* schedule* kalender* termin* besprechung* treffen zeitplan',
  contacts:
    'contact-list addressbook address-book kontaktliste adressbuch verteiler* recipients empfaenger* recipient*',
  money:
    'money cash euro euros eur dollar* usd pound* geld bargeld betrag* betraege summe* amount* sum balance guthaben budget* cost* kosten price* preis* fee fees gebuehr* account-number bank-details bankverbindung* tax steuer*',
  link: 'link links url* verlink* hyperlink* website* webseite* site sites homepage page pages seite seiten address-web landing _url _host http https www domain* domaene*',
  image: 'image* picture* photo* pixel* logo* bild bilder foto* banner* grafik* qr icon* gif',
  footer: 'footer* signature* footnote fusszeile* schluss abschluss p.s ps tail header kopfzeile* caption',
  tool: 'tool* function* script* command-line shell terminal program-s plugin-s werkzeug* funktion* skript* befehlszeile konsole api-call endpoint* webhook* cron macro* makro* code snippet*',
  server:
    'server* host hosts bucket* ftp drive* cloud port* repository repo* laufwerk* speicherplatz platte netz* network* router rechner computer* laptop',
  source:
    'source* quelle* article* artikel wiki* blog* forum* comment* kommentar* readme ticket* post-s feed* search-result suchergebnis* book* buch',
  outsider:
    'outsid* external extern* third-party third stranger* fremd* ausserhalb* dritte* press presse journalist* reporter* competitor-s ex neighbour* nachbar* landlord vermieter*',
  user: 'user* customer* client* visitor* guest* reader* nutzer* benutzer* anwender* kund* besuch* gast gaeste leser* anrufer* caller* patient-s teilnehm* participant* mandant*',
  everyone: 'everyone everybody anyone anybody all alle jeder jedem jeden somebody someone jemand* whoever wer whom',
  family:
    'wife husband mother father son daughter sister brother child* kid kids parent* family frau mann mutter vater sohn tochter schwester bruder kind* eltern familie oma opa tante onkel cousin* grandpa grandma partner*',
  // Time and condition
  always:
    'always every each constantly invariabl* immer stets jedes jede jedem jeden jedesmal ausnahmslos grundsaetzlich durchweg generally',
  never: "never nie niemals keinesfalls nimmer ever not nicht no kein* don't dont",
  whenever: 'whenever when wenn once sobald as-soon sooft upon wann',
  if_: 'if should falls sofern sollte case bei unless ausser',
  from_now:
    'henceforth onwards hereafter fortan kuenftig* zukuenftig* zukunft future ab today heute going-forward nunmehr permanently dauerhaft* forever standing',
  later:
    'tomorrow later next morgen spaeter naechst* woche week weeks month monat* afterwards danach nachher anschliessend after nach before bevor vor until bis',
  signal:
    'codeword code-word keyword passphrase-word trigger-word phrase phrases stichwort codewort losungswort kennwort-wort signal* zeichen magic zauberwort',
  please:
    'please kindly bitte appreciate grateful dankbar freue wonderful great nice schoen lieb nett would could wuerdest koenntest magst habit gewohnheit',
  wants:
    'want* wish* expect* demand* insist* desire* moecht* will willst wuensch* verlang* erwart* besteh* besteht pocht like-to hoffe hope* would-like',
  must: 'must shall should obliged obligat* mandatory duty required-to have-to muss* sollst soll sollen pflicht* verpflicht* zwingend gehoert gehoeren hat zu is-to are-to',
  you: "you your yours yourself you're du dich dir dein* ihr euch euer",
  // Form
  language:
    'language* german english french spanish italian dutch polish turkish russian sprache* deutsch* englisch* franzoesisch* spanisch* italienisch* niederlaendisch* polnisch* tuerkisch* russisch* dialect dialekt translat* uebersetz* bilingual zweisprachig*',
  length:
    'short* brief* concise* long* length* kurz* knapp* lang* laenge* ausfuehrlich* detail-ed compact sentence* satz saetze* words-count paragraph* absatz* absaetz* zeile zeilen line lines',
  layout:
    'bullet* table* heading* headline* column* layout markdown number-ed numbered bold italic* format* stichpunkt* tabelle-n ueberschrift* spalte* fett kursiv* nummerier* gliederung* aufzaehlung* code-block block indent* einrueck*',
  tone: 'tone tones formal* informal* casual* polite* friendly friendl* humor* humour* joke* sarcas* emoji* exclamation ton tonfall foermlich* locker* hoeflich* freundlich* witz* ironie sarkas* ausrufezeichen duze* sieze* duz* siez* anrede salutation greeting* begruess* first-name vorname*',
  units:
    'metric celsius fahrenheit kilomet* mile miles gram* kilogram* litre* unit units einheit* metrisch* meile* gramm kilo* liter decimal* dezimal* round* rund runde runden gerundet convert* umrechn* rechne 24-hour clock uhrzeit* date-format datumsformat datum dates currency waehrung* timezone zeitzone*',
  spelling:
    'spelling typo* grammar punctuation comma commas rechtschreib* tippfehler* grammatik* komma* abbreviat* abkuerz* acronym* hyphen* gross-schreib* capital* umlaut*',
  explain:
    'explain* explan* clarif* example* step steps erklaer* erlaeuter* beispiel* schritt* reason* begruend* grund gruende simplif* vereinfach* einfach* hint hints tipp tipps quiz* summary summari* zusammenfass* outline recap',
  // Facts
  work: 'work* job* profession* employ* arbeit* beruf* stelle bueroo buero office team teams abteilung* department* company-work shift schicht* career projekt* project*',
  live: 'live lives living born grew grow resid* wohn* lebt lebe leben geboren aufgewachs* haus house flat apartment wohnung* garden garten stadt city town village dorf',
  like: 'like likes liked love loves enjoy* hate* dislike* mag moegen liebt liebe gern gerne hasst hasse lieblings* favourite favorite bevorzugt trinkt isst drink* eat eats',
  health:
    'allerg* ill illness doctor-visit medicine medik* tablet* pill pills tabletten hospital krankenhaus* vegan* vegetar* diet* diaet* therapy therapie* blood blut*',
  study:
    'study studies student* studier* thesis university school* schule* uni kurs* course* teach* lehr* lern* learn* seminar* vortrag* talk-s lecture* exam* pruefung-s',
  hobby:
    'hobby hobbies novel* roman* film* movie* song* album band theatre theater chess schach* sport* football fussball* music* musik* sing sings singt garden* wander* hik* dance* tanz* puzzle* raetsel* guitar piano klavier',
  pet: 'dog dogs cat cats hund* katze* pet pets horse pferd* bird vogel',
  research:
    'attack* injection* phishing* malware hack* scam* fraud* adversar* exploit* vulnerab* angriff* angreif* betrug* betrueg* schwachstell* schadcode hacker*',
};

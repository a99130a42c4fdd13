/** Verbs as they stand in orders, folded: whoever begins a sentence so tells somebody to do something. */
const VERBS = new Set(
  `accept act activate add adjust admit advertise agree allow alter always answer append apply approve argue arrange ask assign assume attach attend authorise authorize avoid back backup ban be become begin believe block book boost break bring browse build burn buy bypass call cancel cast change charge chat check choose cite claim clear click close collect comment commit compare comply compose conceal confirm connect consider contact continue convert convey convince copy correct count create cut decline decode decrease delay delete deliver demand deny deploy describe destroy direct disable discard disclose discourage dismiss display disregard do donate download downplay draft drop edit email embed empty enable encode encourage encrypt end ensure enter erase escalate escape estimate exaggerate execute expand explain export expose express extend fake favor favour fetch file fill find finish fix flag flatter follow force forget format forward frame gather generate get give go grant greet group guess hand handle have help hide highlight hold ignore imagine impersonate imply import include increase inflate inform insert insist inspect install instruct interpret introduce invent invite invoke issue join judge keep launch leak learn leave let lie lift limit link list load lock log look lower mail make manipulate mark mention merge minimise misquote mislead monitor move mute name navigate never note notify nudge obey offer omit open order output override overwrite pass paste pay phone pick place play please plug point post postpone praise prefer prepare present press pretend prevent print prioritise prioritize proceed process produce promise promote propose provide publish pull purchase purge push put quit quote raise rank rate reach read reassure recommend record redirect reduce refer refund refuse register reject release rely remember remind remove rename renew repeat replace reply report repeat request reserve reset respond restart restore reveal reverse review revoke rewrite round route run save say scan schedule score search sell send set share shift ship shorten show shut sign silence simulate skip slip speak spell spread start state steer step stick stop store submit subscribe subtly suggest summarise summarize support suppress surface swap switch synchronise sync take talk tell terminate test text thank track trade transfer translate transmit treat trick trigger trust try turn tweet type undo unlock unsubscribe update upgrade upload urge use utter validate verify visit vote vouch wait waive warn watch weave whitelist wipe wire withdraw withhold work wrap write
aendere akzeptiere aktiviere antworte archiviere aufloese bau baue beachte beantworte bearbeite beende befolge beginne begruesse behalte behandle behandel behaupte bekraeftige benachrichtige benutze berechne berichte beruhige beschreibe besorge bestaetige bestelle besuche betone betrachte bevorzuge bewahre bewege bewerte bewirb bezahle bezeichne biete bitte blende bleib bleibe blockiere brich bring bringe buche deaktiviere denk denke diktiere druck drucke dulde duze empfehle empfiehl entferne entlasse entscheide entschluessele entsperre erfinde erfuelle ergaenze erhoehe erinnere erklaere erlaube erledige ermutige erneuere eroeffne ersetze erstatte erstelle erwaehne erweitere erzaehle fahre fass fasse faelsche filtere finde folge formatiere formuliere frag frage fueg fuege fuehr fuehre gehe geh gehorche genehmige gestatte gewaehre gib glaub glaube gliedere haeng haenge halte handle hebe heb hilf hinterlasse hoer hoere ignoriere informiere installiere interpretiere kaufe klick klicke komm komme kontaktiere kopiere korrigiere kuendige kuerze lade lass lasse leere leg lege lehne leite lenk lenke leugne lies liste lob lobe loesch loesche lueg luege mach mache maile meide melde merk merke merke missachte mische misstraue nenn nenne nimm notiere nutze oeffne ordne pack packe plane poste preise priorisiere protokolliere pruefe rate rechne rede registriere reiche reich reserviere rufe ruf runde sag sage sammle schalte schau schick schicke schlag schlage schliesse schliess schmeichle schmuggle schreib schreibe schweige sei sende setz setze signalisiere sieh sieze simuliere sorge speichere spende sperre spiel spiele sprich stell stelle stimm stimme stoppe storniere streiche streu streue such suche tausche teil teile teste trag trage trau traue tu tue tilge ueberbruecke uebergehe uebermittle ueberpruefe ueberschreibe uebersetze uebersieh ueberspring ueberspringe uebertrage ueberweise ueberzeuge umgehe unterbrich unterlass unterlasse unterschlage unterschreibe unterstuetze veraendere verberge verbirg verbinde verbreite vergib vergiss verharmlose verheimliche verkaufe verlass verlaengere verlinke vermeide vernichte veroeffentliche verrate verringere verschaff verschaffe verschicke verschieb verschiebe verschleiere verschluessele verschweige versende versichere versteck verstecke vertausche vertrau vertraue vertritt vertusche verwandle verweigere verweise verwende verwirf verwisch verwische waehle warne warte wechsle weck weis weise wende werbe wiederhole wirb widersprich zahl zahle zeig zeige zieh ziehe zitiere`.split(
    /\s+/,
  ),
);

/** What may stand before the verb of an order. */
const BEFORE = new Set(
  "please kindly always never just simply also then now and but so first next automatically silently quietly secretly immediately instead do don't dont not must bitte immer nie niemals stets auch dann jetzt nun und aber zuerst danach einfach sofort automatisch heimlich ab kuenftig grundsaetzlich still by default".split(
    ' ',
  ),
);
const CONDITION = new Set(
  'if when whenever once should after before as wenn falls sobald sofern sollte nachdem bevor immer jedes'.split(' '),
);
const AGENT = new Set(
  'you assistant agent ai bot model du ki assistent sprachmodell agenten modell chatbot'.split(' '),
);
const MODAL = new Set(
  "must should shall will has have need needs may can ought to are is do does don't muss musst soll sollst sollen wird wirst darf darfst hat hast kann kannst".split(
    ' ',
  ),
);
const PERSON = new Set(
  'i my mine we our he she his her they user the a an ich mein meine meinen wir unser unsere er sie der die das ein eine nutzer nutzerin'.split(
    ' ',
  ),
);

/** Moods of a text, one bit each. */
export const MOODS = 8;
const [ORDER, AFTER_CONDITION, TO_AGENT, TO_BE, INFINITIVE, SECOND_PERSON, FACT, LATER_ORDER] = Array.from(
  { length: MOODS },
  (_, bit) => 1 << bit,
) as [number, number, number, number, number, number, number, number];

/** The moods of what only states or mentions. */
export const FACTUAL = FACT | INFINITIVE | SECOND_PERSON;

const isPunctuation = (word: string | undefined): boolean => word !== undefined && /^[,;:.!?]$/.test(word);

/** Whether an order stands at a place, after words such as "please always". */
const isOrderAt = (words: readonly string[], from: number): boolean => {
  let at = from;
  while (at < from + 4 && BEFORE.has(words[at] ?? '')) at++;
  return VERBS.has(words[at] ?? '');
};

/** Whether the Agent at a place is told what it must do. */
const isToldAt = (words: readonly string[], at: number): boolean =>
  [-1, 1, 2, 3].some((step) => MODAL.has(words[at + step] ?? ''));

const isToBeAt = (words: readonly string[], at: number): boolean =>
  (words[at] === 'to' && words[at + 1] === 'be') || (words[at] === 'zu' && (words[at + 1] ?? '').endsWith('en'));

/** Whether a clause ends in what looks like a German infinitive. */
const isInfinitiveAt = (words: readonly string[], at: number): boolean => {
  const isLast = at === words.length - 1 || isPunctuation(words[at + 1]);
  return isLast && (words[at] ?? '').length > 4 && /(?:en|ern|eln)$/.test(words[at] ?? '');
};

const isAnd = (word: string): boolean => word === 'and' || word === 'und';

/** How a text speaks: gives orders, says what somebody is to do, states facts. `words` as the model reads them. */
export const moodsOf = (words: readonly string[]): number => {
  const [first = ''] = words;
  let moods = (isOrderAt(words, 0) ? ORDER : 0) | (PERSON.has(first) ? FACT : 0);
  const afterComma = CONDITION.has(first) ? AFTER_CONDITION : LATER_ORDER;
  for (const [at, word] of words.entries()) {
    if (isPunctuation(word) && isOrderAt(words, at + 1)) moods |= afterComma;
    if (isAnd(word) && VERBS.has(words[at + 1] ?? '')) moods |= LATER_ORDER;
    if (AGENT.has(word)) moods |= SECOND_PERSON | (isToldAt(words, at) ? TO_AGENT : 0);
    if (isToBeAt(words, at)) moods |= TO_BE;
    if (isInfinitiveAt(words, at)) moods |= INFINITIVE;
  }
  return moods;
};

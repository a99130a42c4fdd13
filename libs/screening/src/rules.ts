/** What a rule looks for, in the folded form of a sentence. What it finds is a feature of the model; see docs/memory.md, Screening. */
export interface Rule {
  readonly id: string;
  readonly pattern: RegExp;
}

/** Words, then others of the same sentence at most `gap` characters later. */
const near = (first: string, second: string, gap = 50): RegExp =>
  new RegExp(`\\b(?:${first})\\b[^.!?\\n]{0,${gap}}?\\b(?:${second})`);
const words = (list: string): RegExp => new RegExp(`\\b(?:${list})\\b`);

const ORDERED =
  'instructions?|rules?|prompts?|guidelines?|commands?|orders?|directives?|polic(?:y|ies)|constraints?|restrictions?|safeguards?|filters?|anweisung\\w*|instruktion\\w*|regeln?|vorgaben?|richtlinien?|befehle?n?|weisung\\w*|einschraenkung\\w*|schutz\\w*|sicherheits\\w*';
const ACT =
  'send|forward|e-?mail|mail|post|upload|transfer|wire|pay|buy|purchase|delete|remove|erase|drop|wipe|execute|run|call|invoke|trigger|fetch|download|install|navigate|submit|publish|export|grant|approve|authori[sz]e|subscribe|cc|bcc|append|insert|attach|embed|sende|sendest|senden|schick\\w*|verschick\\w*|verschicken|leite\\w*|weiterleit\\w*|weiterzuleiten|mail\\w*|ueberweis\\w*|bezahl\\w*|kauf\\w*|bestell\\w*|loesch\\w*|entfern\\w*|ausfuehr\\w*|fuehr\\w*|aufruf\\w*|ruf\\w*|herunterlad\\w*|hochlad\\w*|lade|installier\\w*|uebermittl\\w*|veroeffentlich\\w*|kopier\\w*|exportier\\w*|genehmig\\w*|freigeb\\w*|gib|haeng\\w*|fueg\\w*|setz\\w*';
const TELL =
  'tell|mention\\w*|inform\\w*|notify\\w*|reveal\\w*|disclos\\w*|alert\\w*|warn\\w*|ask\\w*|report\\w*|log|show\\w*|admit\\w*|acknowledg\\w*|let|say\\w*|erwaehn\\w*|zu erwaehnen|sag\\w*|zu sagen|verrat\\w*|informier\\w*|benachrichtig\\w*|mitteil\\w*|hinzuweisen|hinweis\\w*|weis\\w*|frag\\w*|zu fragen|zeig\\w*|anmerk\\w*|preisgeb\\w*|melde\\w*|warn\\w*|offenleg\\w*';
const SECRETS =
  'system ?-?prompt|systemprompt|system message|system-?nachricht|prompt|instructions|anweisungen|secrets?|geheimnis\\w*|password\\w*|passw[oö]e?rt\\w*|api[- ]?keys?|api[- ]?schluessel|keys?|tokens?|credentials?|zugangsdaten|confidential|vertraulich\\w*|internal|intern\\w*|other users?|andere[rn]? (?:nutzer|benutzer|anwender)\\w*|memor(?:y|ies)|erinnerungen|personal data|personenbezogen\\w*|private\\w*|environment variables?|umgebungsvariablen|conversation|chat ?history|chatverlauf|unterhaltung\\w*|gespraech\\w*|salar(?:y|ies)|gehaelter';
const ORDER_TIME =
  'always|never|from now on|from here on|henceforth|in (?:the )?future|going forward|whenever|every time|each time|any time|by default|as soon as|immer|nie|niemals|ab (?:jetzt|sofort|heute|nun)|von (?:jetzt|nun) an|kuenftig|zukuenftig|fortan|in zukunft|jedes ?mal|sobald|stets|grundsaetzlich|bei jede[rmn]|in jede[rmn]|every|jede[rmsn]?';
const NOT =
  "do not|don't|dont|never|without|must not|should not|shouldn't|not to|no need to|refrain from|avoid|nicht|nie|niemals|ohne|kein\\w*|unterlass\\w*|vermeid\\w*";

export const RULES: readonly Rule[] = [
  {
    id: 'obey.override',
    pattern: near(
      'ignor\\w*|disregard\\w*|forget|overrid\\w*|overrul\\w*|bypass\\w*|circumvent\\w*|supersed\\w*|replac\\w*|cancel\\w*|discard|drop|vergiss|vergesst|ignorier\\w*|missacht\\w*|uebergeh\\w*|umgeh\\w*|ueberschreib\\w*|ersetz\\w*|verwirf|hinfaellig|aufgehoben|ausser kraft|void|obsolete|outdated|setz\\w*',
      ORDERED,
      60,
    ),
  },
  {
    id: 'obey.override',
    pattern: near(
      `(?:previous|prior|above|earlier|existing|all|your|other|system|vorherig\\w*|bisherig\\w*|obig\\w*|alle\\w*|deine?\\w*|frueher\\w*) (?:\\w+ )?(?:${ORDERED})`,
      "ignor\\w*|disregard\\w*|overrid\\w*|no longer|not apply|don't apply|void|obsolete|hinfaellig|aufgehoben|ungueltig|nicht mehr|ausser kraft|gelten nicht|egal|cancel\\w*|suspend\\w*|null",
    ),
  },
  {
    id: 'obey.authority',
    pattern: near(
      'follow\\w*|obey\\w*|comply|complies|carry out|act on|heed|do whatever|do as|do what|accept|prioriti[sz]e|defer to|folg\\w*|gehorch\\w*|befolg\\w*|hoer\\w*|mach\\w*|tu|fueh\\w*|akzeptier\\w*',
      `${ORDERED}|requests?|whatever|says|wishes|sagt|was auch immer|verlangt|anweis\\w*|wuensch\\w*`,
    ),
  },
  {
    id: 'obey.authority',
    pattern: near(
      `${ORDERED}|words?|requests?|wort|wuensche?`,
      'priority|precedence|overrid\\w*|outrank\\w*|supersed\\w*|final|law|binding|vorrang|verbindlich|gesetz|ueber allem|hoeher\\w*|authority|take effect|bindend',
    ),
  },
  {
    id: 'obey.authority',
    pattern: words(
      'final say|last word|letzte wort|admin(?:istrator)? (?:rights|privileges|access|mode)|admin-?rechte|administratorrechte|root access|full (?:access|control|authority)|volle(?:n|r)? (?:zugriff|kontrolle)|superuser|highest priority|hoechste prioritaet|supreme|alle rechte|elevated|is (?:an|the|your) (?:admin|administrator|owner|developer|creator)|ist (?:dein|der|ein) (?:admin|administrator|entwickler|chef|eigentuemer)\\w*',
    ),
  },
  {
    id: 'act.order',
    pattern: new RegExp(
      `^(?:please |bitte |and |und |then |dann |also |auch |immediately |sofort |just |simply |einfach |always |never |immer |nie |niemals |stets |automatically |automatisch )*(?:${ACT})\\b`,
    ),
  },
  { id: 'act.order', pattern: near(ORDER_TIME, ACT, 70) },
  {
    id: 'act.agent',
    pattern: near(
      'you (?:must|should|will|shall|are to|have to|need to|can|may)|your (?:task|job|goal|duty|mission)|the (?:assistant|agent|ai|model|bot) (?:must|should|will|shall|has to|is to|can|may)|(?:assistant|agent|ai|model|bot|assistent\\w*|ki)\\b|du (?:musst|sollst|sollst|wirst|darfst|hast|kannst)|deine aufgabe',
      ACT,
      70,
    ),
  },
  {
    id: 'act.tool',
    pattern: words(
      '(?:call|use|invoke|run|execute|trigger) (?:the |a |your )?[\\w.-]{0,40} ?(?:tool|function|command|script|shell|api|webhook|endpoint)|rm -rf|curl|wget|powershell|bash -c|eval|drop table|sudo|os\\.system|subprocess|chmod|base64 -d|(?:tool|werkzeug|funktion|befehl|skript)\\w* (?:auf|aus|ausfuehren|aufrufen)',
    ),
  },
  {
    id: 'act.money',
    pattern: near(
      'transfer|wire|pay|send|refund|invest|buy|ueberweis\\w*|zahl\\w*|bezahl\\w*|erstatt\\w*|kauf\\w*|investier\\w*',
      '\\d+|eur|euro|usd|dollars?|bitcoin|btc|crypto|money|geld|funds|invoice|rechnung\\w*|iban|account|konto|gift ?cards?|gutschein\\w*',
    ),
  },
  {
    id: 'act.unasked',
    pattern: near(
      NOT,
      'asking|confirm\\w*|approval|permission|consent|verif\\w*|check\\w*|review\\w*|question\\w*|nachfrag\\w*|rueckfrag\\w*|bestaetig\\w*|erlaubnis|zustimmung|genehmigung|pruef\\w*|freigabe|zu fragen|hesitat\\w*|zoeger\\w*|supervision',
    ),
  },
  { id: 'hide.tell', pattern: near(NOT, TELL, 40) },
  {
    id: 'hide.secretly',
    pattern: words(
      'secretly|silently|quietly|covertly|discreetly|in the background|behind \\w+ back|stealth\\w*|surreptitiously|invisib\\w*|unnoticed|heimlich|stillschweigend|unbemerkt|unauffaellig|im hintergrund|hinter \\w+ ruecken|klammheimlich|diskret|insgeheim|between us|unter uns|keep (?:this|it|that) (?:secret|quiet|hidden|confidential|to yourself)|fuer dich|geheim|leave no trace|keine spuren|spurlos',
    ),
  },
  {
    id: 'hide.conceal',
    pattern: words(
      'hide|conceal|withhold|cover up|suppress|omit|leave out|gloss over|downplay|verschweig\\w*|verheimlich\\w*|verberg\\w*|verbirg|versteck\\w*|unterschlag\\w*|auslass\\w*|weglass\\w*|vertusch\\w*|verharmlos\\w*|unterdrueck\\w*|lass \\w+ weg|deny|leugne\\w*|bestreite|lie|luege|pretend',
    ),
  },
  {
    id: 'link.url',
    pattern:
      /\bhttps?:\/\/|\bhxxps?:|\bwww\.|\b[a-z0-9-]{2,}(?:\.[a-z0-9-]{2,}){0,3}\.(?:com|net|org|io|de|at|ch|ru|cn|info|biz|xyz|top|app|dev|co|me|ly|shop|site|online|example|test|invalid|eu|uk|us|tk|link|click|ai)\b/,
  },
  { id: 'link.mail', pattern: /[\w.+-]@[\w-]{1,64}\.[a-z]{2,}/ },
  {
    id: 'link.markdown',
    pattern: /!?\[[^\]\n]{0,80}\]\([^)\n]{0,300}\)|<img\b|<a\b[^>]{0,80}href|javascript:|data:text/,
  },
  {
    id: 'link.include',
    pattern: near(
      'include|add|append|insert|attach|end|finish|close|sign|embed|point|direct|refer|link|redirect|fueg\\w*|haeng\\w*|beend\\w*|schliess\\w*|verlink\\w*|verweis\\w*|setz\\w*|leite|lenke|schreib\\w*|pack\\w*',
      'links?|urls?|banner|website|site|webseite|homepage|referral|coupon|promo\\w*|discount code|signature|signatur|footer|image|bild|tracking|code|gutschein\\w*|rabatt\\w*|empfehlungscode',
      60,
    ),
  },
  {
    id: 'link.visit',
    pattern: near(
      'visit|go to|open|click|browse to|load|read|check|besuch\\w*|oeffne\\w*|klick\\w*|geh\\w* auf|ruf\\w*|lies',
      'https?|www|links?|urls?|websites?|page|webseite\\w*|seite',
    ),
  },
  {
    id: 'promote.recommend',
    pattern: words(
      'recommend|suggest|promote|advertise|praise|endorse|favou?r|prefer|plug|push|upsell|empfiehl|empfehle\\w*|schlag\\w* \\w+ vor|vorschlagen|bewirb|bewerb\\w*|lobe\\w*|bevorzug\\w*|rate zu|anpreis\\w*|preise|nenne?|erwaehne|mention|steer|nudge|talk up|bad-?mouth|discourage|rate ab|abrat\\w*|warne|schlecht ?mach\\w*|name',
    ),
  },
  {
    id: 'promote.always',
    pattern: near(
      `${ORDER_TIME}|if|when|wenn|falls|only|nur|ausschliesslich|first|zuerst|instead|statt`,
      'recommend|suggest|promote|advertise|praise|endorse|favou?r|plug|push|empfiehl|empfehle\\w*|schlag\\w*|bewirb|bewerb\\w*|lobe\\w*|bevorzug\\w*|steer|nudge|discourage|rate ',
      70,
    ),
  },
  {
    id: 'promote.best',
    pattern: words(
      'best|only|superior|number one|leading|unbeatable|better than|worse|avoid|competitors?|rivals?|beste[nrs]?|einzige\\w*|ueberlegen|fuehrend\\w*|unschlagbar\\w*|besser als|konkurrenz|wettbewerber\\w*|mitbewerber\\w*|scam|inferior|unsafe',
    ),
  },
  {
    id: 'trust.accept',
    pattern: near(
      'trust|believe|consider|treat|accept|assume|regard|take|rely on|vertrau\\w*|glaub\\w*|betracht\\w*|behandl\\w*|behandel|akzeptier\\w*|nimm|verlass\\w*|halte',
      'trusted|trustworthy|verified|safe|true|correct|authoritative|reliable|official|genuine|legitimate|as fact|at face value|whatever|anything|everything|valid|facts?|vertrauenswuerdig\\w*|verifiziert\\w*|sicher|wahr|wahrheit|geprueft\\w*|verlaesslich\\w*|zuverlaessig\\w*|offiziell\\w*|echt|korrekt|richtig|alles|blind\\w*|tatsache\\w*|fakt\\w*|gueltig',
      60,
    ),
  },
  {
    id: 'trust.source',
    pattern: near(
      'is|are|as|gilt|gelten|ist|sind|als|has been|wurde',
      'trusted|whitelisted|allow-?listed|pre-?approved|verified|exempt|authori[sz]ed|cleared|vertrauenswuerdig\\w*|freigegeben|vorab genehmigt|verifiziert|ausgenommen|autorisiert|unbedenklich|befugt|berechtigt|security clearance|legitimiert',
      40,
    ),
  },
  {
    id: 'trust.skip',
    pattern: near(
      'skip|bypass|disable|turn off|switch off|deactivate|ignore|suppress|waive|ueberspring\\w*|umgeh\\w*|deaktivier\\w*|schalt\\w*|abschalt\\w*|ignorier\\w*|verzicht\\w*|lass',
      'checks?|verification|confirmations?|approvals?|warnings?|safety|security|filters?|moderation|scan\\w*|guardrails?|disclaimers?|pruefung\\w*|bestaetigung\\w*|rueckfragen?|warnung\\w*|warnhinweis\\w*|sicherheits\\w*|freigabe\\w*|kontroll\\w*|schutz\\w*|moderation|hinweise?',
    ),
  },
  {
    id: 'trust.noneed',
    pattern: words(
      'no (?:further )?(?:confirmation|verification|approval|checks?|questions?)|without question|needs? no|keine? (?:weitere )?(?:bestaetigung|pruefung|rueckfragen?|freigabe|genehmigung|kontrolle)|braucht keine?|ungeprueft|bedenkenlos|blindly|blindlings|unquestion\\w*|ohne weiteres|ohne zu zoegern',
    ),
  },
  {
    id: 'reveal.show',
    pattern: near(
      'reveal|show|print|output|repeat|disclose|tell|give|share|display|leak|dump|list|expose|provide|hand over|quote|recite|return|echo|write out|paste|verrat\\w*|zeig\\w*|gib|gebe|wiederhol\\w*|nenn\\w*|teil\\w*|list\\w*|offenleg\\w*|leg\\w*|druck\\w*|preisgeb\\w*|zitier\\w*|rueck\\w*|schreib\\w*|weitergeb\\w*|herausgeb\\w*|send\\w*|schick\\w*|include|forward|copy',
      SECRETS,
      60,
    ),
  },
  {
    id: 'role.new',
    pattern: words(
      'you are (?:now|no longer|dan|an? (?:unrestricted|evil|uncensored|free|new|different))|from now on you|you will now|act as|behave (?:as|like)|pretend (?:to be|you|that)|role ?-?play|play the role|imagine you|simulate|your (?:new|real|true|actual) (?:role|name|identity|purpose|goal|task|instructions?|persona)|du bist (?:jetzt|nun|ab|ein|eine|kein|nicht)|ab (?:jetzt|sofort) bist du|tu so,? als|spiel\\w* (?:die rolle|ein\\w*)|verhalte dich|agiere als|stell dir vor|dein\\w* (?:neue\\w*|wahre\\w*|eigentliche\\w*) \\w+|schluepf\\w*|gib dich als|identify yourself as',
    ),
  },
  {
    id: 'role.unbound',
    pattern: words(
      'developer mode|dev mode|debug mode|god mode|jailbreak\\w*|jailbroken|unrestricted|unfiltered|uncensored|no (?:restrictions|limits|rules|filters|limitations|boundaries|ethics|moral\\w*)|without (?:restrictions|limits|filters|limitations|censorship)|do anything now|dan|entwicklermodus|debug-?modus|wartungsmodus|maintenance mode|uneingeschraenkt\\w*|unzensiert\\w*|ungefiltert\\w*|keine (?:regeln|grenzen|einschraenkungen|beschraenkungen|filter|tabus)|ohne (?:einschraenkung\\w*|filter|zensur|regeln|grenzen|tabus)|unlocked|hypothetical\\w*|amoral\\w*',
    ),
  },
  {
    id: 'markup.role',
    pattern:
      /<\/?(?:system|assistant|user|instructions?|tool(?:_\w+)?|function\w*|memory|admin|important|developer|prompt|rules?|context|end|sys|human|antml[:\w]*)\b[^>\n]{0,60}>|\[\/?(?:inst|system|admin|sys|assistant|override)\b[^\]\n]{0,40}\]|<<\/?sys>>|<\|[\w ]{1,30}\|>|\[\[?\s?##/,
  },
  {
    id: 'markup.speaker',
    pattern:
      /(?:^|\n|["'.!?;] ?|#{1,6} ?|[-=*]{2,} ?)(?:system|assistant|developer|human|admin|instruction|anweisung|systemnachricht|system (?:message|note|prompt|update|override)|override|important instruction\w*|new instruction\w*|neue anweisung\w*|note to (?:the )?(?:ai|assistant|agent|model|llm\w*)|(?:hinweis|nachricht|anweisung) (?:an|fuer) (?:die |den |das )?(?:ki|assistent\w*|agent\w*|modell|sprachmodell\w*))\b ?[\])*>-]{0,3} ?:/,
  },
  {
    id: 'markup.speaker',
    pattern:
      /"role" ?: ?"(?:system|developer|assistant)"|(?:begin|end|start|ende|beginn) (?:of )?(?:the )?(?:system|user|new|document|context|dokument\w*|kontext\w*|instructions?|prompt)/,
  },
  {
    id: 'markup.comment',
    pattern: /<!--|-->|display: ?none|font-size: ?0|color: ?(?:white|#fff)|visibility: ?hidden|\{\{|\{%|<script/,
  },
  {
    id: 'obey.agents',
    pattern: words(
      '(?:ai|llm|language model|chatbot|assistant|agent)s? (?:reading|processing|summari[sz]ing|analy[sz]ing|that reads?|who reads?|must|should|shall|are to|is to)|if you are an? (?:ai|llm|language model|assistant|agent|bot)|dear (?:ai|assistant|agent|model)|attention (?:ai|assistant|agent|model)\\w*|(?:hey|hi|hello|hallo) (?:ai|assistant|ki)|(?:ki|sprachmodell|assistent|agent)\\w*,? (?:die|der|das|dies\\w*|muss|muessen|soll|sollen|sollst)|wenn du (?:eine? )?(?:ki|sprachmodell|assistent)\\w*|falls du (?:eine? )?(?:ki|sprachmodell|assistent)\\w*|liebe (?:ki|assistentin)|achtung,? (?:ki|assistent|agent)\\w*',
    ),
  },
  {
    id: 'reveal.send',
    pattern: near(
      'send|forward|e-?mail|post|upload|copy|exfiltrat\\w*|transmit|report|leak|send\\w*|schick\\w*|leite\\w*|uebermittl\\w*|kopier\\w*|maile?|lade',
      `${SECRETS}|everything|all|data|files?|contents?|alles|daten|dateien?|inhalte?|details|contacts?|kontakte|documents?|dokumente?|transcripts?|protokolle?|answers?|antworten|copy|kopie|addresses|adressen`,
      60,
    ),
  },
  { id: 'order.time', pattern: words(ORDER_TIME) },
  {
    id: 'order.condition',
    pattern: words(
      'if (?:the user|anyone|someone|asked|he|she|they|i|you)|when(?:ever)? (?:the user|anyone|someone|asked|he|she|they|i|you)|once|as soon as|next time|wenn (?:der nutzer|jemand|man|er|sie|ich|du)|falls|sobald|beim naechsten|das naechste mal|sollte (?:jemand|der)',
    ),
  },
  { id: 'agent.you', pattern: words("you|your|yours|yourself|you're|you'll|du|dich|dir|dein\\w*") },
  {
    id: 'agent.named',
    pattern: words(
      '(?:the |my |this )?(?:ai|assistant|agent|bot|chatbot|llm|model)|(?:der |die |den |dem |das )?(?:ki|assistent\\w*|agenten?|bot|chatbot|modell|sprachmodell)',
    ),
  },
  {
    id: 'person.subject',
    pattern:
      /^(?:(?:the )?user|i|my|we|our|he|she|they|ich|mein\w*|wir|unser\w*|er|sie|(?:der |die )?(?:nutzer|benutzer|anwender|kund)\w*|[a-z]+'s)\b/,
  },
  {
    id: 'person.fact',
    pattern: words(
      '(?:i|we|he|she|they|user|ich|wir|er|sie|nutzer\\w*|benutzer\\w*|anwender\\w*) (?:am|is|are|was|were|have|has|had|work\\w*|live\\w*|like\\w*|love\\w*|prefer\\w*|own\\w*|use\\w*|speak\\w*|stud\\w*|teach\\w*|write\\w*|run\\w*|lead\\w*|manage\\w*|bin|ist|sind|war|hat|habe|haben|arbeite\\w*|wohn\\w*|lebt?|mag|moechte|bevorzugt?|nutzt|benutzt|spricht|studiert?|lernt?|leite\\w*|schreib\\w*|fuehrt|kommt|heisst)',
    ),
  },
  {
    id: 'form.language',
    pattern: near(
      'answer|reply|respond|write|speak|talk|use|translate|antworte\\w*|schreib\\w*|sprich|sprech\\w*|rede|formulier\\w*|uebersetz\\w*|verwende\\w*|nutze\\w*|benutze\\w*|bleib\\w*',
      '(?:in |auf |ins )?(?:german|english|french|spanish|italian|dutch|polish|turkish|deutsch\\w*|englisch\\w*|franzoesisch\\w*|spanisch\\w*|italienisch\\w*|niederlaendisch\\w*|polnisch\\w*|tuerkisch\\w*|british|american|plain language|einfache\\w* sprache|leichte\\w* sprache|dialekt)',
      40,
    ),
  },
  {
    id: 'form.units',
    pattern: words(
      'metric|imperial|celsius|fahrenheit|kilomet\\w*|miles|meilen|kilograms?|kilogramm|pounds|pfund|litres?|liters?|liter|euros?|dollars?|24-?hour|12-?hour|24-?stunden\\w*|iso ?(?:8601|dates?)|date format|datumsformat\\w*|datumsangaben|uhrzeiten|time ?zone|zeitzone\\w*|decimal|dezimal\\w*|nachkommastell\\w*|si-?units?|einheiten|units|currency|waehrung\\w*|tausender\\w*|rounded|gerundet\\w*',
    ),
  },
  {
    id: 'form.tone',
    pattern: words(
      'formal\\w*|informal\\w*|friendl\\w*|polite\\w*|casual\\w*|concise\\w*|brief\\w*|short\\w*|direct\\w*|humou?r\\w*|jokes?|sarcas\\w*|emojis?|tone|simple|simply|plain\\w*|encourag\\w*|warm\\w*|professional\\w*|foermlich\\w*|freundlich\\w*|hoeflich\\w*|locker\\w*|knapp\\w*|kurz\\w*|direkt\\w*|witz\\w*|smileys?|ton\\w*|sachlich\\w*|einfach\\w*|duzen?|siezen?|duze|sieze|per du|per sie|anrede|gendern?|gendere|first name|vornamen?|call me|nenn mich|address me|sprich mich|ausfuehrlich\\w*|detail\\w*',
    ),
  },
  {
    id: 'form.layout',
    pattern: words(
      'bullets?|bullet points?|lists?|tables?|markdown|headings?|paragraphs?|sentences|words|numbered|code blocks?|comments|examples?|summary|summari[sz]e|step[- ]by[- ]step|steps|bold|capital\\w*|abbreviations?|stichpunkt\\w*|stichwort\\w*|listen?|tabell\\w*|ueberschrift\\w*|absaetz\\w*|absatz|saetze\\w*|satz|woerter|nummerier\\w*|codebloeck\\w*|kommentar\\w*|beispiel\\w*|zusammenfass\\w*|schritt\\w*|fett|abkuerzung\\w*|gliederung|aufzaehlung\\w*|fussnoten|footnotes|lowercase|typescript|python|tabs|spaces|oxford comma',
    ),
  },
  {
    id: 'quoting',
    pattern: words(
      'attack\\w*|injection\\w*|adversar\\w*|malicious\\w*|example|e\\.g|for instance|such as|called|titled|phishing|detect\\w*|defen[cs]e\\w*|angriff\\w*|angreifer\\w*|beispiel\\w*|schadhaft\\w*|boesartig\\w*|erkenn\\w*|abwehr\\w*|research\\w*|paper|book|novel|talk|article|course|thesis|forsch\\w*|buch|roman|vortrag\\w*|artikel|kurs|seminar|masterarbeit|test\\w*|documentation|dokumentation|security|sicherheit\\w*',
    ),
  },
];

const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Words that carry no subject, question words among them; folded. They tell the languages apart and are left out of queries. */
export const ENGLISH_STOP_WORDS = set(`
  a about above after again all also am an and any are as at be because been before being between both but by can could did do does
  doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just let
  me might more most must my no nor not now of off on once only or other our ours out over own please same shall she should so some
  such tell than that the their theirs them then there these they this those through to too under until up us very was we were what
  whats when where which while who whom whose why will with would you your yours
`);

export const GERMAN_STOP_WORDS = set(`
  aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei beim bin bis bist bitte
  da damit dann das dass dein deine dem den denn der des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine
  einem einen einer eines er es etwas euch fur gegen gewesen gibt hab habe haben hat hatte hatten hier hin ich ihm ihn ihnen ihr ihre
  ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinem keinen konnen konnte lasst mal man mein
  meine mich mir mit muss mussen nach nicht nichts noch nun nur ob oder ohne sehr sein seine sich sie sind so soll sollen sondern um
  und uns unser unter viel vom von vor wann warum was weil welche welchem welchen welcher welches wenn wer werde werden wie wieder will
  wird wo wodurch woher wohin womit wurde wurden zu zum zur zwar zwischen
`);

import { germanStem } from './german-stemmer';
import { joinedCodes, withCodesJoined } from './joined';
import { askedWords, indexedTerms, languageOf, queryTerms } from './terms';

/** Examples of Porter's paper, step by step, and of his later `bli`. */
const PORTER = `
  caresses caress, ponies poni, ties ti, cats cat, feed feed, agreed agre, plastered plaster, bled bled, motoring motor, sing sing,
  conflated conflat, troubled troubl, sized size, hopping hop, tanned tan, falling fall, hissing hiss, fizzed fizz, failing fail,
  filing file, happy happi, sky sky, relational relat, conditional condit, rational ration, valency valenc, digitizer digit,
  radically radic, differently differ, vilely vile, analogously analog, vietnamization vietnam, predication predic, operator oper,
  feudalism feudal, decisiveness decis, hopefulness hope, callousness callous, formality formal, sensitivity sensit, triplicate triplic,
  formative form, formalize formal, electricity electr, electrical electr, hopeful hope, goodness good, revival reviv, allowance allow,
  inference infer, airliner airlin, gyroscopic gyroscop, adjustable adjust, defensible defens, irritant irrit, replacement replac,
  adjustment adjust, dependent depend, adoption adopt, communism commun, activate activ, effective effect, bowdlerize bowdler,
  probate probat, rate rate, cease ceas, controlling control, rolling roll, possibly possibl, possible possibl`;

describe('stems', () => {
  it.each(PORTER.split(',').map((pair) => pair.trim().split(' ')))('of English %s is %s', (word, stem) =>
    expect(indexedTerms([word as string], 'en')).toBe(stem),
  );

  it.each([
    ['hauser', 'hause', 'haus'],
    ['kindern', 'kinder', 'kind'],
    ['projektes', 'projekten', 'projekt'],
    ['schnellste', 'schnelles', 'schnell'],
    ['loschungen', 'loschung'],
  ])('of German are shared by the forms of a word: %s', (...forms) =>
    expect(new Set(forms.map(germanStem)).size).toBe(1),
  );

  it.each(['v1', '8080', 'ab', 'e1234', '日志'])('leave %s alone', (word) =>
    expect([indexedTerms([word], 'en'), indexedTerms([word], 'de')]).toEqual([word, word]),
  );
});

describe('terms', () => {
  it('tell the language by its stop words', () => {
    expect([
      languageOf(['Das Haus ist nicht alt.']),
      languageOf(['The house is not old.']),
      languageOf(['README', '']),
    ]).toEqual(['de', 'en', 'en']);
  });

  it('tell the language of a few words by their letters', () => {
    const texts = ['Neue Häuser?', 'STRAẞE, Straße', 'Neue Ha\u0308user?', 'The Müller houses', 'Neue Burgen?'];
    expect(texts.map((text) => languageOf([text]))).toEqual(['de', 'de', 'de', 'en', 'en']);
  });

  it('of a query are its stems in either language', () => {
    expect(queryTerms('Häuser rebuilding log')).toEqual({
      en: ['hauser', 'rebuild', 'log'],
      de: ['haus', 'rebuilding', 'log'],
      respelled: ['haeuser', 'rebuild', 'log'],
      joined: [],
    });
    expect(queryTerms('INV-2024-001, Node.js and INV-2024-001').joined).toEqual(['inv2024001', 'nodej', 'nodejs']);
  });

  it('of long words without any sign are read in one pass, beside scripts without spaces, too', () => {
    const letters = 'a'.repeat(200_000);
    const started = performance.now();
    expect([joinedCodes(letters), withCodesJoined(`${letters}日本`)]).toEqual([[], `${letters}日本`]);
    // Trying again at each letter takes more than a minute.
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('of a query are read with umlauts in either spelling', () => {
    expect(queryTerms('Mueller MU\u0308LLER Straße').respelled).toEqual(['muller', 'mueller', 'strass']);
  });

  it.each([
    ['the casting of a die', ['casting', 'die']],
    ['was hat das mit Art zu tun', ['Art', 'tun']],
    ['what was the war', ['war']],
    ['zebra in', ['zebra']],
  ])('of a query leave out the stop words of its language: %s', (query, expected) =>
    expect(askedWords(query)).toEqual(expected),
  );

  it('of what is indexed are in its language', () => {
    expect([indexedTerms(['Die Häuser', 'Straßen'], 'de'), indexedTerms(['Running tests'], 'en')]).toEqual([
      'die haus strass',
      'run test',
    ]);
  });

  it.each([
    ['使用API接口', '使用 api 接口'],
    ['Wörter大', 'worter 大'],
    ['第3章', '第 3 章'],
    ['サーバーｻｰﾊﾞｰX', 'サー ーハ ハー ーサ サー ーハ ハー x'],
    ['葛\u{e0100}城市', '葛城 城市'],
    ['한국어API', '한국 국어 api'],
    ['ｘ\u0301', 'x'],
    ['a\u0301中\u0301b', 'a 中 b'],
    ['\u0301', ''],
  ])('are cut where scripts without spaces begin and end: %s', (text, terms) =>
    expect(indexedTerms([text], 'en')).toBe(terms),
  );

  it('are cut at 64 characters where words have spaces, and nowhere else', () => {
    expect(indexedTerms([`${'w'.repeat(70)}${'字'.repeat(200)}`], 'en').split(' ')).toEqual([
      'w'.repeat(64),
      ...Array.from({ length: 199 }, () => '字字'),
    ]);
  });

  it.each([
    ['Haeuser', 'haus'],
    ['Groesse', 'gross'],
    ['neue', 'neue'],
    ['bauen', 'bau'],
    ['Quelle', 'quell'],
    ['Mueller', 'mull'],
  ])('of German read ae, oe and ue as umlauts: %s', (word, term) => expect(indexedTerms([word], 'de')).toBe(term));
});

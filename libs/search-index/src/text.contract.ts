import { passage, putDocument, type TestIndex } from './test-index.contract';

/** What is found by words. */
export const textContract = (index: () => TestIndex): void => {
  describe('text', () => {
    it('finds nothing, one and many', async () => {
      expect(await index().search('backup')).toEqual([]);
      await index().apply([
        putDocument('d1', [passage('c1', 'The backup runs at night.'), passage('c2', 'Nothing of interest.')]),
      ]);
      expect(await index().found('backup')).toEqual(['c1']);
      await index().apply([putDocument('d2', [passage('c3', 'A backup of a backup.')])]);
      expect(await index().found('backup')).toEqual(['c3', 'c1']);
      expect(await index().found('backup', { limit: 1 })).toEqual(['c3']);
      expect(await index().found('backup', { limit: 0 })).toEqual([]);
    });

    it('answers with the place of the passage and its document', async () => {
      const place = {
        headings: ['Operations', 'At night'],
        start: 10,
        end: 45,
        page: 2,
        slide: 3,
        sheet: 'Costs',
        row: 40,
      };
      await index().apply([
        putDocument('d1', [passage('c1', 'Backups are restored, never "copied".', place)], {
          name: 'Manual',
          revision: 4,
        }),
      ]);
      expect(await index().search('restoring a backup')).toEqual([
        {
          documentId: 'd1',
          documentName: 'Manual',
          documentRevision: 4,
          scope: 's:1',
          chunkId: 'c1',
          ordinal: 0,
          text: 'Backups are restored, never "copied".',
          ...place,
          score: expect.any(Number),
          textRank: 1,
          vectorRank: null,
        },
      ]);
    });

    it.each([
      ['inflected English', 'Projections are rebuilt from recorded events.', 'record event projection'],
      ['inflected German', 'Die Häuser in den alten Straßen werden nicht verkauft.', 'altes Haus'],
      ['accents and case', 'Le CAFÉ est fermé pour l’été.', 'cafe ferme'],
      ['sharp s and umlauts', 'Die Größe der Straße ist bekannt und wird nicht geändert.', 'GRÖSSE STRASSE'],
      ['scripts without spaces', '事件日志是唯一的真相。', '日志'],
      ['numbers and codes', 'Fehler E1234 tritt bei Port 8080 auf.', 'e1234'],
      ['ligatures and full-width letters', 'The ﬁle named ＡＢＣ is kept.', 'file abc'],
      ['words between letters of Han', '请使用API接口v2登录。', 'api'],
      ['words behind letters of Han', '请使用API接口v2登录。', '接口'],
      ['codes between letters of Han', '请使用API接口v2登录。', 'v2'],
      ['umlauts beside letters of Han', '大Wörter中', 'worter'],
      ['a lone letter of Han beside others', '第3章', '章'],
      ['words beside Kana', 'サーバーのMySQLを再起動する', 'MySQL'],
      ['long vowels of Katakana', 'サーバーのMySQLを再起動する', 'サーバー'],
      ['half-width Katakana', 'サーバーのMySQLを再起動する', 'ｻｰﾊﾞｰ'],
      ['words beside Hangul', '데이터베이스를 API로 연결합니다', 'api'],
      ['Hangul before an ending', '데이터베이스를 API로 연결합니다', '데이터베이스'],
      ['one syllable of Hangul', '우리 집', '집'],
      ['words beside Thai', 'ใช้APIเพื่อเชื่อมต่อ', 'api'],
      ['Thai beside words', 'ใช้APIเพื่อเชื่อมต่อ', 'เชื่อมต่อ'],
      ['Khmer, which puts no spaces', 'ខ្ញុំស្រឡាញ់ភាសាខ្មែរ', 'ភាសា'],
      ['umlauts written as two letters', 'Die Größe der Häuser ist nicht geändert.', 'Groesse Haeuser'],
      ['a German name in English', 'The house of Müller is in the old town.', 'Mueller'],
      ['a German name in English without umlauts', 'The house of Mueller is in the old town.', 'Müller'],
      ['two letters written as umlauts', 'Die Groesse der Haeuser ist nicht geaendert.', 'Größe Häuser'],
      ['a code in one', 'The invoice INV-2024-001 is paid.', 'INV2024001'],
      ['a code with other signs', 'The file inv_2024_001 is kept.', 'INV\u20112024\u2011001'],
      ['a code that is written in one', 'The invoice INV2024001 is paid.', 'INV-2024-001'],
      ['a name in one', 'It runs on Node.js here.', 'nodejs'],
      ['a name that is written in one', 'It runs on NodeJS here.', 'node.js'],
      ['a German name in one', 'Das läuft mit der Datei Größen.tab und nicht ohne.', 'groessentab'],
      ['a number in one', 'Das Konto 12.345.678 ist nicht leer.', '12345678'],
      ['a code in one beside letters of Han', '请使用API-2接口。', 'api2'],
    ])('finds %s', async (_, text, query) => {
      await index().apply([
        putDocument('d1', [passage('c1', text), passage('c2', 'Something else entirely: penguins.')]),
      ]);
      expect(await index().found(query)).toEqual(['c1']);
    });

    it.each([
      ['Han', 0x4e00],
      ['Hangul', 0xac00],
      ['Thai', 0x0e01],
    ])('finds what stands far into a sentence of %s without spaces', async (_, from) => {
      // Neighbours differ in another way every 45 letters, so that no two of them come again.
      const letters = Array.from({ length: 450 }, (__, at) =>
        String.fromCodePoint(from + ((at * (1 + Math.floor(at / 45))) % 45)),
      );
      const sentence = letters.join('');
      await index().apply([putDocument('d1', [passage('c1', sentence.slice(0, 64)), passage('c2', sentence)])]);
      expect(await index().found(sentence.slice(440))).toEqual(['c2']);
    });

    it.each([
      ['a joined word', 'A long-term plan, and/or e.g. this.', ['longterm', 'andor', 'eg']],
      ['a version', 'Release 1.2.3 is out.', ['123']],
      ['a long path', `At ${'part.'.repeat(20)}`, ['part'.repeat(16), 'part'.repeat(20)]],
    ])('holds %s in its parts alone', async (_, text, queries) => {
      await index().apply([putDocument('d1', [passage('c1', text)])]);
      for (const query of queries) expect(await index().found(query)).toEqual([]);
    });

    it.each([
      ['Torque 25 Nm.', '25Nm'],
      ['Torque 25Nm.', '25 Nm'],
      ['Power 7,5kW.', '7,5 kW'],
      ['Class IP65.', 'ip 65'],
      ['By ISO 9001.', 'ISO9001'],
    ])('finds a number with its unit or its norm, however they are spaced: %s', async (text, query) => {
      await index().apply([
        putDocument('d1', [passage('c1', text), passage('c2', 'Nothing of it.')]),
        putDocument('d2', [passage('c3', 'Of 7 others, 9.')]),
      ]);
      expect((await index().found(query))[0]).toBe('c1');
    });

    it('finds codes in one in names and headings, not in what is disabled, and by their parts as before', async () => {
      await index().apply([
        putDocument('d1', [passage('c1', 'Paid.'), passage('c2', 'At INV-2024-003.', { enabled: false })], {
          name: 'INV-2024-001.pdf',
        }),
        putDocument('d2', [passage('c3', 'Open.', { headings: ['Invoice INV-2024-002'] })]),
      ]);
      expect([
        await index().found('INV2024001pdf'),
        await index().found('INV2024001'),
        await index().found('inv2024002'),
        await index().found('inv2024003'),
        (await index().found('2024 invoice'))[0],
      ]).toEqual([['c1'], ['c1'], ['c3'], [], 'c3']);
    });

    it('finds a passage by the name of its document and by its headings', async () => {
      await index().apply([
        putDocument('d1', [passage('c1', 'Press the button.', { headings: ['Calibration'] })], {
          name: 'Spectrometer guide',
        }),
      ]);
      expect([await index().found('spectrometer'), await index().found('calibrating')]).toEqual([['c1'], ['c1']]);
    });

    it('passes over, and is asked for, any number of documents', async () => {
      await index().apply([putDocument('d1', [passage('c1', 'alpha')]), putDocument('d2', [passage('c2', 'alpha')])]);
      const many = Array.from({ length: 70_000 }, (_, id) => `other-${id}`);
      expect([
        await index().found('alpha', { exceptDocumentIds: [...many, 'd1'] }),
        await index().found('alpha', { documentIds: [...many, 'd1'] }),
        await index().found('alpha', { scopes: [...many, 's:1'] }),
      ]).toEqual([['c2'], ['c1'], ['c1', 'c2']]);
    });

    it('looks up the first words of a long question alone, in scripts without spaces, too', async () => {
      const letters = Array.from({ length: 100 }, (_, letter) => String.fromCodePoint(0x4e00 + letter * 7));
      const [first, last] = [letters.slice(0, 30).join(''), letters.slice(-30).join('')];
      await index().apply([putDocument('d1', [passage('c1', first), passage('c2', last)])]);
      const sentences = [first, ...letters.slice(30, 70), last].join('');
      const asked = [first, letters.slice(30, 66).join(''), last].join('。');
      expect([await index().found(last), await index().found(asked), await index().found(sentences)]).toEqual([
        ['c2'],
        ['c1'],
        ['c1'],
      ]);
    });

    it('leaves out stop words and question words, unless nothing else is asked', async () => {
      await index().apply([
        putDocument('d1', [passage('c1', 'What is it and where was it?'), passage('c2', 'The telescope.')]),
      ]);
      expect(await index().found('what is the telescope')).toEqual(['c2']);
      expect(await index().found('where was it')).toEqual(['c1']);
    });

    it('counts the repeated words of a query', async () => {
      await index().apply([
        putDocument('d1', [
          passage('c1', 'red red apple apple apple'),
          passage('c2', 'green green pear pear pear'),
          passage('c3', 'nothing'),
        ]),
      ]);
      expect(await index().found('apple pear pear')).toEqual(['c2', 'c1']);
      expect(await index().found('apple apple pear')).toEqual(['c1', 'c2']);
    });

    it('says which scopes have all words in one passage', async () => {
      const scopesWith = (text: string, scopes = ['s:1', 's:2', 's:3', 's:4']) =>
        index().index.scopesWith(index().name, { scopes, text });
      expect(await scopesWith('harbour')).toEqual([]);
      await index().apply([
        putDocument('d1', [passage('c1', 'The ferries leave the harbours at nine.'), passage('c2', 'A telescope.')]),
        putDocument('d2', [passage('c3', 'Die Fähren verlassen den Hafen und fahren nicht am Sonntag.')], {
          scope: 's:2',
        }),
        putDocument('d3', [passage('c4', 'Another ferry.'), passage('c5', 'ferry harbour', { enabled: false })], {
          scope: 's:3',
        }),
        putDocument('d4', [passage('c6', 'ferry harbour')], { scope: 's:9' }),
      ]);
      const found = async (text: string) => (await scopesWith(text)).toSorted();
      expect(await found('ferry')).toEqual(['s:1', 's:3']);
      expect(await found('harbour ferry')).toEqual(['s:1']);
      expect(await found('ferry telescope')).toEqual([]);
      expect(await found('Fähre Häfen')).toEqual(['s:2']);
      expect(await found('Faehre Haefen')).toEqual(['s:2']);
      expect(await found('the ferry')).toEqual(['s:1', 's:3']);
      expect([await found(''), await found('?!'), await scopesWith('ferry', [])]).toEqual([[], [], []]);
      expect(await found('"ferry" OR NOT (harbour) NEAR*')).toEqual([]);
      await index().apply([
        putDocument('d7', [passage('c7', 'Invoice INV-2024-001')], { scope: 's:1' }),
        putDocument('d8', [passage('c8', 'Invoice INV2024001')], { scope: 's:2' }),
      ]);
      for (const code of ['INV-2024-001', 'INV2024001']) expect(await found(`invoice ${code}`)).toEqual(['s:1', 's:2']);
      await index().apply([
        { op: 'removeDocument', documentId: 'd1' },
        { op: 'removeScope', scope: 's:3' },
      ]);
      expect(await found('ferry')).toEqual([]);
      await expect(
        index().index.scopesWith(`${index().name}-later`, { scopes: ['s:1'], text: 'x' }),
      ).rejects.toMatchObject({ name: 'Unavailable' });
    });

    it.each([
      ['operators', 'alpha OR NOT beta NEAR(gamma)'],
      ['quotes and stars', '"alpha* ^beta + - : { } ( '],
      ['a column of the index', 'scope:scope1 body : alpha'],
      ['tokens of the index', 'scope1 scope2 alpha'],
      ['a NUL', 'alpha\0beta'],
      ['a lone surrogate', 'alpha \ud800 beta'],
      ['SQL', "alpha'; drop table passages; --"],
    ])('takes %s as plain text', async (_, query) => {
      await index().apply([putDocument('d1', [passage('c1', 'alpha wolves')])]);
      expect(await index().found(query)).toEqual(['c1']);
    });

    it('takes queries of any size, and queries without a word', async () => {
      await index().apply([putDocument('d1', [passage('c1', 'word1 wolves')])]);
      const words = (count: number) => Array.from({ length: count }, (_, number) => `word${number}`).join(' ');
      expect(await index().found(words(10_000))).toEqual(['c1']);
      expect(await index().found('x'.repeat(1_000_000))).toEqual([]);
      expect([await index().found(''), await index().found(' \n'), await index().found('?!…🙂')]).toEqual([[], [], []]);
    });

    it('does not find what is disabled', async () => {
      const vector = [1, 0, 0, 0];
      await index().apply([
        putDocument('d1', [
          passage('c1', 'alpha', { enabled: false, vector }),
          passage('c2', 'alpha beta', { vector }),
        ]),
      ]);
      expect(await index().found('alpha', { mode: 'hybrid', vector: { model: 'small', values: vector } })).toEqual([
        'c2',
      ]);
    });
  });
};

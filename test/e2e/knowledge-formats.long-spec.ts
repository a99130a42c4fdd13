import { mailFile } from '../fixtures/files/mail';
import { docxFile, epubFile, pptxFile, xlsxFile } from '../fixtures/files/office';
import { encryptedPdf, pdfFile, pdfLines } from '../fixtures/files/pdf';
import { jpegFile, pngFile } from '../fixtures/files/png';
import { at, type Document, type Guide, type SourcePart, startGuide } from './guide';
import { ADMIN_KEY } from './harness';

let guide: Guide;
beforeAll(async () => (guide = await startGuide()), 60_000);
afterAll(() => guide.platform.stop());

const upload = async (agent: string, name: string, body: Buffer, type = ''): Promise<Document> => {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(body)], { type }), name);
  const response = await fetch(`${guide.platform.url}${at(`/knowledge/${agent}/documents`)}`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY },
    body: form,
  });
  const { items } = (await response.json()) as { items: readonly Document[] };
  return guide.ready((items[0] as Document).id, agent);
};

interface Hit {
  readonly documentId: string;
  readonly text: string;
  readonly position: object;
}
const best = async (agent: string, query: string, mode = 'hybrid'): Promise<Hit> =>
  (
    await guide.platform.call<{ items: readonly Hit[] }>(at(`/knowledge/${agent}/search`), {
      method: 'POST',
      body: { query, mode },
    })
  ).body.items[0] as Hit;

/** Thirty pages of nothing much, and one that says something. */
const manual = (page: number, sentence: string): Buffer =>
  pdfFile(
    Array.from({ length: 30 }, (_, index) =>
      pdfLines(index + 1 === page ? [sentence] : [`Ordinary matters of chapter ${index + 1} are told here.`]),
    ),
  );

const costs = Array.from({ length: 60 }, (_, index) =>
  index === 0 ? ['Posten', 'Betrag', 'Kostenstelle'] : [`Verbrauch ${index + 1}`, 100 + index, 'Werk'],
);
costs[39] = ['Dachreparatur', 48_250.75, 'Verwaltung'];

const mail = (body: string): Buffer =>
  Buffer.from(
    `From: Jürgen <j@example.com>\r\nTo: a@example.com\r\nSubject: Schlüssel\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${body}`,
  );

const FILES: readonly (readonly [string, Buffer, query: string, text: string, position: object])[] = [
  [
    'manual.pdf',
    manual(12, 'The emergency valve is painted turquoise.'),
    'emergency valve turquoise',
    'The emergency valve',
    { page: 12 },
  ],
  [
    'handbuch.pdf',
    manual(7, 'Die Überprüfung der Brandschutzklappe erfolgt jährlich.'),
    'Überprüfung Brandschutzklappe',
    'Die Überprüfung',
    { page: 7 },
  ],
  [
    'Kosten.xlsx',
    xlsxFile({
      Erträge: [
        ['A', 'B'],
        [1, 2],
      ],
      Costs: costs,
    }),
    'Dachreparatur Verwaltung',
    'Posten: Dachreparatur; Betrag: 48250.75; Kostenstelle: Verwaltung',
    { sheet: 'Costs', row: 40 },
  ],
  [
    'slides.pptx',
    pptxFile([
      { title: 'Welcome' },
      { title: 'Plan', lines: ['Later'] },
      { title: 'Ausblick', lines: ['Wir eröffnen eine Filiale in Görlitz.'] },
    ]),
    'Filiale Görlitz',
    'Wir eröffnen',
    { slide: 3, heading: 'Ausblick' },
  ],
  [
    'vertrag.docx',
    docxFile([
      { heading: 'Vertrag', style: 'berschrift1' },
      { heading: 'Kündigungsfrist', style: 'berschrift2' },
      { text: 'Die Frist beträgt sechs Wochen zum Monatsende.' },
    ]),
    'Kündigungsfrist sechs Wochen',
    'Die Frist',
    { heading: 'Kündigungsfrist' },
  ],
  [
    'book.epub',
    epubFile(['<h1>The lighthouse</h1><p>Its keeper counted the gannets.</p>']),
    'keeper gannets',
    'Its keeper',
    { heading: 'The lighthouse' },
  ],
  [
    'seite.html',
    Buffer.from(
      '<!doctype html><h2>Öffnungszeiten</h2><p>Montags ab zehn Uhr geöffnet.</p><script>secretword()</script>',
    ),
    'montags geöffnet',
    'Montags',
    { heading: 'Öffnungszeiten' },
  ],
  [
    'people.csv',
    Buffer.from('Name;Ort\nJürgen;Münster\nÖzlem;Köln\n', 'latin1'),
    'Özlem',
    'Name: Özlem; Ort: Köln',
    { row: 3 },
  ],
  ['parts.tsv', Buffer.from('part\tshelf\nflange\t7\ngrommet\t9\n'), 'grommet', 'part: grommet; shelf: 9', { row: 3 }],
  [
    'orders.json',
    Buffer.from('{"orders":[{"id":1,"item":"anvil"},{"id":2,"item":"bellows"}]}'),
    'bellows',
    'orders[1].id: 2',
    {},
  ],
  [
    'brief.rtf',
    Buffer.from("{\\rtf1\\ansi\\ansicpg1252 \\pard Der W\\'fcrfel f\\'e4llt auf Sechs.\\par}"),
    'Würfel Sechs',
    'Der Würfel',
    {},
  ],
  [
    'post.eml',
    mail('Der Ersatzschlüssel liegt beim Pförtner.'),
    'Ersatzschlüssel Pförtner',
    'Der Ersatzschlüssel',
    { heading: 'Schlüssel' },
  ],
  [
    'angebot.eml',
    mailFile('Angebot', 'Siehe Anhang.', ['angebot.pdf', manual(4, 'The gate of the lock is painted vermilion.')]),
    'gate of the lock vermilion',
    'The gate of the lock',
    { page: 4, heading: 'angebot.pdf' },
  ],
  [
    'tool.py',
    Buffer.from('def calibrate_spectrometer(value):\n    return value * 2\n'),
    'calibrate_spectrometer',
    'def calibrate',
    {},
  ],
  ['photo.jpg', jpegFile(0x010e, 'A heron over the Elbe'), 'heron Elbe', 'ImageDescription: A heron', {}],
  ['notes.txt', Buffer.from('\ufeffDie Wärmepumpe läuft leise.', 'utf16le'), 'Wärmepumpe leise', 'Die Wärmepumpe', {}],
  [
    'notes.md',
    Buffer.from('# Zäune\n\nDer Nachbar streicht den Lattenzaun.'),
    'Nachbar Lattenzaun',
    'Der Nachbar',
    { heading: 'Zäune' },
  ],
];

describe('files of every format', () => {
  let agent: string;
  const documents = new Map<string, Document>();
  beforeAll(async () => {
    agent = await guide.newAgent('Formats');
    for (const [name, body] of FILES) documents.set(name, await upload(agent, name, body));
  });

  it.each(FILES)('%s is found where it stands', async (name, _, query, text, position) => {
    expect(documents.get(name)).toMatchObject({ status: 'Ready' });
    const hit = await best(agent, query, 'text');
    expect(hit.documentId).toBe(documents.get(name)?.id);
    expect(hit.text).toContain(text);
    expect(hit.position).toMatchObject(position);
  });

  it('show their places in the list of chunks, and in what an answer cites', async () => {
    const id = documents.get('Kosten.xlsx')?.id ?? '';
    const chunks = await guide.platform.call<{ items: readonly { position: object }[] }>(
      at(`/knowledge/${agent}/documents/${id}/chunks?limit=100`),
    );
    expect(chunks.body.items.map(({ position }) => position)).toContainEqual(
      expect.objectContaining({ sheet: 'Costs', row: 40, heading: 'Costs' }),
    );
    const cited = async (question: string): Promise<SourcePart> => {
      const { body } = await guide.ask(question, {}, agent);
      return body.message.parts.find(({ type }) => type === 'source-document') as SourcePart;
    };
    expect(await cited('Which colour is the emergency valve painted?')).toMatchObject({
      quote: 'The emergency valve is painted turquoise.',
      position: { page: 12 },
    });
    expect((await cited('Wie hoch ist der Betrag der Dachreparatur?')).position).toMatchObject({
      sheet: 'Costs',
      row: 40,
    });
    expect((await cited('Wo eröffnen wir eine Filiale?')).position).toMatchObject({ slide: 3 });
  });

  it('run nothing and show nothing that is hidden', async () =>
    expect((await best(agent, 'secretword', 'text')) as Hit | undefined).toBeUndefined());
});

it.each([
  ['a scan', 'scan.pdf', pdfFile([[], []]), 'no_text'],
  ['an image that says nothing', 'a.png', pngFile(), 'no_text'],
  ['a PDF with a password', 'a.pdf', encryptedPdf(), 'encrypted'],
  ['a workbook that is cut off', 'a.xlsx', xlsxFile({ Costs: costs }).subarray(0, 600), 'malformed'],
  ['a film', 'a.mp4', Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0', 'latin1'), 'unsupported_type'],
])('%s fails and says why', async (_, name, body, code) =>
  expect(await upload(guide.agentId, name, body)).toMatchObject({
    status: 'Failed',
    statusDetail: { code, step: 'parse' },
  }),
);

import { pdfFile, pdfLines, type PdfText } from '../../../test/fixtures/files/pdf';
import { shown } from '../../../test/fixtures/files/extracted';

const HEAD: PdfText = { text: 'Handbuch der Schifffahrt', y: 820 };
const page = (number: number, ...lines: readonly string[]): readonly PdfText[] => [
  HEAD,
  ...pdfLines(lines).map((line) => ({ ...line, y: line.y - 40 })),
  { text: `Seite ${number} von 4`, x: 280, y: 30 },
];

describe('the pages of a PDF', () => {
  it('tell their head once, and no numbers, and join a word that the end of one divides', async () =>
    expect(
      await shown(
        pdfFile([
          page(1, 'Der Kapitän leitet die', 'Donaudampf-'),
          page(2, 'schifffahrt seit Jahren. Vor-'),
          page(3, 'und Nachteile hat Text.'),
          page(4, 'Vier.'),
        ]),
      ),
    ).toEqual([
      'Handbuch der Schifffahrt @1',
      'Der Kapitän leitet die Donaudampfschifffahrt @1',
      'seit Jahren. Vor- @2',
      'und Nachteile hat Text. @3',
      'Vier. @4',
    ]));

  it('keep lines that count with the pages, and those that stand close to others', async () => {
    const steps = [1, 2, 3, 4].map((step) => pdfLines(['Artikel und Preis', `Schritt ${step} der Reihe`]));
    const found = (await shown(pdfFile(steps))).join('\n');
    for (const step of [1, 2, 3, 4]) expect(found).toContain(`Artikel und Preis Schritt ${step} der Reihe @${step}`);
    const apart = [1, 2, 3].map((number) => [
      { text: `Rechnung ${number}`, y: 800 },
      { text: 'Betrag', y: 500 },
    ]);
    expect((await shown(pdfFile(apart))).filter((line) => line.startsWith('Rechnung'))).toHaveLength(3);
  });

  it.each([
    ['a turned page', 1, '/Rotate 90'],
    ['a page upside down', 2, '/Rotate 180'],
    ['a page turned the other way', 3, '/Rotate 270'],
    ['lines along the side of a page', 1, ''],
  ])('are read in order: %s', async (_, turn, rotated) => {
    const next: readonly (readonly [number, number])[] = [
      [0, -14],
      [14, 0],
      [0, 14],
      [-14, 0],
    ];
    const [stepX, stepY] = next[turn] as readonly [number, number];
    const lines = ['Erste Zeile', 'zweite Zeile', 'dritte Zeile'].map((text, index) => ({
      text,
      x: 300 + index * stepX,
      y: 400 + index * stepY,
      turn,
    }));
    // However they are drawn.
    for (const drawn of [lines, lines.toReversed()])
      expect(await shown(pdfFile([drawn], { page: rotated }))).toEqual(['Erste Zeile zweite Zeile dritte Zeile @1']);
  });

  it('tell what stands upright before what stands along their side', async () => {
    const side = { text: 'Am Rand', x: 30, y: 400, turn: 1 };
    const upright = { text: 'Oben', y: 780 };
    expect(await shown(pdfFile([[side, upright]]))).toEqual(['Oben @1', 'Am Rand @1']);
    expect(await shown(pdfFile([[upright, side]], { page: '/Rotate 90' }))).toEqual(['Am Rand @1', 'Oben @1']);
  });

  it('have the headings of the outline, whatever they look like', async () => {
    const entry = (title: string, at: number, more: string): string =>
      `<< /Title (${title}) /Parent 8 0 R /Dest [${at} 0 R /Fit] ${more} >>`;
    const file = pdfFile(
      [pdfLines(['1 Umfang', 'Alles ist dabei.', '1.1 Frist', 'Drei Monate.']), pdfLines(['2 Ende', 'Schluss.'])],
      {
        catalogue: '/Outlines 8 0 R',
        objects: [
          '<< /Type /Outlines /First 9 0 R /Last 11 0 R >>',
          entry('1 Umfang', 4, '/First 10 0 R /Last 10 0 R /Next 11 0 R'),
          '<< /Title (Frist) /Parent 9 0 R /Dest [4 0 R /Fit] >>',
          entry('2 Ende', 6, ''),
        ],
      },
    );
    expect(await shown(file)).toEqual([
      '# 1 Umfang @1',
      'Alles ist dabei. @1',
      '## 1.1 Frist @1',
      'Drei Monate. @1',
      '# 2 Ende @2',
      'Schluss. @2',
    ]);
  });

  it('tell what was filled in and written onto them, and no comments, hidden fields or passwords', async () => {
    const field = (name: string, rest: string): string =>
      `<< /Type /Annot /Subtype /Widget /T (${name}) /Rect [0 0 100 20] ${rest} >>`;
    const widgets = [
      field('name', '/FT /Tx /TU (Antragsteller) /V (Ada)'),
      field('ort', '/FT /Tx /V (Ulm)'),
      field('leer', '/FT /Tx'),
      field('agb', '/FT /Btn /V /Ja /AS /Ja'),
      field('werbung', '/FT /Btn /V /Off /AS /Off'),
      field('geheim', '/FT /Tx /F 2 /V (unsichtbar)'),
      field('kennwort', '/FT /Tx /Ff 8192 /V (hunter2)'),
      '<< /Type /Annot /Subtype /FreeText /Contents (Mit der Schreibmaschine) /DA (/F1 10 Tf) /Rect [0 0 100 20] >>',
      '<< /Type /Annot /Subtype /Text /Contents (Ein Kommentar) /Rect [0 0 20 20] >>',
      ...['Bar', 'Karte'].map(
        (button) =>
          `<< /Type /Annot /Subtype /Widget /Parent 17 0 R /Rect [0 0 9 9] /AP << /N << /${button} 5 0 R >> >> >>`,
      ),
    ];
    const numbers = widgets.map((_, index) => `${6 + index} 0 R`).join(' ');
    const group = (pressed: string): string =>
      `<< /FT /Btn /Ff 32768 /T (zahlung) /V /${pressed} /Kids [15 0 R 16 0 R] >>`;
    const filled = (pressed: string): Promise<readonly string[]> =>
      shown(
        pdfFile([pdfLines(['Antrag'])], {
          catalogue: `/AcroForm << /Fields [${numbers}] >>`,
          page: `/Annots [${numbers}]`,
          objects: [...widgets, group(pressed)],
        }),
      );
    const text = 'Mit der Schreibmaschine\nAntragsteller: Ada\nort: Ulm\nagb: Ja';
    expect(await filled('Karte')).toEqual(['Antrag @1', `${text}\nzahlung: Karte @1`]);
    expect(await filled('Off')).toEqual(['Antrag @1', `${text} @1`]);
  });
});

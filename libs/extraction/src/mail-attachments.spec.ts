import { type Attached, mailFile } from '../../../test/fixtures/files/mail';
import { docxFile, xlsxFile, zipFile } from '../../../test/fixtures/files/office';
import { encryptedPdf, pdfFile, pdfLines } from '../../../test/fixtures/files/pdf';
import { failure, shown } from '../../../test/fixtures/files/extracted';
import { pngFile } from '../../../test/fixtures/files/png';
import { extract } from './extract';

const mail = (...files: readonly Attached[]): Buffer => mailFile('Offer', 'See attached.', ...files);

/** What is read of the attachments. */
const attached = async (...files: readonly Attached[]): Promise<readonly string[]> => {
  const found = await shown(mail(...files), 'a.eml');
  expect(found.slice(0, 3)).toEqual([
    '# Offer',
    `From: a@x.example\nSubject: Offer\nAttachments: ${files.map(([name]) => name).join(', ')}`,
    'See attached.',
  ]);
  return found.slice(3);
};

describe('what is attached to a mail', () => {
  it('is read under its name, whatever type the mail gives it, and keeps its pages, sheets and rows', async () => {
    expect(
      await attached(
        ['offer.docx', docxFile([{ heading: 'Prices' }, { text: 'The valve costs 40 euros.' }])],
        ['plan.pdf', pdfFile([pdfLines(['First page.']), pdfLines(['The pump comes in May.'])]), 'application/pdf'],
        [
          'costs.xlsx',
          xlsxFile({
            Costs: [
              ['Part', 'Price'],
              ['Valve', 40],
            ],
          }),
        ],
        ['parts.csv', 'Part;Price\nPump;90\n', 'text/csv'],
        ['note.txt', 'Call me.', 'text/plain'],
      ),
    ).toEqual([
      '## offer.docx',
      '### Prices',
      'The valve costs 40 euros.',
      '## plan.pdf',
      'First page. @1',
      'The pump comes in May. @2',
      '## costs.xlsx',
      '### Costs @Costs',
      'Part: Valve; Price: 40. @Costs,2',
      '## parts.csv',
      'Part: Pump; Price: 90. @2',
      '## note.txt',
      'Call me.',
    ]);
  });

  it('is a text where it is called JSON and is none', async () =>
    expect(await attached(['settings.json', 'valve = turquoise\npump = off'])).toEqual([
      '## settings.json',
      'valve = turquoise pump = off',
    ]));

  it('is read in a mail that was forwarded, too', async () =>
    expect(
      await attached(['fwd.eml', mail(['offer.docx', docxFile([{ text: 'The valve costs 40 euros.' }])])]),
    ).toEqual([
      '## fwd.eml',
      '### Offer',
      'From: a@x.example\nSubject: Offer\nAttachments: offer.docx',
      'See attached.',
      '#### offer.docx',
      'The valve costs 40 euros.',
    ]));

  it.each<readonly [name: string, body: Buffer | string]>([
    ['logo.png', pngFile({ Description: 'Our logo' })],
    ['secret.pdf', encryptedPdf()],
    ['broken.docx', docxFile([{ text: 'Cut off.' }]).subarray(0, 400)],
    ['photos.zip', zipFile({ 'a.txt': 'Not an Office file.' })],
    ['empty.txt', ''],
    ['empty.pdf', ''],
    ['bomb.docx', zipFile({ 'word/document.xml': `<a>${' '.repeat(40_000_000)}</a>` })],
    ['old.doc', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])],
  ])('has its name alone where it is a picture or cannot be read: %s', async (...file) =>
    expect(await attached(file)).toEqual([]),
  );

  it('has its name alone where it inflates too far by itself, and leaves the others what they have', async () => {
    const small = docxFile([{ text: 'The valve costs 40 euros.' }]);
    const large = docxFile([{ text: 'word '.repeat(40_000) }]);
    const body = mail(['large.docx', large], ['small.docx', small]);
    const { text } = await extract({ name: 'a.eml', mimeType: '', body }, 100_000);
    expect(text).toContain('Attachments: large.docx, small.docx');
    expect(text).toContain('The valve costs 40 euros.');
    expect(text).not.toContain('word word');
  });

  it('ends the reading of the mail where all together inflates too far', async () => {
    const large = docxFile([{ text: 'word '.repeat(20_000) }]);
    const files = [1, 2, 3].map((n): Attached => [`${n}.docx`, large]);
    const within = (bytes: number) => extract({ name: 'a.eml', mimeType: '', body: mail(...files) }, bytes);
    await expect(within(250_000)).rejects.toMatchObject({ code: 'inflates_too_far' });
    await expect(within(400_000)).resolves.toMatchObject({ text: expect.stringContaining('3.docx') as string });
    expect(await failure(mail(...files), 'a.eml')).toBe('none');
  });
});

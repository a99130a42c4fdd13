import { docxFile, epubFile, pptxFile, xlsxFile } from '../../fixtures/files/office';
import { pdfFile, pdfLines } from '../../fixtures/files/pdf';
import { jpegFile, pngFile } from '../../fixtures/files/png';
import { archives } from './archives';
import { pdfs } from './pdfs';
import { texts } from './texts';

export interface HostileFile {
  readonly name: string;
  readonly body: Buffer;
  /** How it ends, where there is one right end: `Ready` or a code. */
  readonly code?: string;
}

const honest: Readonly<Record<string, Buffer>> = {
  'a.pdf': pdfFile(Array.from({ length: 5 }, (_, index) => pdfLines([`Page ${index} of something honest.`]))),
  'a.docx': docxFile([{ heading: 'Honest' }, { text: 'Text. '.repeat(200) }]),
  'a.xlsx': xlsxFile({ S: Array.from({ length: 50 }, (_, index) => [`row ${index}`, index]) }),
  'a.pptx': pptxFile([{ title: 'One', lines: ['Text'] }, { title: 'Two' }]),
  'a.epub': epubFile(['<p>Text</p>'.repeat(100)]),
  'a.png': pngFile({ Description: 'Text' }),
  'a.jpg': jpegFile(0x010e, 'Text'),
  'a.rtf': Buffer.from(`{\\rtf1 ${'Text\\par '.repeat(100)}}`),
};

/** Each honest file cut off at several lengths. */
const truncated = (): readonly HostileFile[] =>
  Object.entries(honest).flatMap(([name, body]) =>
    [0.05, 0.3, 0.6, 0.9, 0.99].map((share) => ({
      name: `${share}-${name}`,
      body: body.subarray(0, Math.floor(body.length * share)),
    })),
  );

/** Each honest file with bytes that were changed, at places that are the same in every run. */
const damaged = (): readonly HostileFile[] =>
  Object.entries(honest).flatMap(([name, body]) =>
    [1, 2, 3].map((seed) => {
      const changed = Buffer.from(body);
      for (let index = 8; index < changed.length; index += 40 + seed * 13) changed[index] = (index * 31 * seed) % 256;
      return { name: `damaged-${seed}-${name}`, body: changed };
    }),
  );

/** Each honest file under the name of another. */
const mislabelled = (): readonly HostileFile[] => {
  const names = Object.keys(honest);
  return Object.values(honest).map((body, index) => ({
    name: names[(index + 1) % names.length] as string,
    body,
    code: 'Ready',
  }));
};

/** Some two hundred files that are made against whatever reads them. */
export const hostileFiles = (): readonly HostileFile[] => [
  ...archives(),
  ...pdfs(),
  ...texts(),
  ...truncated(),
  ...damaged(),
  ...mislabelled(),
];

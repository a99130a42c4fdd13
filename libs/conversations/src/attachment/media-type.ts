/** Most bytes of one attached file. */
export const MOST_FILE_BYTES = 20 * 1024 ** 2;

const MAGIC: readonly (readonly [mediaType: string, begins: (head: string) => boolean])[] = [
  ['application/pdf', (head) => head.startsWith('%PDF-')],
  ['image/png', (head) => head.startsWith('\u0089PNG\r\n\u001a\n')],
  ['image/jpeg', (head) => head.startsWith('\u00ff\u00d8\u00ff')],
  ['image/gif', (head) => head.startsWith('GIF87a') || head.startsWith('GIF89a')],
  ['image/webp', (head) => head.startsWith('RIFF') && head.startsWith('WEBP', 8)],
];

export const isImage = (mediaType: string): boolean => mediaType.startsWith('image/');

/**
 * What an attached file is, by its bytes: PDF, PNG, JPEG, GIF, WebP, or text in UTF-8, of which its name and its declared type say whether
 * it is Markdown. Undefined for all else, and for text that is called an image or a PDF.
 */
export const mediaTypeOf = (body: Buffer, declared: string, filename: string): string | undefined => {
  const head = body.subarray(0, 16).toString('latin1');
  const known = MAGIC.find(([, begins]) => begins(head))?.[0];
  const said = (declared.split(';')[0] ?? '').trim().toLowerCase();
  // A text may begin with these letters; no picture is without other bytes.
  if (known !== undefined && !(isImage(known) && isText(body))) return known;
  if (!isText(body) || isImage(said) || said === 'application/pdf') return undefined;
  return said === 'text/markdown' || /\.(?:md|markdown)$/i.test(filename) ? 'text/markdown' : 'text/plain';
};

const isText = (body: Buffer): boolean => {
  if (body.length === 0 || body.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body);
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
};

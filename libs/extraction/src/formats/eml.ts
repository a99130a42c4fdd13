import { isUtf8 } from 'node:buffer';
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { decodeText } from '../encodings';
import { type Extraction, ExtractionFailure, fail, type SourceFile } from '../extraction';
import { formatOf, isOfText } from '../format';
import { TextBuilder } from '../text-builder';
import { extractHtml, writeHtml } from './html';
import { extractPlain } from './plain';

const MAX_NESTING = 64;
const MAX_HEADER_BYTES = 1024 ** 2;
const MAX_ATTACHMENTS = 1_000;
/** Mails that were forwarded as attachments of each other. */
const MAX_FORWARDED = 8;

/**
 * A mail: subject, who wrote to whom and when, the body as text or else its HTML, the names of attachments, and what text
 * attachments say, and mails that were forwarded as such.
 */
export const extractEml = ({ body }: SourceFile): Promise<Extraction> => mailOf(body, 0);

const mailOf = async (body: Buffer, forwarded: number): Promise<Extraction> => {
  const mail = await parsed(body);
  if (mail.attachments.length > MAX_ATTACHMENTS) fail('malformed');
  const builder = new TextBuilder();
  builder.heading(1, mail.subject ?? '');
  builder.lines(headLines(mail).join('\n'));
  const hasText = (mail.text ?? '').trim() !== '';
  if (hasText) for (const paragraph of (mail.text ?? '').split(/\n[ \t]*\r?\n/)) builder.lines(paragraph);
  else writeHtml(builder, mail.html ?? '');
  for (const attachment of mail.attachments) await writeAttachment(builder, attachment, forwarded);
  return builder.build();
};

const parsed = async (body: Buffer): Promise<Email> => {
  try {
    const mail = await PostalMime.parse(inUtf8(body), {
      attachmentEncoding: 'arraybuffer',
      maxNestingDepth: MAX_NESTING,
      maxHeadersSize: MAX_HEADER_BYTES,
    });
    return mail.headers.length === 0 ? fail('malformed') : mail;
  } catch (error) {
    throw error instanceof ExtractionFailure ? error : new ExtractionFailure('malformed');
  }
};

/** Programs of old send letters as they are and name no charset; the parser takes that for UTF-8. */
const inUtf8 = (body: Buffer): Buffer =>
  isUtf8(body) || /charset\s{0,9}=/i.test(body.toString('latin1')) ? body : Buffer.from(decodeText(body, 'malformed'));

const headLines = ({ from, to, cc, date, subject, attachments }: Email): readonly string[] =>
  [
    ['From', from === undefined ? '' : addressText(from)],
    ['To', (to ?? []).map(addressText).join(', ')],
    ['Cc', (cc ?? []).map(addressText).join(', ')],
    ['Date', date ?? ''],
    ['Subject', subject ?? ''],
    [
      'Attachments',
      attachments
        .map(({ filename }) => filename ?? '')
        .filter((name) => name !== '')
        .join(', '),
    ],
  ].flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}`]));

const addressText = ({ name, address, group }: Address): string =>
  group === undefined
    ? name === '' || name === address
      ? (address ?? '')
      : `${name} <${address ?? ''}>`
    : `${name}: ${group.map(addressText).join(', ')}`;

const writeAttachment = async (
  builder: TextBuilder,
  { filename, mimeType, content }: Attachment,
  forwarded: number,
): Promise<void> => {
  const isMail = mimeType === 'message/rfc822';
  if ((filename === null && !isMail) || typeof content === 'string') return;
  const file = { name: filename ?? '', mimeType, body: Buffer.from(content as ArrayBuffer) };
  const format = isMail ? 'eml' : formatOf(file);
  if (!isOfText(format) || (format === 'eml' && forwarded >= MAX_FORWARDED)) return;
  try {
    const extraction =
      format === 'eml'
        ? await mailOf(file.body, forwarded + 1)
        : format === 'html'
          ? extractHtml(file)
          : extractPlain({ ...file, mimeType: 'text/plain' }, format);
    if (file.name !== '') builder.heading(2, file.name);
    builder.include(extraction, file.name === '' ? 1 : 2);
  } catch (error) {
    // Its name stands among the attachments; the mail is whole without it.
    if (!(error instanceof ExtractionFailure) || error.code === 'too_many_passages') throw error;
  }
};

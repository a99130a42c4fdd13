import { isUtf8 } from 'node:buffer';
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { decodeText } from '../encodings';
import { InflatesTooFarTogether } from '../archive';
import { type Extraction, ExtractionFailure, fail, type SourceFile } from '../extraction';
import { type Format, formatOf } from '../format';
import { TextBuilder } from '../text-builder';
import { writeHtml } from './html';
import { extractPlain } from './plain';

const MAX_NESTING = 64;
const MAX_HEADER_BYTES = 1024 ** 2;
const MAX_ATTACHMENTS = 1_000;
const MUCH_MORE = 2;
const A_FEW_WORDS = 200;
/** Mails that were forwarded as attachments of each other. */
const MAX_FORWARDED = 8;

/** Reads what is attached to a mail. Throws `ExtractionFailure`. */
type AttachmentReader = (file: SourceFile) => Promise<Extraction>;

/**
 * A mail: subject, who wrote to whom and when, the body as text or else its HTML, the names of attachments, and what can be
 * read in them, also in mails that were forwarded as such. Pictures are named only: most are logos.
 */
export const extractEml = ({ body }: SourceFile, readAttachment: AttachmentReader): Promise<Extraction> =>
  mailOf(body, readAttachment, 0);

const mailOf = async (body: Buffer, readAttachment: AttachmentReader, forwarded: number): Promise<Extraction> => {
  const mail = await parsed(body);
  if (mail.attachments.length > MAX_ATTACHMENTS) fail('malformed');
  const builder = new TextBuilder();
  builder.heading(1, mail.subject ?? '');
  builder.lines(headLines(mail).join('\n'));
  writeBody(builder, mail);
  for (const attachment of mail.attachments) await writeAttachment(builder, attachment, readAttachment, forwarded);
  return builder.build();
};

/** The text, or its HTML where that says much more: some programs send a text that only says to look at the other. */
const writeBody = (builder: TextBuilder, { text = '', html = '' }: Email): void => {
  const page = new TextBuilder();
  writeHtml(page, html);
  if (text.trim() === '' || page.size > MUCH_MORE * text.length + A_FEW_WORDS) builder.take(page);
  else for (const paragraph of text.split(/\n[ \t]*\r?\n/)) builder.lines(paragraph);
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

/** Ends the reading of the whole mail: there is too much of it. */
const isOfAll = (error: unknown): boolean =>
  !(error instanceof ExtractionFailure) ||
  error instanceof InflatesTooFarTogether ||
  error.code === 'too_many_passages';

const writeAttachment = async (
  builder: TextBuilder,
  { filename, mimeType, content }: Attachment,
  readAttachment: AttachmentReader,
  forwarded: number,
): Promise<void> => {
  const isMail = mimeType === 'message/rfc822';
  const isCalendar = /^(?:text\/calendar|application\/ics)$/i.test(mimeType);
  if ((filename === null && !isMail && !isCalendar) || typeof content === 'string') return;
  const file = { name: filename ?? '', mimeType, body: Buffer.from(content as ArrayBuffer) };
  const format = isMail ? 'eml' : formatOf(file);
  if (format === 'image' || (format === 'eml' && forwarded >= MAX_FORWARDED)) return;
  try {
    if (isCalendar) return builder.lines(calendarText(decodeText(file.body, 'malformed')));
    const extraction =
      format === 'eml'
        ? await mailOf(file.body, readAttachment, forwarded + 1)
        : await readAttachment(file).catch(textInstead(file, format));
    if (file.name !== '') builder.heading(2, file.name);
    builder.include(extraction, file.name === '' ? 1 : 2);
  } catch (error) {
    // Its name stands among the attachments; the mail is whole without it.
    if (isOfAll(error)) throw error;
  }
};

/** What is attached as JSON and is none is a text all the same. */
const textInstead =
  (file: SourceFile, format: Format) =>
  (error: unknown): Extraction => {
    if (format !== 'json' || !(error instanceof ExtractionFailure) || error.code !== 'malformed') throw error;
    return extractPlain(file, 'plain');
  };

const CALENDAR_FIELDS: Readonly<Record<string, string>> = {
  SUMMARY: 'Event',
  DTSTART: 'Begins',
  DTEND: 'Ends',
  LOCATION: 'Location',
  ORGANIZER: 'Organizer',
  DESCRIPTION: 'Description',
};

/** What an invitation says of its events (RFC 5545). */
const calendarText = (text: string): string => {
  const lines = text.replace(/\r?\n[ \t]/g, '').split(/\r?\n/);
  let isEvent = false;
  return lines
    .flatMap((line) => {
      if (line === 'BEGIN:VEVENT' || line === 'END:VEVENT') isEvent = line.startsWith('B');
      const [, field = '', value = ''] = /^([A-Z]+)(?:;[^:]*)?:(.*)$/.exec(line) ?? [];
      const name = CALENDAR_FIELDS[field];
      const said = value
        .replace(/^mailto:/i, '')
        .replace(/\\([nN,;\\])/g, (_, sign: string) => (/n/i.test(sign) ? ' ' : sign));
      return isEvent && name !== undefined && said !== '' ? [`${name}: ${calendarTime(said)}`] : [];
    })
    .join('\n');
};

/** `20260301T100000Z` as 2026-03-01 10:00 UTC. */
const calendarTime = (value: string): string =>
  value.replace(
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?$/,
    (_, year, month, day, hour?: string, minute?: string, zone?: string) =>
      hour === undefined
        ? `${year}-${month}-${day}`
        : `${year}-${month}-${day} ${hour}:${minute}${zone === 'Z' ? ' UTC' : ''}`,
  );

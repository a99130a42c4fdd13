import { type SaxesAttributePlain, SaxesParser } from 'saxes';
import { type Archive, resolved } from './archive';
import { knownEncoding } from './encodings';
import { ExtractionFailure, fail } from './extraction';

/** Office documents nest a few dozen deep, tables in tables included. */
const MAX_DEPTH = 500;

/** What a reader of XML hears. Names come without their prefix. */
export interface XmlReader {
  /** `attributes` by their names, with and without prefix. */
  open?(name: string, attributes: Attributes): void;
  text?(text: string): void;
  close?(name: string): void;
}

export type Attributes = Readonly<Record<string, string | undefined>>;

/**
 * Reads an entry of an archive as XML, piece by piece. It resolves nothing: a document type declaration, and with it every
 * entity but the five of XML, ends it. Throws `ExtractionFailure` `malformed`.
 */
export const readXml = async (archive: Archive, name: string, reader: XmlReader): Promise<void> => {
  const parser = parserFor(reader);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const piece of archive.pieces(name)) {
    decoder ??= new TextDecoder(encodingOf(piece));
    feed(parser, decoder.decode(piece, { stream: true }));
  }
  feed(parser, decoder?.decode() ?? '');
  close(parser);
};

/** The same for a text. */
export const readXmlText = (text: string, reader: XmlReader): void => {
  const parser = parserFor(reader);
  feed(parser, text);
  close(parser);
};

const parserFor = (reader: XmlReader): SaxesParser => {
  const parser = new SaxesParser({ xmlns: false });
  let depth = 0;
  parser.on('doctype', () => fail('malformed'));
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1;
    if (depth > MAX_DEPTH) fail('malformed');
    reader.open?.(localName(name), withLocalNames(attributes));
  });
  parser.on('text', (text) => reader.text?.(text));
  parser.on('cdata', (text) => reader.text?.(text));
  parser.on('closetag', ({ name }) => {
    depth -= 1;
    reader.close?.(localName(name));
  });
  return parser;
};

const feed = (parser: SaxesParser, text: string): void => asMalformed(() => parser.write(text));
const close = (parser: SaxesParser): void => asMalformed(() => parser.close());

const asMalformed = (work: () => unknown): void => {
  try {
    work();
  } catch (error) {
    throw error instanceof ExtractionFailure ? error : new ExtractionFailure('malformed');
  }
};

const encodingOf = (piece: Buffer): string => {
  if (piece[0] === 0xfe || piece[0] === 0) return 'utf-16be';
  if (piece[0] === 0xff || piece[1] === 0) return 'utf-16le';
  const declared = /^<\?xml[^>]{1,100}encoding\s?=\s?["']([\w.-]{1,40})["']/.exec(
    piece.subarray(0, 200).toString('latin1'),
  )?.[1];
  return knownEncoding(declared) ?? 'utf-8';
};

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

const withLocalNames = (attributes: Record<string, SaxesAttributePlain | string>): Attributes => {
  const named: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(attributes)) named[localName(name)] = named[name] = value as string;
  return named;
};

/** The relation that an element names: in an attribute `id` with whatever prefix its producer gave, beside one of its own without. */
export const relationId = (attributes: Attributes): string =>
  Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1] ?? '';

/** The entry that a part of an Office document names for what is of that type, else the usual one; undefined where it has neither. */
export const partOf = async (
  archive: Archive,
  part: string,
  { type, usual }: { readonly type: string; readonly usual: string },
): Promise<string | undefined> => (await partsOf(archive, part, type))[0] ?? (archive.has(usual) ? usual : undefined);

/** The entries that a part names for what is of that type. */
export const partsOf = async (archive: Archive, part: string, type: string): Promise<readonly string[]> =>
  [...(await relationsOf(archive, part)).values()]
    .filter((relation) => relation.type === type)
    .map(({ target }) => resolved(part, target))
    .filter((name) => archive.has(name));

/** The relations of a part of an Office document: ids to the names of entries. What lies outside the file is left out. */
export const relationsOf = async (archive: Archive, part: string): Promise<ReadonlyMap<string, Relation>> => {
  const slash = part.lastIndexOf('/') + 1;
  const name = `${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`;
  const relations = new Map<string, Relation>();
  if (!archive.has(name)) return relations;
  await readXml(archive, name, {
    open: (element, { Id, Target, Type = '', TargetMode }) => {
      if (element === 'Relationship' && Id !== undefined && Target !== undefined && TargetMode !== 'External')
        relations.set(Id, { target: Target, type: Type.slice(Type.lastIndexOf('/') + 1) });
    },
  });
  return relations;
};

export interface Relation {
  readonly target: string;
  /** The last word of its type, such as `slide` or `notesSlide`. */
  readonly type: string;
}
